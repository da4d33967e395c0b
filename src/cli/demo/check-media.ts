import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { imageSize } from 'image-size';
import { createFile, MP4BoxBuffer } from 'mp4box';
import { type ArtifactRef } from '../../domain/media';

/**
 * Parses a saved file anew and compares it with its artifact. Returns what it is, in words.
 * @throws Error when the bytes are others, or no parser reads them
 */
export async function checkMedia(path: string, ref: ArtifactRef): Promise<string> {
  const bytes = await readFile(path);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== ref.sha256) throw new Error(`${path} does not have the hash of its artifact.`);
  const what = ref.mediaType.startsWith('video/') ? movieOf(bytes) : pictureOf(bytes);
  return `${what}, ${bytes.length} bytes, sha256 ${sha256.slice(0, 12)}`;
}

function movieOf(bytes: Buffer): string {
  const file = createFile();
  let words: string | undefined;
  file.onReady = ({ duration, timescale, videoTracks }) => {
    const [track] = videoTracks;
    if (track === undefined) return;
    const size = `${track.video?.width ?? '?'}x${track.video?.height ?? '?'}`;
    words = `MP4 ${size}, ${(duration / timescale).toFixed(1)} s, ${track.nb_samples} frames, ${track.codec}`;
  };
  file.appendBuffer(MP4BoxBuffer.fromArrayBuffer(new Uint8Array(bytes).buffer, 0));
  file.flush();
  if (words === undefined) throw new Error('A video holds no video track.');
  return words;
}

function pictureOf(bytes: Buffer): string {
  const { width, height, type } = imageSize(bytes);
  return `${(type ?? 'image').toUpperCase()} ${width}x${height}`;
}
