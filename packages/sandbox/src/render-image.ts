import { crc32, deflateSync } from 'node:zlib';
import { type ImageSpec } from './media-spec';
import { hexDigest } from './request-log';

/** Rows of a 3 x 5 glyph from top to bottom as five octal digits; the left pixel is the highest bit. */
const glyphs: Record<string, string> = {
  A: '25755',
  B: '65656',
  C: '34443',
  D: '65556',
  E: '74647',
  F: '74644',
  G: '34553',
  H: '55755',
  I: '72227',
  J: '11152',
  K: '55655',
  L: '44447',
  M: '57755',
  N: '65555',
  O: '25552',
  P: '65644',
  Q: '25563',
  R: '65655',
  S: '34216',
  T: '72222',
  U: '55557',
  V: '55552',
  W: '55775',
  X: '55255',
  Y: '55222',
  Z: '71247',
  0: '75557',
  1: '26227',
  2: '61247',
  3: '61216',
  4: '55711',
  5: '74616',
  6: '34757',
  7: '71222',
  8: '75757',
  9: '75716',
  ' ': '00000',
  '.': '00002',
  ',': '00024',
  ':': '02020',
  ';': '02024',
  '!': '22202',
  '?': '61202',
  '-': '00700',
  '+': '02720',
  '/': '11244',
  '(': '24442',
  ')': '21112',
  '[': '64446',
  ']': '31113',
  "'": '22000',
  '"': '55000',
  '=': '07070',
  '%': '51245',
  '&': '25256',
  _: '00007',
  '#': '57575',
  '*': '05250',
};
const unknownGlyph = '75557';

/** Fills a rectangle of the picture. */
type FillRectangle = (x: number, y: number, width: number, height: number) => void;

/** Distance from one character, or one line, to the next at scale 1, in pixels. */
export const characterAdvance = 4;
export const lineAdvance = 7;

/** Draws one line of text. A glyph is 3 x 5 squares of `scale` pixels; a character without a glyph is a box. */
export function drawText(text: string, x: number, y: number, scale: number, fill: FillRectangle): void {
  [...text.toUpperCase()].forEach((letter, position) => {
    const rows = glyphs[letter] ?? unknownGlyph;
    for (let row = 0; row < 5; row += 1) {
      for (let column = 0; column < 3; column += 1) {
        if ((Number(rows[row]) & (4 >> column)) === 0) continue;
        fill(x + (position * characterAdvance + column) * scale, y + row * scale, scale, scale);
      }
    }
  });
}

/** Breaks text into lines of at most `columns` characters, at spaces where possible. */
export function wrapText(text: string, columns: number, lines: number): string[] {
  const result: string[] = [];
  let rest = text.replaceAll(/\s+/g, ' ').trim();
  while (rest !== '' && result.length < lines) {
    const blank = rest.length <= columns ? rest.length : rest.lastIndexOf(' ', columns);
    const end = blank > 0 ? blank : columns;
    result.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return result;
}

type Colour = readonly [number, number, number];

/** Renders a PNG of exactly the spec's size, with text and one colored block per input file, in order. */
export function renderImage(spec: ImageSpec): Buffer {
  const { width, height } = spec;
  const pixels = Buffer.alloc(width * height * 3);
  const tint = Buffer.from(hexDigest(`${spec.prompt}\n${spec.index}`), 'hex');
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

/** Returns the color of the block that represents an input file: the first three bytes of its SHA-256. */
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

/**
 * Encodes 8-bit RGB pixels as a PNG without filtering. Native code does all the work: a library that loops over pixels
 * in JavaScript takes many seconds for 4K inside a test runner.
 */
function encodePng(pixels: Buffer, width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const stride = width * 3;
  const rows = Buffer.alloc((stride + 1) * height);
  for (let row = 0; row < height; row += 1) {
    pixels.copy(rows, row * (stride + 1) + 1, row * stride, (row + 1) * stride);
  }
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const parts = [
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 1 })),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat([signature, ...parts]);
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  typed.copy(framed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}
