import { createHash } from 'node:crypto';
import { type JsonValue } from '../domain/json';
import { type WireFile, type WireMultipartBody, type WirePart } from './wire-body';

const EXTENSIONS: { readonly [mediaType: string]: string } = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
  'image/heic': 'heic',
  'image/bmp': 'bmp',
  'image/tiff': 'tiff',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
};

/** A field as one part; a value that is not text is sent as JSON. */
export function textPart(name: string, value: JsonValue): WirePart {
  return { kind: 'text', name, value: typeof value === 'string' ? value : JSON.stringify(value) };
}

/** The file name is generic, because the user's file names are private. */
export function filePart(name: string, stem: string, file: WireFile): WirePart {
  return { kind: 'file', name, fileName: `${stem}.${EXTENSIONS[file.mediaType] ?? 'bin'}`, file };
}

export function multipartBody(parts: readonly WirePart[]): WireMultipartBody {
  return { kind: 'multipart', parts, bodyHash: hashOf(parts) };
}

/** One line per part in canonical JSON, so that the hash does not depend on the boundary. */
function hashOf(parts: readonly WirePart[]): string {
  const lines = parts.map((part) =>
    JSON.stringify(
      part.kind === 'text'
        ? [part.name, part.value]
        : [part.name, part.fileName, part.file.mediaType, part.file.sha256],
    ),
  );
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}
