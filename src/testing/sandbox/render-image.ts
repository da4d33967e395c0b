import { encodePng } from './encode-png';
import { sha256 } from './hash';
import { type ImageSpec } from './media-spec';
import { characterAdvance, drawText, lineAdvance, wrapText } from './pixel-font';

type Colour = readonly [number, number, number];

/** Draws a PNG of exactly the size of the spec: text, and one coloured block per input file, in their order. */
export function renderImage(spec: ImageSpec): Buffer {
  const { width, height } = spec;
  const pixels = Buffer.alloc(width * height * 3);
  const tint = Buffer.from(sha256(`${spec.prompt}\n${spec.index}`), 'hex');
  const fill = brush(pixels, width, height);
  const bands = 16;
  for (let band = 0; band < bands; band += 1) {
    const top = Math.floor((height * band) / bands);
    const light = 0.35 + (0.5 * band) / bands;
    const shade = [tint[0] ?? 0, tint[1] ?? 0, tint[2] ?? 0].map((part) => Math.floor(part * light));
    const next = Math.floor((height * (band + 1)) / bands);
    fill(0, top, width, next - top, [shade[0] ?? 0, shade[1] ?? 0, shade[2] ?? 0]);
  }
  const scale = Math.max(1, Math.floor(width / 160));
  const white: Colour = [255, 255, 255];
  const pen = (x: number, y: number, w: number, h: number): void => fill(x, y, w, h, white);
  drawText(`${spec.model} #${spec.index + 1} ${width}x${height}`, scale * 4, scale * 4, scale, pen);
  const columns = Math.floor(width / (characterAdvance * scale)) - 2;
  wrapText(spec.prompt, columns, 8).forEach((line, row) => {
    drawText(line, scale * 4, scale * (14 + row * lineAdvance), scale, pen);
  });
  const block = Math.floor(Math.min(width / (spec.inputs.length + 1), height / 4));
  spec.inputs.forEach((hash, position) =>
    fill(position * block, height - block, block, block, inputColour(hash)),
  );
  return encodePng(pixels, width, height);
}

/** Colour of the block that stands for an input file: the first three bytes of its SHA-256. */
export function inputColour(hash: string): Colour {
  const bytes = Buffer.from(hash.slice(0, 6), 'hex');
  return [bytes[0] ?? 0, bytes[1] ?? 0, bytes[2] ?? 0];
}

function brush(data: Buffer, width: number, height: number) {
  return (x: number, y: number, w: number, h: number, [red, green, blue]: Colour): void => {
    const right = Math.min(width, x + w);
    const pixel = Buffer.from([red, green, blue]);
    if (x >= right) return;
    for (let row = Math.max(0, y); row < Math.min(height, y + h); row += 1) {
      data.fill(pixel, (row * width + x) * 3, (row * width + right) * 3);
    }
  };
}
