import { imageSize } from 'image-size';
import { type ReferenceKind } from '../domain/request';

/** Kind of bytes, by their magic numbers (C2.5.5, C4.3). */
interface SniffedMedia {
  readonly kind: ReferenceKind;
  readonly mediaType: string;
  /** File extension without a dot. */
  readonly extension: string;
}

/** Bytes that {@link sniffMedia} and {@link describePage} need. */
export const SNIFF_BYTES = 4096;

interface Magic extends SniffedMedia {
  matches(head: Buffer): boolean;
}

const ascii = (head: Buffer, offset: number, text: string) =>
  head.toString('latin1', offset, offset + text.length) === text;

const bytes = (head: Buffer, ...expected: number[]) => expected.every((byte, index) => head[index] === byte);

/** Brand of an ISO base media file, or undefined. */
const brand = (head: Buffer) =>
  ascii(head, 4, 'ftyp') && head.length >= 12 ? head.toString('latin1', 8, 12) : undefined;

const STILL_BRANDS: ReadonlySet<string> = new Set([
  'avif',
  'avis',
  'heic',
  'heix',
  'hevc',
  'mif1',
  'msf1',
  'jpx ',
  'jp2 ',
]);
const MP4_AUDIO_BRANDS: ReadonlySet<string | undefined> = new Set(['M4A ', 'M4B ', 'F4A ', 'F4B ']);

const isMp4 = (head: Buffer) => {
  const found = brand(head);
  return found !== undefined && !STILL_BRANDS.has(found) && !MP4_AUDIO_BRANDS.has(found) && found !== 'qt  ';
};

/** An MPEG layer III frame header with no reserved value; layer I would also match a UTF-16 text. */
const isMpegAudioFrame = (head: Buffer) =>
  head.length >= 4 &&
  head[0] === 0xff &&
  (head[1]! & 0xe0) === 0xe0 &&
  (head[1]! & 0x18) !== 0x08 &&
  (head[1]! & 0x06) === 0x02 &&
  (head[2]! & 0xf0) !== 0xf0 &&
  (head[2]! & 0x0c) !== 0x0c;

/** Own small table: the packages with larger ones are ESM only. */
const TABLE: readonly Magic[] = [
  { kind: 'video', mediaType: 'video/mp4', extension: 'mp4', matches: isMp4 },
  {
    kind: 'video',
    mediaType: 'video/quicktime',
    extension: 'mov',
    matches: (head) =>
      brand(head) === 'qt  ' ||
      (['moov', 'wide', 'mdat'].some((type) => ascii(head, 4, type)) && head[0] === 0),
  },
  {
    kind: 'video',
    mediaType: 'video/webm',
    extension: 'webm',
    matches: (head) => bytes(head, 0x1a, 0x45, 0xdf, 0xa3) && head.subarray(0, 64).includes('webm'),
  },
  {
    kind: 'image',
    mediaType: 'image/png',
    extension: 'png',
    matches: (head) => bytes(head, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
  },
  {
    kind: 'image',
    mediaType: 'image/jpeg',
    extension: 'jpg',
    matches: (head) => bytes(head, 0xff, 0xd8, 0xff),
  },
  {
    kind: 'image',
    mediaType: 'image/webp',
    extension: 'webp',
    matches: (head) => ascii(head, 0, 'RIFF') && ascii(head, 8, 'WEBP'),
  },
  {
    kind: 'image',
    mediaType: 'image/gif',
    extension: 'gif',
    matches: (head) => ascii(head, 0, 'GIF87a') || ascii(head, 0, 'GIF89a'),
  },
  {
    kind: 'audio',
    mediaType: 'audio/wav',
    extension: 'wav',
    matches: (head) => ascii(head, 0, 'RIFF') && ascii(head, 8, 'WAVE'),
  },
  { kind: 'audio', mediaType: 'audio/ogg', extension: 'ogg', matches: (head) => ascii(head, 0, 'OggS') },
  { kind: 'audio', mediaType: 'audio/flac', extension: 'flac', matches: (head) => ascii(head, 0, 'fLaC') },
  {
    kind: 'audio',
    mediaType: 'audio/mp4',
    extension: 'm4a',
    matches: (head) => MP4_AUDIO_BRANDS.has(brand(head)),
  },
  {
    // ADTS: sync word with layer 00, which MPEG audio frames never have.
    kind: 'audio',
    mediaType: 'audio/aac',
    extension: 'aac',
    matches: (head) => head[0] === 0xff && (head[1]! & 0xf6) === 0xf0,
  },
  {
    kind: 'audio',
    mediaType: 'audio/mpeg',
    extension: 'mp3',
    matches: (head) => ascii(head, 0, 'ID3') || isMpegAudioFrame(head),
  },
];

/**
 * Media type of bytes by their beginning, whatever a header or a file name claims; undefined when it is not known.
 */
export function sniffMedia(head: Uint8Array): SniffedMedia | undefined {
  const view = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  const found = TABLE.find((magic) => magic.matches(view));
  return found && { kind: found.kind, mediaType: found.mediaType, extension: found.extension };
}

/** Describes bytes that are not media, for messages: a page of JSON or HTML instead of a file is common (C4.3). */
export function describePage(head: Uint8Array): 'empty' | 'json' | 'html' | 'text' | 'unknown' {
  if (head.length === 0) return 'empty';
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, SNIFF_BYTES)).toString(
    'utf8',
  );
  // A byte order mark counts as a blank.
  const start = text.trimStart();
  if (/^[{[]/.test(start)) return 'json';
  if (/^<(!doctype|html|head|body|\?xml|error|!--)/i.test(start)) return 'html';
  // The end may be cut in the middle of a character.
  // eslint-disable-next-line no-control-regex
  return /[\u0000-\u0008\u000e-\u001a]|\ufffd[^\ufffd]/.test(text) ? 'unknown' : 'text';
}

/** File extension of a media type that {@link sniffMedia} gives, without a dot; `bin` for any other. */
export function extensionOf(mediaType: string): string {
  return TABLE.find((magic) => magic.mediaType === mediaType)?.extension ?? 'bin';
}

/** Largest accepted image, in pixels: a header may claim more than any viewer can decode. */
export const MAX_IMAGE_PIXELS = 100_000_000;

type ImageCheck =
  | { readonly ok: true; readonly mediaType: string; readonly width: number; readonly height: number }
  | {
      readonly ok: false;
      readonly reason: 'not_image' | 'unreadable' | 'too_large';
      readonly message: string;
    };

/** Media type and size of an image from its bytes alone (C2.5.5). Reads the header; decodes nothing. */
export function checkImage(head: Uint8Array): ImageCheck {
  const media = sniffMedia(head);
  if (media?.kind !== 'image')
    return { ok: false, reason: 'not_image', message: 'The bytes are not an image.' };
  const size = measure(head);
  if (size === undefined)
    return {
      ok: false,
      reason: 'unreadable',
      message: `The header of this ${media.mediaType} cannot be read.`,
    };
  const { width, height } = size;
  if (width * height > MAX_IMAGE_PIXELS)
    return {
      ok: false,
      reason: 'too_large',
      message: `The header claims ${width}x${height} pixels, more than ${MAX_IMAGE_PIXELS}.`,
    };
  return { ok: true, mediaType: media.mediaType, width, height };
}

function measure(head: Uint8Array): { width: number; height: number } | undefined {
  try {
    const { width, height } = imageSize(head);
    return width > 0 && height > 0 ? { width, height } : undefined;
  } catch {
    return undefined;
  }
}
