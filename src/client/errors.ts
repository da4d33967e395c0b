import { unknownKey, type Keys } from '../domain/known-keys';
import { PAUSED } from '../domain/execution-status';

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

/** Something was given that this client does not know, or not there. Nothing was started. */
export class InvalidInputError extends Error {
  override readonly name = 'InvalidInputError';
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(`${message} Nothing was started.`);
  }
}

/** An option under a name of another spelling would be passed over in silence. @throws InvalidInputError */
export function refuseUnknownKeys(given: unknown, known: Keys): void {
  const unknown = unknownKey(given, known);
  if (unknown !== undefined) throw new InvalidInputError(unknown.field, unknown.message);
}

/** An operator has paused the workflow: it answers nothing and takes no orders until somebody lets it go on. */
export class WorkflowPausedError extends Error {
  override readonly name = 'WorkflowPausedError';
  constructor(readonly workflowId: string) {
    super(`The workflow "${workflowId}" is paused in Temporal: it answers nothing until it goes on.`);
  }
}

/** @throws WorkflowPausedError */
export function requireUnpaused(workflowId: string, status: string): void {
  if (status === PAUSED) throw new WorkflowPausedError(workflowId);
}
