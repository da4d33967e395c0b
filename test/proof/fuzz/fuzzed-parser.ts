/** One parser of foreign input, and what every input may do to it. */
export interface FuzzedParser {
  readonly name: string;
  /** `json`: most inputs are changed as values; `bytes`: all are changed as bytes. */
  readonly form: 'json' | 'bytes';
  /** Real samples. */
  readonly seeds: readonly Buffer[];
  /** Tokens that the parser knows: names, words, magic numbers. */
  readonly words: readonly string[];
  /** The whole way from bytes of the wire to a result; what it throws must be of the parser's own kind. */
  readonly parse: (input: Buffer) => unknown;
  /** Whether a thrown error is one that this parser declares. Left out: it declares none. */
  readonly declares?: (error: unknown) => boolean;
  /** What is wrong with a result; undefined when nothing is. */
  readonly wrong: (result: unknown, input: Buffer) => string | undefined;
}
