/** One step of the search that gave nothing. */
export interface FailedStep {
  /** What was looked for, for instance `temporal on PATH`. */
  readonly step: string;
  /** Why it gave nothing. */
  readonly reason: string;
  /** What the user can do to make this step succeed. */
  readonly remedy: string;
}

/** No step of the search for a Temporal server gave one; the message lists each with its reason and remedy (architecture: Temporal server). */
export class TemporalServerNotFoundError extends Error {
  override readonly name = 'TemporalServerNotFoundError';

  constructor(readonly steps: readonly FailedStep[]) {
    super(
      [
        'No Temporal server could be found or started. Tried, in this order:',
        ...steps.map(
          ({ step, reason, remedy }, i) => `  ${i + 1}. ${step}: ${reason}.\n     Remedy: ${remedy}.`,
        ),
      ].join('\n'),
    );
  }
}
