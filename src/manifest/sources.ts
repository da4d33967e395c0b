import { isAbsolute } from 'node:path';
import { type JsonValue } from '../domain/json';
import {
  isArtifactRef,
  sha256OfArtifactUri,
  type ArtifactRef,
  type MediaSource,
  type ReferenceKind,
} from '../domain/media';

/** Where bytes come from, as a manifest says it; not looked up yet. */
export type WrittenSource =
  | { readonly url: string }
  | { readonly sha256: string }
  | { readonly artifact: ArtifactRef }
  | { readonly file: string };

export const SOURCE_FORMS: readonly string[] = ['https://…', 'artifact:sha256/HASH', 'file:PATH'];

/** A text, or an object with one of url, artifact and file; undefined for anything else. */
export function readSource(value: JsonValue | undefined): WrittenSource | undefined {
  if (typeof value === 'string') return readText(value.trim());
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { url, artifact, file, source, ...others } = value;
  const given = [url, artifact, file, source].filter((one) => one !== undefined);
  if (given.length !== 1 || Object.keys(others).length > 0) return undefined;
  if (typeof url === 'string') return isUrl(url) ? { url } : undefined;
  if (typeof file === 'string') return readFile(file.replace(/^file:/i, ''));
  if (isArtifactRef(artifact)) return { artifact };
  return typeof artifact === 'string' ? readArtifact(artifact) : readSource(source);
}

function readText(text: string): WrittenSource | undefined {
  if (isUrl(text)) return { url: text };
  if (/^file:/i.test(text)) return readFile(text.slice('file:'.length));
  return readArtifact(text);
}

const isUrl = (text: string): boolean => /^(https?:\/\/[^/\s]+|data:)/i.test(text) && !/\s/.test(text);

function readArtifact(uri: string): WrittenSource | undefined {
  const sha256 = sha256OfArtifactUri(uri);
  return sha256 === undefined ? undefined : { sha256 };
}

/** Only below where the manifest stands: no root, no drive, no way up. */
function readFile(path: string): WrittenSource | undefined {
  const steps = path.split(/[\\/]/);
  const outside = isAbsolute(path) || /^([a-z]:|[\\/]|~)/i.test(path) || steps.includes('..');
  // eslint-disable-next-line no-control-regex
  return path === '' || outside || /[\0-\x1f]/.test(path) ? undefined : { file: path };
}

/** Looks up what a manifest only names. */
export interface SourceLookup {
  /** An artifact of the store by its hash; undefined when it is not there. */
  artifact(sha256: string): Promise<ArtifactRef | undefined>;
  /** A file beside the manifest, as an artifact: its content is then part of the row's identity. */
  file(path: string): Promise<ArtifactRef | undefined>;
}

export type FoundSource = { readonly source: MediaSource } | { readonly message: string };

/** @param kind what the bytes must be; not known of an address */
export async function findSource(
  written: WrittenSource,
  kind: ReferenceKind,
  lookup: SourceLookup,
): Promise<FoundSource> {
  if ('url' in written) return { source: written };
  const artifact =
    'file' in written
      ? await lookup.file(written.file)
      : await lookup.artifact('artifact' in written ? written.artifact.sha256 : written.sha256);
  if (artifact === undefined) {
    return {
      message:
        'file' in written
          ? 'There is no such file to read, or it is no image, video or audio by its bytes. Paths are relative to the manifest; a worker reads only below its MEDIA_INPUT_ROOTS.'
          : "The artifact is not in this worker's store.",
    };
  }
  if (!artifact.mediaType.startsWith(`${kind}/`))
    return { message: `This is no ${kind === 'audio' ? 'sound' : kind} by its bytes.` };
  return { source: { artifact } };
}
