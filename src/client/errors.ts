import { type CampaignUpdateResult } from '../domain/campaign/state';
import { PAUSED } from '../domain/execution-status';
import { type Keys, unknownKey } from '../domain/known-keys';

/** The id of a campaign belongs to something else, or its campaign runs with another manifest. Nothing was started. */
export class CampaignConflictError extends Error {
  override readonly name = 'CampaignConflictError';
  constructor(
    readonly campaign: string,
    message: string,
  ) {
    super(message);
  }
}

/** What a campaign was to be started with cannot be used. Nothing was started. */
export class CampaignInputError extends Error {
  override readonly name = 'CampaignInputError';
  constructor(
    readonly campaign: string,
    issue: string,
  ) {
    super(`The campaign "${campaign}" cannot be started: ${issue} Nothing was started.`);
  }
}

/** No campaign of this id is known. */
export class CampaignNotFoundError extends Error {
  override readonly name = 'CampaignNotFoundError';
  constructor(readonly campaign: string) {
    super(`No campaign is known under the id "${campaign}".`);
  }
}

/** The campaign has ended: it takes no orders any more. What is missing is resumed by a new run. */
export class CampaignEndedError extends Error {
  override readonly name = 'CampaignEndedError';
  constructor(readonly campaign: string) {
    super(`The campaign "${campaign}" has ended.`);
  }
}

/** The campaign did not carry an order out; its own words say why. */
export class CampaignOrderError extends Error {
  override readonly name = 'CampaignOrderError';
  constructor(
    readonly campaign: string,
    message: string,
  ) {
    super(message);
  }
}

/**
 * What a campaign came to cannot be read now: it was closed from outside, and no worker answers for its last state.
 * Nothing was started, because a run that knows no earlier results would look at every row again.
 */
export class CampaignUnreadableError extends Error {
  override readonly name = 'CampaignUnreadableError';
  constructor(
    readonly campaign: string,
    options?: ErrorOptions,
  ) {
    super(`No worker answers for the state of the campaign "${campaign}". Nothing was started.`, options);
  }
}

/** What the campaign answers to an order that it carried out. @throws CampaignOrderError */
export function accepted(id: string, { accepted: isAccepted, message }: CampaignUpdateResult): string {
  if (!isAccepted) throw new CampaignOrderError(id, message);
  return message;
}

export function taken(id: string, why: string): CampaignConflictError {
  const message = `The id "${id}" is taken. ${why} Nothing was started: use another id, or wait until it has ended.`;
  return new CampaignConflictError(id, message);
}

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
