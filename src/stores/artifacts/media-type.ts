import { imageSize } from 'image-size';
import { type ReferenceKind } from '../../domain/request';
import { roleOf } from './mp4-boxes';
import { tsFormOf } from './mpeg-ts';

/** A media type detected from magic numbers. */
interface SniffedMedia {
  readonly kind: ReferenceKind;
  readonly mediaType: string;
  /** File extension without a dot. */
  readonly extension: string;
}

/** How many bytes {@link sniffMedia} and {@link describePage} need. */
export const SNIFF_BYTES = 4096;

interface Magic extends SniffedMedia {
  readonly matches: (head: Buffer) => boolean;
}

const ascii = (head: Buffer, offset: number, text: string) =>
  head.toString('latin1', offset, offset + text.length) === text;

const bytes = (head: Buffer, ...expected: number[]) => expected.every((byte, index) => head[index] === byte);

/**
 * Whether bytes begin like an MP4, QuickTime or HEIF file, with a known top-level box. The bytes must be binary,
 * because ordinary text can contain a box type.
 */
export const isIsoFile = (head: Buffer) =>
  roleOf(head.toString('latin1', 4, 8)) !== undefined && isBinary(head.toString('latin1'));

/** The file's brands, major brand first. Undefined if these bytes do not contain the brand box. */
function brandsOf(head: Buffer): readonly string[] | undefined {
  for (let at = 0; at + 12 <= head.length;) {
    const size = head.readUInt32BE(at);
    if (ascii(head, at + 4, 'ftyp') || ascii(head, at + 4, 'styp'))
      return [
        head.toString('latin1', at + 8, at + 12),
        ...(head.toString('latin1', at + 16, at + size).match(/.{4}/gs) ?? []),
      ];
    if (size < 8) return undefined;
    at += size;
  }
  return undefined;
}

const STILL_BRANDS = new Set(['avif', 'heic', 'heix', 'mif1', 'jpx ', 'jp2 ']);
/** Brands of image sequences, which have a picture track. */
const SEQUENCE_BRANDS = new Set(['avis', 'msf1', 'hevc', 'hevx']);
const MP4_AUDIO_BRANDS = new Set(['M4A ', 'M4B ', 'F4A ', 'F4B ']);

/** The kind of an ISO file according to its brands. */
function isoKind(head: Buffer): 'mp4' | 'quicktime' | 'audio' | 'still' | undefined {
  if (!isIsoFile(head)) return undefined;
  const [brand, ...others] = brandsOf(head) ?? [];
  // Old QuickTime files have no brand.
  if (brand === undefined) return ascii(head, 4, 'ftyp') ? undefined : 'quicktime';
  if (brand === 'qt  ') return 'quicktime';
  if (MP4_AUDIO_BRANDS.has(brand)) return 'audio';
  return STILL_BRANDS.has(brand) && !others.some((one) => SEQUENCE_BRANDS.has(one)) ? 'still' : 'mp4';
}

/** Whether text contains control characters that never occur in text. ESC is allowed, because terminals write it. */
// eslint-disable-next-line no-control-regex
const isBinary = (text: string) => /[\u0000-\u0008\u000e-\u001a]/.test(text);

const isMatroska = (head: Buffer) => bytes(head, 0x1a, 0x45, 0xdf, 0xa3);

/** Whether bytes begin with an MPEG layer III frame header. Layer I would also match UTF-16 text. */
const isMpegAudioFrame = (head: Buffer) =>
  head.length >= 4 &&
  head[0] === 0xff &&
  (head[1]! & 0xe0) === 0xe0 &&
  (head[1]! & 0x18) !== 0x08 &&
  (head[1]! & 0x06) === 0x02 &&
  (head[2]! & 0xf0) !== 0xf0 &&
  (head[2]! & 0x0c) !== 0x0c;

const magic = (mediaType: string, extension: string, matches: Magic['matches']): Magic => ({
  kind: mediaType.split('/', 1)[0] as ReferenceKind,
  mediaType,
  extension,
  matches,
});

/** We keep this small table because the packages with larger tables are ESM-only. */
const TABLE: readonly Magic[] = [
  magic('video/mp4', 'mp4', (head) => isoKind(head) === 'mp4'),
  magic('video/quicktime', 'mov', (head) => isoKind(head) === 'quicktime'),
  magic('video/webm', 'webm', (head) => isMatroska(head) && head.subarray(0, 64).includes('webm')),
  magic('video/matroska', 'mkv', (head) => isMatroska(head) && head.subarray(0, 64).includes('matroska')),
  magic('video/mp2t', 'ts', (head) => tsFormOf(head) !== undefined && isBinary(head.toString('latin1'))),
  magic('video/x-msvideo', 'avi', (head) => ascii(head, 0, 'RIFF') && ascii(head, 8, 'AVI ')),
  magic('image/png', 'png', (head) => bytes(head, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)),
  magic('image/jpeg', 'jpg', (head) => bytes(head, 0xff, 0xd8, 0xff)),
  magic('image/webp', 'webp', (head) => ascii(head, 0, 'RIFF') && ascii(head, 8, 'WEBP')),
  magic('image/gif', 'gif', (head) => ascii(head, 0, 'GIF87a') || ascii(head, 0, 'GIF89a')),
  magic('audio/wav', 'wav', (head) => ascii(head, 0, 'RIFF') && ascii(head, 8, 'WAVE')),
  magic('audio/ogg', 'ogg', (head) => ascii(head, 0, 'OggS')),
  magic('audio/flac', 'flac', (head) => ascii(head, 0, 'fLaC')),
  magic('audio/mp4', 'm4a', (head) => isoKind(head) === 'audio'),
  // ADTS: a sync word with layer 00, which MPEG audio frames never have.
  magic('audio/aac', 'aac', (head) => head[0] === 0xff && (head[1]! & 0xf6) === 0xf0),
  magic('audio/mpeg', 'mp3', (head) => ascii(head, 0, 'ID3') || isMpegAudioFrame(head)),
];

/** Detects the media type from the first bytes, whatever a header or file name claims. Undefined if unknown. */
export function sniffMedia(head: Uint8Array): SniffedMedia | undefined {
  const view = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  const found = TABLE.find(({ matches }) => matches(view));
  return found && { kind: found.kind, mediaType: found.mediaType, extension: found.extension };
}

/** Describes, for use in messages, bytes that are not media. Services often return JSON or HTML instead of a file. */
export function describePage(head: Uint8Array): 'empty' | 'json' | 'html' | 'text' | 'unknown' {
  if (head.length === 0) return 'empty';
  const begin = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, SNIFF_BYTES));
  const text = begin.toString('utf8');
  // trimStart also removes a byte order mark.
  const start = text.trimStart();
  if (/^[{[]/.test(start)) return 'json';
  if (/^<(!doctype|html|head|body|\?xml|error|!--)/i.test(start)) return 'html';
  // The end may be cut in the middle of a character.
  return isBinary(text) || /\ufffd[^\ufffd]/.test(text) ? 'unknown' : 'text';
}

/** Returns a media type's file extension without a dot, or `bin` if it is unknown. */
export function extensionOf(mediaType: string): string {
  const bare = mediaType.replace(/;.*/s, '');
  if (bare === 'application/json') return 'json';
  return TABLE.find((one) => one.mediaType === bare)?.extension ?? 'bin';
}

/** The largest accepted image, in pixels. A header may claim more than any viewer can decode. */
export const MAX_IMAGE_PIXELS = 100_000_000;

type ImageCheck =
  | { readonly ok: true; readonly mediaType: string; readonly width: number; readonly height: number }
  | {
      readonly ok: false;
      readonly reason: 'not_image' | 'unreadable' | 'too_large';
      readonly message: string;
    };

/** Returns an image's media type and size. Reads only the header and decodes nothing. */
export function checkImage(head: Uint8Array): ImageCheck {
  const refused = (reason: 'not_image' | 'unreadable' | 'too_large', message: string) =>
    ({ ok: false, reason, message }) as const;
  const media = sniffMedia(head);
  if (media?.kind !== 'image') return refused('not_image', 'The content is not an image.');
  const size = measure(head);
  if (size === undefined)
    return refused('unreadable', `The image header of this ${media.mediaType} file cannot be read.`);
  const { width, height } = size;
  if (width * height > MAX_IMAGE_PIXELS) {
    const message = `According to its header, the image is ${width}x${height} pixels, but the limit is ${MAX_IMAGE_PIXELS} pixels.`;
    return refused('too_large', message);
  }
  return { ok: true, mediaType: media.mediaType, width, height };
}

function measure(head: Uint8Array): { width: number; height: number } | undefined {
  try {
    const { width, height } = imageSize(head);
    return width > 0 && height > 0 ? { width, height } : undefined;
  } catch (_error) {
    // The library throws a TypeError if the bytes are not an image.
    return undefined;
  }
}
