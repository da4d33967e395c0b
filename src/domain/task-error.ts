/** What a failure of the service means for the next step (contract 7; moderation is tested first). */
export type ErrorKind = 'moderation' | 'capacity' | 'invalid' | 'quota' | 'unknown';

/**
 * An error that the service reported, cleaned: URLs and keys are stripped, the text is capped.
 * It appears only in outcomes; failures, logs and details carry `kind` and `code` (architecture: Stores).
 */
export interface TaskError {
  readonly kind: ErrorKind;
  readonly code: string | null;
  readonly message: string | null;
}
