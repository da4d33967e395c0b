import { createH264MP4Encoder } from 'h264-mp4-encoder';
import { PNG } from 'pngjs';

/** A real H.264 MP4: `frames` pictures of 64x48 at 10 per second. */
export async function makeMp4(frames = 20, shade = 0): Promise<Buffer> {
  const encoder = await createH264MP4Encoder();
  encoder.width = 64;
  encoder.height = 48;
  encoder.frameRate = 10;
  encoder.quantizationParameter = 20;
  encoder.initialize();
  for (let frame = 0; frame < frames; frame++) {
    const pixels = new Uint8Array(64 * 48 * 4);
    for (let index = 0; index < pixels.length; index++)
      pixels[index] = (index * 7 + frame * 31 + shade + (index % 13) * frame) & 0xff;
    encoder.addFrameRgba(pixels);
  }
  encoder.finalize();
  const bytes = Buffer.from(encoder.FS.readFile(encoder.outputFilename));
  encoder.delete();
  return bytes;
}

export function makePng(width: number, height: number): Buffer {
  return PNG.sync.write(new PNG({ width, height }));
}

/** One box: size, type, body. */
export function box(type: string, ...body: Uint8Array[]): Buffer {
  const content = Buffer.concat(body);
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + content.length, 0);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, content]);
}

/** Top-level boxes of a file, cut out by their own sizes. */
export function topLevel(bytes: Buffer): { type: string; start: number; end: number }[] {
  const found: { type: string; start: number; end: number }[] = [];
  for (let start = 0; start < bytes.length;) {
    const size = bytes.readUInt32BE(start);
    const end =
      size === 0 ? bytes.length : start + (size === 1 ? Number(bytes.readBigUInt64BE(start + 8)) : size);
    found.push({ type: bytes.toString('latin1', start + 4, start + 8), start, end });
    start = end;
  }
  return found;
}
