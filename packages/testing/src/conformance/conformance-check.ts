/**
 * One guarantee of a port, as a check for any test runner: `test(name, run)`. `run` rejects with an AssertionError if
 * the guarantee does not hold.
 */
export interface ConformanceCheck {
  /** The guarantee, as a test title. */
  readonly name: string;
  /** Checks the guarantee on a new store. */
  readonly run: () => Promise<void>;
}
