/**
 * What a terminal obeys instead of showing it: controls of both sets, marks that turn the order of a line around, and
 * separators that begin another one. A tab is only a blank.
 */
// oxlint-disable-next-line no-control-regex
const OBEYED = /[\0-\x08\n-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** One line for a person, whatever is in it: `\x1b`, `\n` and `\u202e` where such a character was. */
export function visible(text: string): string {
  return text.replace(OBEYED, escaped);
}

/** JSON on one line, whose texts are the same for every reader of JSON, and nothing is obeyed by a terminal. */
export function visibleJson(value: unknown, replacer?: (name: string, value: unknown) => unknown): string {
  return JSON.stringify(value, replacer).replace(OBEYED, (sign) => `\\u${hex(sign, 4)}`);
}

function escaped(sign: string): string {
  if (sign === '\n') return '\\n';
  return sign < '\u0100' ? `\\x${hex(sign, 2)}` : `\\u${hex(sign, 4)}`;
}

const hex = (sign: string, digits: number): string => sign.charCodeAt(0).toString(16).padStart(digits, '0');

/** Whether {@link visible} would change the text. */
export function isVisible(text: string): boolean {
  return text.search(OBEYED) < 0;
}
