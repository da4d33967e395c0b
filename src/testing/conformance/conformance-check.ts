/** One promise of a port, for any test runner: `test(name, run)`. Rejects with an AssertionError when it is not kept. */
export interface ConformanceCheck {
  readonly name: string;
  readonly run: () => Promise<void>;
}
