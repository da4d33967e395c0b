import { type ManifestIssue } from '../domain/campaign/plan';

/** The manifest as a whole cannot be read. The message may name a line, but never includes its text. */
export class ManifestUnreadableError extends Error {
  override readonly name = 'ManifestUnreadableError';
}

/** The header names unknown columns, which would make every row invalid. */
export class ManifestHeaderError extends Error {
  override readonly name = 'ManifestHeaderError';

  constructor(readonly issues: readonly ManifestIssue[]) {
    super('The header of the manifest has columns that no row can have.');
  }
}

/** The live model configuration cannot be read now; rows cannot be validated without it. */
export class ModelsDownError extends Error {
  override readonly name = 'ModelsDownError';

  constructor(
    message: string,
    readonly retryAfterMs: number,
  ) {
    super(message);
  }
}
