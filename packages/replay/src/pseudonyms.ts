import { createHash } from 'node:crypto';
import { milliseconds } from 'temporal-media/internal/domain/shape';

/**
 * Whether text can stay as it is: numbers, times and durations do not identify anyone, and the code calculates with
 * them.
 */
const isPlain = (text: string): boolean =>
  PLAIN.some((form) => form.test(text)) || milliseconds(text) !== undefined;

const PLAIN = [
  /^-?\d+(?:\.\d+)?$/,
  /^\d{1,7}(?:-\d{1,7})?(?:,\d{1,7}(?:-\d{1,7})?)*$/,
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/,
];
/** Digests and UUIDs, whose format the code might check. */
const DIGEST = /[0-9a-f]{64}/g;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Replaces strings with pseudonyms. Equal strings get the same pseudonym. Keeps words from the code. */
export class Pseudonyms {
  readonly #known = new Map<string, string>();
  /** Strings that are never replaced, even if they contain the id. */
  readonly #kept = new Set<string>();
  readonly #literals: ReadonlySet<string>;

  /**
   * @param code the code whose literals are kept
   * @param id the workflow id, which other ids can contain
   */
  constructor(
    code: string,
    private readonly id: string,
  ) {
    this.#literals = literalsOf(code.slice(0, code.lastIndexOf('//# sourceMappingURL')));
  }

  /** Exempts a string from replacement: a server-generated id, or the value of a field that the user wants to see. */
  keep(text: string): void {
    this.#kept.add(text);
    this.#known.set(text, text);
  }

  /** Sets the name that replaces the workflow id. */
  label(name: string): void {
    this.#known.set(this.id, name);
  }

  /**
   * Returns the value with its strings replaced at any depth. Field names that do not occur in the code are replaced
   * too.
   */
  in(value: unknown): unknown {
    if (typeof value === 'string') return this.of(value);
    if (Array.isArray(value)) return value.map((one) => this.in(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        this.#literals.has(name) ? name : this.of(name),
        // Rows of a campaign page, packed as bits.
        name === 'rows' && typeof inner === 'string' && /^[0-9a-f]*$/.test(inner) ? inner : this.in(inner),
      ]),
    );
  }

  /** Replaces this value, unless it is a word from the code, a number, a time or a duration. */
  of(text: string): string {
    return isPlain(text) ? text : this.word(text);
  }

  /**
   * Replaces this id or name, unless it is a word from the code. Replaces numbers too, because they may be a caller's
   * order numbers.
   */
  word(text: string): string {
    if (text === '' || this.#kept.has(text) || this.#literals.has(text)) return text;
    if (this.id !== '' && text !== this.id && text.includes(this.id))
      return text
        .split(this.id)
        .map((part) => this.#part(part))
        .join(this.hidden(this.id));
    return this.hidden(text);
  }

  /** Replaces this string unconditionally. */
  hidden(text: string): string {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const n = this.#known.size + 1;
    const made = this.#make(text, `redacted-${n}`);
    this.#known.set(text, made);
    return made;
  }

  /** Creates a replacement. Keeps formats that the code might parse. */
  #make(text: string, name: string): string {
    if (text.startsWith('artifact:sha256/'))
      return text.replace(DIGEST, (digest) => this.hidden(digest)).slice(0, 'artifact:sha256/'.length + 64);
    if (text.startsWith('label:')) return `label:${this.of(text.slice('label:'.length))}`;
    const digest = createHash('sha256').update(name).digest('hex');
    if (/^[0-9a-f]{64}$/.test(text)) return digest;
    if (UUID.test(text))
      return [
        digest.slice(0, 8),
        digest.slice(8, 12),
        digest.slice(12, 16),
        digest.slice(16, 20),
        digest.slice(20, 32),
      ].join('-');
    return name;
  }

  /** Replaces the text before or after an id, except separators, numbers and words from the code. */
  #part(text: string): string {
    return text
      .split(/([^A-Za-z0-9_]+)/)
      .map((word, index) =>
        index % 2 === 1 || word === '' || /^\d+$/.test(word) || this.#literals.has(word)
          ? word
          : this.of(word),
      )
      .join('');
  }
}

/** Returns the quoted strings, the function and field names, and the parts of template literals in the code. */
function literalsOf(code: string): ReadonlySet<string> {
  const literals = new Set<string>();
  // An apostrophe in a comment would pair with the next literal's opening quote, so the code is also searched without
  // its comments.
  for (const source of [code, code.replace(/\/\*[^]*?(?:\*\/|(?![^]))|^[ \t]*\/\/.*$/gm, '')])
    for (const [, , text] of source.matchAll(/(["'])((?:[^"'\\\n]|\\.){1,60}?)\1/g)) literals.add(text ?? '');
  for (const [, name] of code.matchAll(/\.([A-Za-z_$][\w$]{0,60})/g)) literals.add(name ?? '');
  for (const [, name] of code.matchAll(/[{,]\s*([A-Za-z_$][\w$]{0,60})\s*[:,}(]/g)) literals.add(name ?? '');
  for (const [, name] of code.matchAll(/\bfunction\*? ([A-Za-z_$][\w$]{0,60})/g)) literals.add(name ?? '');
  for (const [, text] of code.matchAll(/[`}]([^`$\\\n]{1,60}?)(?=\$\{|`)/g))
    literals.add((text ?? '').replace(/^\W+|\W+$/g, ''));
  return literals;
}
