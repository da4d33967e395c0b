export interface BenchOptions {
  /** Benchmarks to run, each once. */
  readonly names: readonly string[];
  readonly list: boolean;
  readonly json: boolean;
  readonly help: boolean;
  /** Small numbers. */
  readonly quick: boolean;
  /** Whether lib is brought up to date first. */
  readonly build: boolean;
  /** @default 2 */
  readonly minutes: number;
  /** @default bench/results */
  readonly results?: string;
}

export const USAGE: string;

/** @throws an error with `usage: true` for what is not understood */
export function parseArguments(args: readonly string[], known: readonly string[]): BenchOptions;
