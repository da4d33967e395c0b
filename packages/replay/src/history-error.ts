/** Why a history cannot be loaded. */
export type HistoryErrorCode =
  /** No such file, or it cannot be read. */
  | 'not_found'
  /** Larger than any history of a Temporal server. */
  | 'too_large'
  /** Events or bytes are missing. */
  | 'truncated'
  /** Something else than a history, or one whose payloads were replaced by their values. */
  | 'not_a_history'
  /** A payload is encoded by a codec that is not configured here, or the codec refuses it. */
  | 'encrypted';

/** A history that cannot be loaded; the message names the file or the workflow, and what to do. */
export class HistoryError extends Error {
  override readonly name = 'HistoryError';

  constructor(
    /** Why the history cannot be used. */
    readonly code: HistoryErrorCode,
    message: string,
  ) {
    super(message);
  }
}
