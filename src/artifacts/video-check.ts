import { open } from 'node:fs/promises';
import { checkAvi } from './avi';
import { bytesOf, type ByteSource, type ContainerCheck, readRange } from './byte-source';
import { checkMatroska } from './matroska';
import { describePage, isIsoFile, SNIFF_BYTES, sniffMedia } from './media-type';
import { checkMp4Bytes } from './mp4-check';
import { type VideoTrackFacts } from './mp4-samples';
import { checkMpegTs } from './mpeg-ts';

export type VideoCheck =
  | {
      readonly ok: true;
      readonly mediaType: string;
      /** Null for a container whose tables are not read. */
      readonly facts: VideoTrackFacts | null;
      readonly warnings: readonly string[];
    }
  | {
      readonly ok: false;
      /** `too_large` is a limit of this check: nothing is known about the file. */
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
 * Whether a file is video by its bytes (C4.3). A file with a picture track is kept, unless samples are lost: MP4 and
 * QuickTime are checked to their end; other containers are kept with a warning unless they show that they are cut.
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
    // Whatever its brand says, it has pictures.
    const isNamed = mediaType.startsWith('video/');
    return { ok: true, mediaType: isNamed ? mediaType : 'video/mp4', facts, warnings };
  }
  const container = OTHERS.get(mediaType);
  if (container === undefined) return { ok: false, reason: 'not_video', message: notVideo(head) };
  switch (await container(bytes, size)) {
    case 'cut':
      return { ok: false, reason: 'incomplete_file', message: `The ${mediaType} file is cut.` };
    case 'no_picture':
      return { ok: false, reason: 'not_video', message: `The ${mediaType} file has no picture track.` };
    default:
      return {
        ok: true,
        mediaType,
        facts: null,
        warnings: [`The file is ${mediaType}, not MP4: its end was not verified.`],
      };
  }
}

/** Whether bytes begin like a file that may have pictures: {@link checkVideo} decides. */
export function mayBeVideo(head: Buffer): boolean {
  return isIsoFile(head) || sniffMedia(head)?.kind === 'video';
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
