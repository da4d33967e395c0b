import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const toolIn = (name: string, variable: string) =>
  [
    process.env[variable],
    ...(process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name)),
  ].find((path) => path !== undefined && path !== '' && existsSync(path));

const ffmpeg = toolIn('ffmpeg', 'FFMPEG_PATH');
const ffprobe = toolIn('ffprobe', 'FFPROBE_PATH');

export const hasFfmpeg = ffmpeg !== undefined && ffprobe !== undefined;

/** What to do where these tests are skipped. */
export const INSTALL = 'install ffmpeg (apt-get install ffmpeg), or set FFMPEG_PATH and FFPROBE_PATH';

/** Writes a file. False where this build of ffmpeg lacks an encoder, or the container does not take the codec. */
export async function encode(path: string, args: readonly string[]): Promise<boolean> {
  try {
    await run(ffmpeg!, ['-v', 'error', '-nostdin', '-y', ...args, path], { timeout: 60_000 });
    return true;
  } catch {
    return false;
  }
}

/** What a decoder finds in a file. */
export interface Decoded {
  /** Frames of the first track of pictures; 0 without one. A cover of music is none. */
  readonly frames: number;
  /** Bytes of the packets of each stream. */
  readonly bytes: readonly number[];
}

interface Probed {
  readonly packets?: readonly { readonly stream_index: number; readonly size: string }[];
  readonly streams?: readonly {
    readonly index: number;
    readonly codec_type?: string;
    readonly nb_read_frames?: string;
    readonly disposition?: { readonly attached_pic?: number };
  }[];
}

/** Decodes a whole file; what is missing in it counts as nothing. */
export async function decode(path: string): Promise<Decoded> {
  const shown =
    'stream=index,codec_type,nb_read_frames:stream_disposition=attached_pic:packet=stream_index,size';
  const args = ['-v', 'quiet', '-count_frames', '-show_entries', shown, '-of', 'json', path];
  const { stdout } = await run(ffprobe!, args, { timeout: 60_000, maxBuffer: 64 * 1024 * 1024 }).catch(
    () => ({
      stdout: '{}',
    }),
  );
  const { packets = [], streams = [] } = JSON.parse(stdout || '{}') as Probed;
  const bytes = streams.map(() => 0);
  for (const { stream_index: index, size } of packets) bytes[index] = (bytes[index] ?? 0) + Number(size);
  const picture = streams.find((one) => one.codec_type === 'video' && one.disposition?.attached_pic !== 1);
  return { frames: Number(picture?.nb_read_frames ?? 0), bytes };
}
