import { open } from 'node:fs/promises';
import { bytesOf, type ByteSource, type ContainerCheck, HeaderReader, readRange } from './byte-source';
import { describePage, isIsoFile, SNIFF_BYTES, sniffMedia } from './media-type';
import { type VideoTrackFacts } from './mp4-samples';
import { checkMp4Bytes } from './mp4-verdict';
import { checkMpegTs } from './mpeg-ts';

export type VideoCheck =
  | {
      readonly ok: true;
      readonly mediaType: string;
      /** Null for containers whose tables this check does not read. */
      readonly facts: VideoTrackFacts | null;
      readonly warnings: readonly string[];
    }
  | {
      readonly ok: false;
      /** `too_large` means that the file exceeds this check's limits, so it was not checked. */
      readonly reason: 'not_video' | 'incomplete_file' | 'too_large';
      readonly message: string;
    };

const OTHERS: ReadonlyMap<string, (bytes: ByteSource, size: number) => Promise<ContainerCheck>> = new Map([
  ['video/webm', checkMatroska],
  ['video/matroska', checkMatroska],
  ['video/mp2t', checkMpegTs],
  ['video/x-msvideo', checkAvi],
]);

/**
 * Checks whether a file's bytes are video. Accepts a file with a picture track unless samples are missing. MP4 and
 * QuickTime files are checked to the end. Other containers are accepted with a warning unless they are truncated.
 */
export async function checkVideo(path: string): Promise<VideoCheck> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    return await checkBytes(await bytesOf(handle, size), size);
  } finally {
    await handle.close();
  }
}

async function checkBytes(bytes: ByteSource, size: number): Promise<VideoCheck> {
  const head = await readRange(bytes, 0, Math.min(SNIFF_BYTES, size));
  const mediaType = sniffMedia(head)?.mediaType ?? '';
  if (isIsoFile(head)) {
    const check = await checkMp4Bytes(bytes, size);
    if (!check.ok) return check;
    const { ok: _ok, warning, ...facts } = check;
    const warnings = warning === undefined ? [] : [warning];
    // The file has a picture track, whatever its brand says.
    const isNamed = mediaType.startsWith('video/');
    return { ok: true, mediaType: isNamed ? mediaType : 'video/mp4', facts, warnings };
  }
  const container = OTHERS.get(mediaType);
  if (container === undefined) return { ok: false, reason: 'not_video', message: notVideo(head) };
  switch (await container(bytes, size)) {
    case 'cut':
      return { ok: false, reason: 'incomplete_file', message: `The ${mediaType} file is truncated.` };
    case 'no_picture':
      return { ok: false, reason: 'not_video', message: `The ${mediaType} file has no picture track.` };
    default: {
      const warnings = [`The file is ${mediaType}, not MP4, so its end was not verified.`];
      return { ok: true, mediaType, facts: null, warnings };
    }
  }
}

/** Whether bytes start like a file that may have a picture track. {@link checkVideo} decides. */
export function mayBeVideo(head: Buffer): boolean {
  return isIsoFile(head) || sniffMedia(head)?.kind === 'video';
}

/** Describes bytes that are not video in one sentence. */
export function notVideo(head: Uint8Array): string {
  const media = sniffMedia(head);
  if (media !== undefined) return `The content is ${media.mediaType}, not video.`;
  const page = describePage(head);
  if (page === 'empty') return 'The body is empty.';
  return page === 'unknown' ? 'The content is not a known video format.' : `The body is ${page}, not video.`;
}

/** Whether bytes are text, such as an error page. The service might send the video later. */
export function isPage(head: Uint8Array): boolean {
  return sniffMedia(head) === undefined && describePage(head) !== 'unknown';
}

/** Video streams: plain video, and DV with interleaved audio. */
const PICTURE_STREAMS: ReadonlySet<string> = new Set(['vids', 'iavs']);
const MAX_HEADER_BYTES = 1024 * 1024;
/** The maximum number of parts to read. In a large file, each part is one or two gigabytes long. */
const MAX_PARTS = 10_000;

/**
 * Checks whether an AVI file has a video stream and whether one of its parts extends past the end of the file.
 * Interrupted recordings do not state a length.
 */
async function checkAvi(bytes: ByteSource, size: number): Promise<ContainerCheck> {
  const headers = new HeaderReader(bytes);
  for (let part = 0, at = 0; at < size && part < MAX_PARTS; part += 1) {
    const head = await headers.at(at);
    if (head.length < 12 || textAt(head, 0) !== 'RIFF') break;
    const length = head.readUInt32LE(4);
    if (length === 0 || length === 0xffffffff) break;
    at += 8 + length + (length % 2);
    // The padding byte after an odd length may be missing.
    if (at - (length % 2) > size) return 'cut';
  }
  const list = await headers.at(12);
  if (list.length < 12 || textAt(list, 0) !== 'LIST' || textAt(list, 8) !== 'hdrl') return 'no_picture';
  const header = await readRange(bytes, 24, Math.min(list.readUInt32LE(4) - 4, MAX_HEADER_BYTES));
  for (const { type, body } of chunksOf(header))
    if (type === 'LIST' && textAt(body, 0) === 'strl')
      for (const stream of chunksOf(body.subarray(4)))
        if (stream.type === 'strh' && PICTURE_STREAMS.has(textAt(stream.body, 0))) return 'has_picture';
  return 'no_picture';
}

function* chunksOf(bytes: Buffer): Generator<{ readonly type: string; readonly body: Buffer }> {
  for (let at = 0; at + 8 <= bytes.length;) {
    const length = bytes.readUInt32LE(at + 4);
    yield { type: textAt(bytes, at), body: bytes.subarray(at + 8, at + 8 + length) };
    at += 8 + length + (length % 2);
  }
}

const textAt = (bytes: Buffer, at: number) => bytes.toString('latin1', at, at + 4);

const EBML_HEADER = 0x1a45dfa3;
const SEGMENT = 0x18538067;
const TRACKS = 0x1654ae6b;
const TRACK_ENTRY = 0xae;
const TRACK_TYPE = 0x83;
const PICTURE = 1;
/** Elements of a segment or of a cluster with an unknown size. The walk stops at any other bytes. */
const KNOWN: ReadonlySet<number> = new Set([
  SEGMENT,
  TRACKS,
  // SeekHead, Info, Cluster, Cues, Attachments, Chapters, Tags, Void, CRC-32.
  ...[0x114d9b74, 0x1549a966, 0x1f43b675, 0x1c53bb6b, 0x1941a469, 0x1043a770, 0x1254c367, 0xec, 0xbf],
  // Timestamp, SilentTracks, Position, PrevSize, SimpleBlock, BlockGroup, EncryptedBlock.
  ...[0xe7, 0x5854, 0xa7, 0xab, 0xa3, 0xa0, 0xaf],
]);

const MAX_ELEMENTS = 1_000_000;
const MAX_TRACKS_BYTES = 1024 * 1024;

/**
 * Checks whether a Matroska or WebM file has a picture track and whether an element extends past the end of the file.
 * Live recordings do not state their segment's length, so this walks their elements.
 */
async function checkMatroska(bytes: ByteSource, size: number): Promise<ContainerCheck> {
  const headers = new HeaderReader(bytes);
  const first = elementIn(await headers.at(0));
  let hasPicture = false;
  let position = first?.id === EBML_HEADER ? first.headerBytes + (first.length ?? size) : size;
  for (let read = 0; position < size && read < MAX_ELEMENTS; read += 1) {
    const element = elementIn(await headers.at(position));
    if (element === undefined || !KNOWN.has(element.id)) break;
    const body = position + element.headerBytes;
    if (element.length !== undefined && body + element.length > size) return 'cut';
    if (element.id === TRACKS && element.length !== undefined && element.length <= MAX_TRACKS_BYTES)
      hasPicture ||= namesPicture(await readRange(bytes, body, element.length));
    // Enter segments and elements of unknown length; skip all others.
    const isEntered = element.length === undefined || element.id === SEGMENT;
    position = isEntered ? body : body + element.length;
    if (element.id === SEGMENT && element.length !== undefined && hasPicture) break;
  }
  return hasPicture ? 'has_picture' : 'no_picture';
}

function namesPicture(tracks: Buffer): boolean {
  return [...elementsOf(tracks)].some(
    ({ id, body }) =>
      id === TRACK_ENTRY &&
      [...elementsOf(body)].some((one) => one.id === TRACK_TYPE && one.body.at(-1) === PICTURE),
  );
}

function* elementsOf(bytes: Buffer): Generator<{ readonly id: number; readonly body: Buffer }> {
  for (let position = 0; position < bytes.length;) {
    const element = elementIn(bytes.subarray(position, position + 16));
    if (element?.length === undefined) return;
    const body = position + element.headerBytes;
    yield { id: element.id, body: bytes.subarray(body, body + element.length) };
    position = body + element.length;
  }
}

interface ElementHeader {
  readonly id: number;
  readonly headerBytes: number;
  /** Undefined if the file does not state it. */
  readonly length: number | undefined;
}

/** Parses an element header. Undefined if these bytes are not a complete header. */
function elementIn(head: Buffer): ElementHeader | undefined {
  const idBytes = widthOf(head[0]);
  const lengthBytes = widthOf(head[idBytes]);
  const headerBytes = idBytes + lengthBytes;
  if (idBytes > 4 || lengthBytes > 8 || head.length < headerBytes) return undefined;
  let length = BigInt(head[idBytes]! & (0xff >> lengthBytes));
  for (const byte of head.subarray(idBytes + 1, headerBytes)) length = length * 256n + BigInt(byte);
  const isUnknown = length === 2n ** BigInt(7 * lengthBytes) - 1n;
  return { id: head.readUIntBE(0, idBytes), headerBytes, length: isUnknown ? undefined : Number(length) };
}

/** A number's width in bytes, from the leading zero bits of its first byte; 9 if that byte is 0 or missing. */
const widthOf = (first: number | undefined) => Math.clz32(first ?? 0) - 23;
