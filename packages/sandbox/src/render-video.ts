import { createRequire } from 'node:module';
import type * as encoderModule from 'h264-mp4-encoder';
import { framesPerSecond, type MediaSpec, videoSize, type VideoSpec } from './media-spec';
import { characterAdvance, drawText, lineAdvance, renderImage, wrapText } from './render-image';
import { hexDigest } from './request-log';

type Encoder = typeof encoderModule;

let encoder: Encoder | undefined;

/**
 * Loads the encoder and removes the process-wide handlers that its WebAssembly loader installs: they would turn every
 * unhandled rejection of the host program into an abort.
 */
function loadEncoder(): Encoder {
  if (encoder !== undefined) return encoder;
  const events = ['uncaughtException', 'unhandledRejection'] as const;
  const before = events.map((event) => process.rawListeners(event));
  encoder = createRequire(__filename)('h264-mp4-encoder') as Encoder;
  events.forEach((event, position) => {
    for (const listener of process.rawListeners(event)) {
      if (!before[position]?.includes(listener)) process.removeListener(event, listener as () => void);
    }
  });
  return encoder;
}

/** Encodes an H.264 MP4 (yuv420p) with the prompt, the model, the elapsed time and a moving square. */
export async function encodeVideo(spec: VideoSpec): Promise<Buffer> {
  const { width, height } = videoSize(spec);
  const output = await loadEncoder().createH264MP4Encoder();
  output.width = width;
  output.height = height;
  output.frameRate = framesPerSecond;
  // The muxer does not write a table of key frames. Players therefore treat every frame as a key frame, so every frame
  // must be one.
  output.groupOfPictures = 1;
  output.speed = 8;
  output.quantizationParameter = 30;
  output.initialize();
  const still = stillPicture(spec, width, height);
  const frames = Math.max(1, Math.round(spec.seconds * framesPerSecond));
  for (let frame = 0; frame < frames; frame += 1) {
    output.addFrameYuv(movingPicture(still, spec, width, height, frame, frames));
  }
  const name = output.outputFilename;
  output.finalize();
  const bytes = withoutTimes(Buffer.from(output.FS.readFile(name)));
  output.delete();
  output.FS.unlink(name);
  return bytes;
}

/** Draws what all frames share: a tint that depends on the prompt, a gradient, and the text. */
function stillPicture(spec: VideoSpec, width: number, height: number): Uint8Array {
  const tint = Buffer.from(hexDigest(spec.prompt + spec.model), 'hex');
  const area = width * height;
  const picture = new Uint8Array(area * 1.5);
  for (let y = 0; y < height; y += 1)
    picture.fill(40 + Math.floor((60 * y) / height), y * width, (y + 1) * width);
  picture.fill(96 + ((tint[0] ?? 0) % 64), area, area * 1.25);
  picture.fill(96 + ((tint[1] ?? 0) % 64), area * 1.25);
  const bright = brush(picture, width, height, 220);
  const scale = 2;
  drawText(spec.model, 8, 8, scale, bright);
  const columns = Math.floor((width - 16) / (characterAdvance * scale));
  wrapText(spec.prompt, columns, 6).forEach((line, row) => {
    drawText(line, 8, 28 + row * lineAdvance * scale, scale, bright);
  });
  return picture;
}

function movingPicture(
  still: Uint8Array,
  spec: VideoSpec,
  width: number,
  height: number,
  frame: number,
  frames: number,
): Uint8Array {
  const picture = still.slice();
  const bright = brush(picture, width, height, 235);
  const side = Math.floor(height / 6) & ~1;
  const x = Math.floor(((width - side) * frame) / Math.max(1, frames - 1));
  const swing = Math.abs(((frame / framesPerSecond) % 2) - 1);
  bright(x, Math.floor(height * 0.55 + swing * height * 0.15), side, side);
  drawText(`${(frame / framesPerSecond).toFixed(1)} / ${spec.seconds} s`, 8, height - 18, 2, bright);
  return picture;
}

/** Fills rectangles of the luma plane. */
function brush(picture: Uint8Array, width: number, height: number, luma: number) {
  return (x: number, y: number, w: number, h: number): void => {
    const right = Math.min(width, x + w);
    for (let row = Math.max(0, y); row < Math.min(height, y + h); row += 1) {
      if (x < right) picture.fill(luma, row * width + x, row * width + right);
    }
  };
}

const containers = ['moov', 'trak', 'mdia'];
const dated = ['mvhd', 'tkhd', 'mdhd'];

/**
 * Clears an MP4's creation and modification times, in place. The encoder writes the current time, but equal specs must
 * produce equal bytes, so that the strong ETag stays the same when a file is encoded again.
 */
function withoutTimes(bytes: Buffer, start = 0, end = bytes.length): Buffer {
  for (let at = start; at + 8 <= end;) {
    const size = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (size < 8) break;
    if (containers.includes(type)) withoutTimes(bytes, at + 8, at + size);
    // Version 1 has 64-bit times, version 0 has 32-bit ones.
    if (dated.includes(type)) bytes.fill(0, at + 12, at + (bytes[at + 8] === 1 ? 28 : 20));
    at += size;
  }
  return bytes;
}

/** Renders a spec as an MP4 or a PNG. Blocks its thread. */
export async function renderMedia(spec: MediaSpec): Promise<Buffer> {
  return spec.kind === 'video' ? encodeVideo(spec) : renderImage(spec);
}
