import { open } from 'node:fs/promises';
import { bytesOf, type ByteSource, readRange } from './byte-source';
import { boxesOfFile, DamagedMp4, type Mp4Box, Mp4Refusal, roleOf } from './mp4-boxes';
import { type Places, type Range, SampleCheck, type VideoTrackFacts } from './mp4-samples';
import { hasFragments } from './mp4-tracks';

/** `warning` is the reason why the end of the file was not verified. */
type Mp4Check =
  | ({ readonly ok: true; readonly warning?: string } & VideoTrackFacts)
  | { readonly ok: false; readonly reason: Mp4Refusal['reason']; readonly message: string };

/** Read limits: enough for the index of days of video, or for hours of fragments. */
const MAX_INDEX_BYTES = 64 * 1024 * 1024;
const MAX_BOXES = 100_000;

/**
 * Checks whether a file is a complete MP4 or QuickTime file (architecture: Download): it has a picture track, and it
 * contains every sample of each track. Extra bytes after the last box only cause a warning. Damage inside the media
 * data is not detected, because that needs a decoder. Rejects only if the file cannot be read.
 */
export async function checkMp4(path: string): Promise<Mp4Check> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    return await checkMp4Bytes(await bytesOf(handle, size), size);
  } finally {
    await handle.close();
  }
}

/** {@link checkMp4} for an open file. Reads only `moov` and `moof`; media data stays on disk. */
export async function checkMp4Bytes(bytes: ByteSource, size: number): Promise<Mp4Check> {
  try {
    return await checkFile(bytes, { ...(await boxesOfFile(bytes, size, MAX_BOXES)), size });
  } catch (error) {
    if (!(error instanceof Mp4Refusal)) throw error;
    const { reason, message } = error;
    return { ok: false, reason, message };
  }
}

type Mp4File = Awaited<ReturnType<typeof boxesOfFile>> & { readonly size: number };

async function checkFile(bytes: ByteSource, file: Mp4File): Promise<Mp4Check> {
  const { boxes, size } = file;
  if (boxes[0] === undefined || roleOf(boxes[0].type) === undefined)
    throw new Mp4Refusal(
      'not_video',
      size === 0 ? 'The file is empty.' : 'The content does not begin like an MP4 file.',
    );
  // A muxer may write a preliminary index and then the full one, so the last one is used.
  const index = boxes.findLast(({ type }) => type === 'moov');
  if (index === undefined || index.end > size)
    throw new Mp4Refusal('incomplete_file', cutMessage(file) ?? 'The file has no moov box.');
  const moov = await bodyOf(bytes, index);
  const fragments = boxes.filter(({ type }) => type === 'moof');
  const unread = unreadEnd(file, fragments.length > 0 || hasFragments(moov));
  const samples = new SampleCheck(moov, placesOf(file));
  let left = MAX_INDEX_BYTES - moov.length;
  for (const box of fragments) {
    left -= box.end - box.start;
    if (left < 0) break;
    samples.add(box.start, await bodyOf(bytes, box));
  }
  const facts = samples.facts();
  const why =
    left < 0
      ? `The file's index is longer than the ${MAX_INDEX_BYTES} bytes that this check reads`
      : samples.hasStray
        ? 'Some samples are outside the media data boxes'
        : unread;
  return {
    ok: true,
    ...facts,
    ...(why !== undefined && { warning: `${why}, so the end of the file was not verified.` }),
  };
}

/**
 * Explains why the end of a file was not read. No known sample is missing. Throws {@link Mp4Refusal} if more fragments
 * may have followed. Only a fragment index (mfra) rules that out, because it is always the last box.
 */
function unreadEnd(file: Mp4File, isFragmented: boolean): string | undefined {
  const { boxes, rest, size } = file;
  const { type, start, end } = boxes.at(-1)!;
  if (rest === 'nothing') return undefined;
  if (rest === 'more_boxes') return `The file has more than the ${MAX_BOXES} boxes that this check reads`;
  // Text after the last box looks like a box of an unknown type.
  const hasIndex = boxes.some((box) => box.type === 'mfra');
  const isBox = end <= size || roleOf(type) !== undefined;
  if (isFragmented && rest === 'part_of_box' && isBox && !hasIndex)
    throw new Mp4Refusal('incomplete_file', cutMessage(file)!);
  if (end > size && isBox)
    return `The last box (${type}) ends at byte ${end}, but the file has only ${size} bytes`;
  return `The file's last bytes (${size - (end > size ? start : end)}) are not a box`;
}

/** Explains why the walk did not reach the end of the file. Undefined if it did. */
function cutMessage({ boxes, rest, size }: Mp4File): string | undefined {
  const { type, end } = boxes.at(-1)!;
  if (end > size) return `The ${type} box ends at byte ${end}, but the file has only ${size} bytes.`;
  if (rest === 'more_boxes') return `The first ${MAX_BOXES} boxes of the file do not include a moov box.`;
  return rest === 'nothing'
    ? undefined
    : `The file is truncated or damaged: byte ${end} does not start a complete box.`;
}

/** Reads the body of a box that is fully inside the file. */
async function bodyOf(bytes: ByteSource, { type, start, headerBytes, end }: Mp4Box): Promise<Buffer> {
  const length = end - start - headerBytes;
  if (length > MAX_INDEX_BYTES)
    throw new Mp4Refusal(
      'too_large',
      `The ${type} box is ${length} bytes long, but this check reads at most ${MAX_INDEX_BYTES}.`,
    );
  const body = await readRange(bytes, start + headerBytes, length);
  if (body.length < length) throw new DamagedMp4();
  return body;
}

function placesOf({ boxes, size }: Mp4File): Places {
  const media: Range[] = [];
  const possible: Range[] = [];
  const add = (ranges: Range[], start: number, end: number) => {
    const last = ranges.at(-1);
    if (last?.end === start) last.end = end;
    else if (start < end) ranges.push({ start, end });
  };
  for (const { type, start, headerBytes, end } of boxes) {
    const role = roleOf(type);
    if (role === 'samples') add(media, start + headerBytes, Math.min(end, size));
    if (role !== 'structure') add(possible, start + headerBytes, Math.min(end, size));
  }
  add(possible, boxes.at(-1)!.end, size);
  return { media, possible };
}
