import { type ManifestIssue } from '../domain/campaign/plan';

/** The manifest as a whole cannot be read. The message names a line at most, never a text of it. */
export class ManifestUnreadableError extends Error {
  override readonly name = 'ManifestUnreadableError';
}

/** The header names columns that no row can have: every row would be wrong. */
export class ManifestHeaderError extends Error {
  override readonly name = 'ManifestHeaderError';

  constructor(readonly issues: readonly ManifestIssue[]) {
    super('The header of the manifest has columns that no row can have.');
  }
}

/** The live model configuration cannot be read now; nothing can be judged without it. */
export class ModelsDownError extends Error {
  override readonly name = 'ModelsDownError';

  constructor(
    message: string,
    readonly retryAfterMs: number,
  ) {
    super(message);
  }
}
