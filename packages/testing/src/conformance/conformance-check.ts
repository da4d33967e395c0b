/** One promise of a port, for any test runner: `test(name, run)`. Rejects with an AssertionError when it is not kept. */
export interface ConformanceCheck {
  /** The promise, as the title of a test. */
  readonly name: string;
  /** Checks the promise on a new store. */
  readonly run: () => Promise<void>;
}
