/** The same id was used for another request. Nothing was started and nothing was sent. */
export class CreationKeyConflictError extends Error {
  override readonly name = 'CreationKeyConflictError';
  constructor(readonly workflowId: string) {
    super(
      `The id "${workflowId}" belongs to another request. Nothing was sent. Use another id, or repeat the first request unchanged.`,
    );
  }
}

/** What was asked for cannot be found or has no task. */
export class ResumeError extends Error {
  override readonly name = 'ResumeError';
}

/** A codec that is far away does not do its work: nothing is known of what it would have read. */
export class CodecUnreachableError extends Error {
  override readonly name = 'CodecUnreachableError';
}
