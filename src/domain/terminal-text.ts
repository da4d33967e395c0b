/**
 * Characters that a terminal interprets instead of showing: both sets of control characters, marks that change the text
 * direction, and line separators. A tab is harmless.
 */
// oxlint-disable-next-line no-control-regex
const OBEYED = /[\0-\x08\n-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Returns any text as one printable line, with such characters escaped as `\x1b`, `\n` or `\u202e`. */
export function visible(text: string): string {
  return text.replace(OBEYED, escaped);
}

/**
 * Returns single-line JSON that every JSON parser reads the same way and that contains nothing a terminal would
 * interpret.
 */
export function visibleJson(value: unknown, replacer?: (name: string, value: unknown) => unknown): string {
  return JSON.stringify(value, replacer).replace(OBEYED, (sign) => `\\u${hex(sign, 4)}`);
}

function escaped(sign: string): string {
  if (sign === '\n') return '\\n';
  return sign < '\u0100' ? `\\x${hex(sign, 2)}` : `\\u${hex(sign, 4)}`;
}

const hex = (sign: string, digits: number): string => sign.charCodeAt(0).toString(16).padStart(digits, '0');

/** Whether {@link visible} would leave the text unchanged. */
export function isVisible(text: string): boolean {
  return text.search(OBEYED) < 0;
}

/**
 * Quotes a word for a shell if it contains special characters. Unprintable characters are written as bytes (`$'…'`, in
 * bash and zsh).
 */
export function shellWord(word: string, platform: NodeJS.Platform = process.platform): string {
  if (platform === 'win32') return windowsWord(word);
  if (/^[\w./:=@%+,-]+$/.test(word)) return word;
  if (isVisible(word)) return `'${word.replaceAll("'", `'\\''`)}'`;
  const bytes = [...Buffer.from(word)].map((byte) =>
    /[\w ./:=@%+,-]/.test(String.fromCharCode(byte)) && byte < 0x80
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, '0')}`,
  );
  // A hex digit right after an escape would be read as part of it.
  return `$'${bytes.join('').replace(/\\x[0-9a-f]{2}(?=[0-9a-fA-F])/g, (escape) => `${escape}'$'`)}'`;
}

/**
 * Quotes a word for both cmd and PowerShell, which leave all but a few characters unchanged inside double quotes. A
 * character that either shell would expand or execute becomes `?`, so that the command finds nothing instead of doing
 * something else.
 */
function windowsWord(word: string): string {
  if (/^[\w./:=+-]+$/.test(word)) return word;
  const inert = word.replace(/["%!$`\u201c-\u201e]|[^ -~\u00a0-\uffff]/g, '?');
  // A backslash before the closing quote would escape it.
  return `"${inert}${inert.endsWith('\\') ? '\\' : ''}"`;
}

/** Returns an id as a shell argument, after `--` if it looks like an option, because callers choose ids freely. */
export function idArgument(id: string): string {
  return `${id.startsWith('-') ? '-- ' : ''}${shellWord(id)}`;
}

/** Values for placeholders in advice, which are words in capitals. A placeholder without a value is left unchanged. */
export interface AdviceValues {
  readonly [name: string]: string | null | undefined;
}

/**
 * Returns advice with values inserted. In commands, values are quoted for the shell, and an id that looks like an
 * option is placed after `--`.
 * @param word quotes a word for the current shell. @default inserts only values that need no quotes and keeps the
 * placeholder for all other values
 */
export function filled(text: string, values: AdviceValues, word: Word = plainWord): string {
  const put = (all: string, option: string, name: string, isCode: boolean): string => {
    const value = values[name];
    if (value == null) return all;
    if (!isCode) return `${option}${value}`;
    const quoted = word(value);
    if (quoted === undefined) return all;
    return `${option === '' && value.startsWith('-') ? '-- ' : option}${quoted}`;
  };
  return text
    .split('`')
    .map((part, index) =>
      part.replace(/(--[a-z-]+ )?\b([A-Z]{2,})\b/g, (all: string, option: string | undefined, name: string) =>
        put(all, option ?? '', name, index % 2 === 1),
      ),
    )
    .join('`');
}

/** Quotes a word for a shell. Returns undefined if the word must not be inserted. */
export type Word = (text: string) => string | undefined;

const plainWord: Word = (text) => (/^\w[\w.:@/-]{0,127}$/.test(text) ? text : undefined);
