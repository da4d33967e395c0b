import { type FileHandle, open } from 'node:fs/promises';
import { bytesOf, type ByteSource } from './byte-source';
import { isCutQuickTime, isCutWebm } from './declared-end';
import { describePage, SNIFF_BYTES, sniffMedia } from './media-type';
import { checkMp4In } from './mp4-check';
import { type VideoTrackFacts } from './mp4-samples';

export type VideoCheck =
  | {
      readonly ok: true;
      readonly mediaType: string;
      /** Null for a container that is only known by its first bytes. */
      readonly facts: VideoTrackFacts | null;
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly reason: 'not_video' | 'truncated'; readonly message: string };

/** Whether a file is video by its bytes (C4.3): MP4 is checked to its end, WebM and QuickTime are taken with a warning unless they say themselves that they are cut. */
export async function checkVideo(path: string): Promise<VideoCheck> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    return await checkBytes(handle, await bytesOf(handle, size), size);
  } finally {
    await handle.close();
  }
}

async function checkBytes(handle: FileHandle, bytes: ByteSource, size: number): Promise<VideoCheck> {
  const head = await readHead(bytes);
  const media = sniffMedia(head);
  if (media?.kind !== 'video') return { ok: false, reason: 'not_video', message: notVideo(head) };
  if (media.mediaType === 'video/mp4') {
    const check = await checkMp4In(bytes, size);
    if (!check.ok) return check;
    const { ok: _ok, ...facts } = check;
    return { ok: true, mediaType: media.mediaType, facts, warnings: [] };
  }
  const isCut = media.mediaType === 'video/webm' ? isCutWebm : isCutQuickTime;
  if (await isCut(handle, size))
    return { ok: false, reason: 'truncated', message: `The ${media.mediaType} file is cut.` };
  return {
    ok: true,
    mediaType: media.mediaType,
    facts: null,
    warnings: [`The file is ${media.mediaType}, not MP4: its end was not verified.`],
  };
}

/** One sentence about bytes that are no video. */
export function notVideo(head: Uint8Array): string {
  const media = sniffMedia(head);
  if (media !== undefined) return `The bytes are ${media.mediaType}, not video.`;
  const page = describePage(head);
  if (page === 'empty') return 'The body is empty.';
  return page === 'unknown' ? 'The bytes are no known video.' : `The body is ${page}, not video.`;
}

async function readHead(bytes: ByteSource): Promise<Buffer> {
  const head = Buffer.alloc(SNIFF_BYTES);
  const { bytesRead } = await bytes.read(head, 0, SNIFF_BYTES, 0);
  return head.subarray(0, bytesRead);
}
