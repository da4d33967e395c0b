/** Why a report could not be written; public words. */
export type ReportErrorCode =
  /** Another process writes this report now. */
  | 'busy'
  /** The folder holds files that are no report of ours. */
  | 'folder_occupied'
  /** The folder is the report of another campaign. */
  | 'other_campaign'
  /** A result or the folder's own state cannot be read. */
  | 'unreadable'
  /** The file of a zip is there already. */
  | 'file_exists';

/** Error of a report. The message holds no path and no prompt (C5.4c). */
export class ReportError extends Error {
  override readonly name = 'ReportError';

  constructor(
    readonly code: ReportErrorCode,
    message: string,
  ) {
    super(message);
  }
}
