import { open } from 'node:fs/promises';
import { bytesOf, type ByteSource } from './byte-source';
import { walkBoxes } from './mp4-boxes';
import { checkSamples, type VideoTrackFacts } from './mp4-samples';

export type Mp4Check =
  | ({ readonly ok: true } & VideoTrackFacts)
  | { readonly ok: false; readonly reason: 'not_video' | 'truncated'; readonly message: string };

/**
 * Whether a file is a whole MP4 (C4.3, architecture: Download): all top-level boxes to the file's end, then every sample
 * within its media data. What it cannot see is damage inside the media data: that needs a decoder.
 * Rejects only when the file cannot be read.
 */
export async function checkMp4(path: string): Promise<Mp4Check> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    return await checkMp4In(await bytesOf(handle, size), size);
  } finally {
    await handle.close();
  }
}

/** {@link checkMp4} of a file that is open. */
export async function checkMp4In(bytes: ByteSource, size: number): Promise<Mp4Check> {
  const walk = await walkBoxes(bytes, size);
  if (!walk.ok) return walk;
  const samples = await checkSamples(bytes, walk.boxes);
  return samples.ok ? { ok: true, ...samples.facts } : samples;
}
