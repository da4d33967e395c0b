import { open } from 'node:fs/promises';
import { checkMp4Bytes, type VideoTrackFacts } from './mp4-check';
import { describePage, SNIFF_BYTES, sniffMedia } from './media-type';
import { boxesOfFile, bytesOf, type ByteSource } from './mp4-boxes';

export type VideoCheck =
  | {
      readonly ok: true;
      readonly mediaType: string;
      /** Null for a container that is only known by its first bytes. */
      readonly facts: VideoTrackFacts | null;
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly reason: 'not_video' | 'incomplete_file'; readonly message: string };

/**
 * Whether a file is video by its bytes (C4.3): MP4 is checked to its end; WebM and QuickTime are accepted with a
 * warning unless their own headers show that they are cut.
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
  const head = await readHead(bytes);
  const media = sniffMedia(head);
  if (media?.kind !== 'video') return { ok: false, reason: 'not_video', message: notVideo(head) };
  if (media.mediaType === 'video/mp4') {
    const check = await checkMp4Bytes(bytes, size);
    if (!check.ok) return check;
    const { ok: _ok, ...facts } = check;
    return { ok: true, mediaType: media.mediaType, facts, warnings: [] };
  }
  const isCut = media.mediaType === 'video/webm' ? isCutWebm : isCutQuickTime;
  if (await isCut(bytes, size))
    return { ok: false, reason: 'incomplete_file', message: `The ${media.mediaType} file is cut.` };
  return {
    ok: true,
    mediaType: media.mediaType,
    facts: null,
    warnings: [`The file is ${media.mediaType}, not MP4: its end was not verified.`],
  };
}

/** One sentence about bytes that are not video. */
export function notVideo(head: Uint8Array): string {
  const media = sniffMedia(head);
  if (media !== undefined) return `The bytes are ${media.mediaType}, not video.`;
  const page = describePage(head);
  if (page === 'empty') return 'The body is empty.';
  return page === 'unknown' ? 'The bytes are not a known video format.' : `The body is ${page}, not video.`;
}

/** Whether bytes are text, such as the page of an error: the service may send the video later. */
export function isPage(head: Uint8Array): boolean {
  return sniffMedia(head) === undefined && describePage(head) !== 'unknown';
}

async function readHead(bytes: ByteSource): Promise<Buffer> {
  const head = Buffer.alloc(SNIFF_BYTES);
  const { bytesRead } = await bytes.read(head, 0, SNIFF_BYTES, 0);
  return head.subarray(0, bytesRead);
}

/** More than any QuickTime file has at its top level; boxes beyond them are not read. */
const MAX_BOXES = 1000;

/**
 * Whether a QuickTime file shows that it is longer, or ends without its tables. Its boxes are those of MP4, but older
 * files hold other data between them: from there on nothing is known.
 */
async function isCutQuickTime(bytes: ByteSource, size: number): Promise<boolean> {
  const { boxes, rest } = await boxesOfFile(bytes, size, MAX_BOXES);
  if (rest === 'nothing') return !boxes.some((box) => box.type === 'moov');
  return rest === 'part_of_box';
}

const EBML_HEADER = 0x1a45dfa3;
const SEGMENT = 0x18538067;

/** Whether the header of a WebM file shows that it is longer; live recordings do not state their length. */
async function isCutWebm(bytes: ByteSource, size: number): Promise<boolean> {
  // At the end of the file there is no segment: what has no known end hides all that follows.
  const header = (await elementAt(bytes, 0, EBML_HEADER)) ?? size;
  const segment = (await elementAt(bytes, header, SEGMENT)) ?? 0;
  return segment > size;
}

/** Where the element that begins here ends; undefined when it is another one, or has no known size. */
async function elementAt(bytes: ByteSource, position: number, id: number): Promise<number | undefined> {
  const head = await bytesAt(bytes, position);
  if (head.length < 5 || head.readUInt32BE(0) !== id) return undefined;
  const first = head[4]!;
  const width = Math.clz32(first) - 23;
  if (width > 8 || head.length < 4 + width) return undefined;
  let value = BigInt(first & (0xff >> width));
  for (const byte of head.subarray(5, 4 + width)) value = value * 256n + BigInt(byte);
  const unknown = value === 2n ** BigInt(7 * width) - 1n;
  return unknown ? undefined : position + 4 + width + Number(value);
}

async function bytesAt(source: ByteSource, position: number): Promise<Buffer> {
  const bytes = Buffer.alloc(16);
  const { bytesRead } = await source.read(bytes, 0, bytes.length, position);
  return bytes.subarray(0, bytesRead);
}
