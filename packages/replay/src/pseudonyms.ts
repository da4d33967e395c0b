import { createHash } from 'node:crypto';
import { milliseconds } from 'temporal-media/internal/domain/shape';

/** Numbers, lists of them, times and durations say nothing about anybody, and the code computes with them. */
const isPlain = (text: string): boolean =>
  PLAIN.some((form) => form.test(text)) || milliseconds(text) !== undefined;

const PLAIN = [
  /^-?\d+(?:\.\d+)?$/,
  /^\d{1,7}(?:-\d{1,7})?(?:,\d{1,7}(?:-\d{1,7})?)*$/,
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/,
];
/** What the code may check the form of: digests, and the names of artifacts. */
const DIGEST = /[0-9a-f]{64}/g;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Replaces texts by others, equal ones by equal ones; the words of the code stay. */
export class Pseudonyms {
  readonly #known = new Map<string, string>();
  /** Texts that stay wherever they are, also where they contain the id. */
  readonly #kept = new Set<string>();
  readonly #literals: ReadonlySet<string>;

  /**
   * @param code whose literals stay
   * @param id that other ids contain, as those of children do
   */
  constructor(
    code: string,
    private readonly id: string,
  ) {
    this.#literals = literalsOf(code.slice(0, code.lastIndexOf('//# sourceMappingURL')));
  }

  /** From now on this text stays: an id that a server makes, or the value of a field that somebody wants to see. */
  keep(text: string): void {
    this.#kept.add(text);
    this.#known.set(text, text);
  }

  /** From now on this name stands in the place of the id. */
  label(name: string): void {
    this.#known.set(this.id, name);
  }

  /** The value with other texts, at any depth; names of fields that the code has no word for are replaced too. */
  in(value: unknown): unknown {
    if (typeof value === 'string') return this.of(value);
    if (Array.isArray(value)) return value.map((one) => this.in(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        this.#literals.has(name) ? name : this.of(name),
        // Rows of a page of a campaign, packed as bits.
        name === 'rows' && typeof inner === 'string' && /^[0-9a-f]*$/.test(inner) ? inner : this.in(inner),
      ]),
    );
  }

  /** Another text in the place of this value, unless it is a word of the code, a number, a time or a duration. */
  of(text: string): string {
    return isPlain(text) ? text : this.word(text);
  }

  /** Another text in the place of this id or name, unless it is a word of the code. A number may be that of an order. */
  word(text: string): string {
    if (text === '' || this.#kept.has(text) || this.#literals.has(text)) return text;
    if (this.id !== '' && text !== this.id && text.includes(this.id))
      return text
        .split(this.id)
        .map((part) => this.#part(part))
        .join(this.hidden(this.id));
    return this.hidden(text);
  }

  /** Another text in the place of this one, whatever it is. */
  hidden(text: string): string {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const n = this.#known.size + 1;
    const made = this.#make(text, `redacted-${n}`);
    this.#known.set(text, made);
    return made;
  }

  /** Keeps the form of what the code may take apart. */
  #make(text: string, name: string): string {
    if (text.startsWith('artifact:sha256/'))
      return text.replace(DIGEST, (digest) => this.hidden(digest)).slice(0, 'artifact:sha256/'.length + 64);
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

  /** What stands around an id: separators, numbers and words of the code. */
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

/** Texts in quotes, names of functions and fields, and parts of templates. */
function literalsOf(code: string): ReadonlySet<string> {
  const literals = new Set<string>();
  for (const [, , text] of code.matchAll(/(["'])((?:[^"'\\\n]|\\.){1,60}?)\1/g)) literals.add(text ?? '');
  for (const [, name] of code.matchAll(/\.([A-Za-z_$][\w$]{0,60})/g)) literals.add(name ?? '');
  for (const [, name] of code.matchAll(/[{,]\s*([A-Za-z_$][\w$]{0,60})\s*[:,}(]/g)) literals.add(name ?? '');
  for (const [, name] of code.matchAll(/\bfunction\*? ([A-Za-z_$][\w$]{0,60})/g)) literals.add(name ?? '');
  for (const [, text] of code.matchAll(/[`}]([^`$\\\n]{1,60}?)(?=\$\{|`)/g))
    literals.add((text ?? '').replace(/^\W+|\W+$/g, ''));
  return literals;
}
