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
export type FillRectangle = (x: number, y: number, width: number, height: number) => void;

/** Pixels from one character, or one line, to the next at scale 1. */
export const characterAdvance = 4;
export const lineAdvance = 7;

/** Draws one line of text; a glyph is 3 x 5 squares of `scale` pixels, letters without a glyph are boxes. */
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

/** Breaks text into lines of at most `columns` characters, at blanks where there are any. */
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
