import { type CampaignUpdateResult } from '../domain/campaign/campaign-state';
import { type Shape, shapeIssue } from '../domain/shape';

/** The id of a campaign belongs to something else, or its campaign runs with another manifest. Nothing was started. */
export class CampaignConflictError extends Error {
  override readonly name = 'CampaignConflictError';
  constructor(
    /** Id of the campaign. */
    readonly campaign: string,
    message: string,
  ) {
    super(message);
  }
}

/** The input of a campaign is not valid. Nothing was started. */
export class CampaignInputError extends Error {
  override readonly name = 'CampaignInputError';
  constructor(
    /** Id of the campaign. */
    readonly campaign: string,
    issue: string,
  ) {
    super(`The campaign "${campaign}" cannot be started: ${issue} Nothing was started.`);
  }
}

/** The server has no campaign with this id. */
export class CampaignNotFoundError extends Error {
  override readonly name = 'CampaignNotFoundError';
  constructor(
    /** Id of the campaign. */
    readonly campaign: string,
  ) {
    super(`No campaign is known under the id "${campaign}".`);
  }
}

/** The campaign has ended and accepts no Updates. A new run resumes the missing rows. */
export class CampaignEndedError extends Error {
  override readonly name = 'CampaignEndedError';
  constructor(
    /** Id of the campaign. */
    readonly campaign: string,
  ) {
    super(`The campaign "${campaign}" has ended.`);
  }
}

/** The campaign refused an Update; the message is its reply. */
export class CampaignOrderError extends Error {
  override readonly name = 'CampaignOrderError';
  constructor(
    /** Id of the campaign. */
    readonly campaign: string,
    message: string,
  ) {
    super(message);
  }
}

/**
 * The results of a campaign cannot be read now, because no worker answers for its last state. Nothing was started:
 * without the earlier results a run would process every row again.
 */
export class CampaignUnreadableError extends Error {
  override readonly name = 'CampaignUnreadableError';
  constructor(
    /** Id of the campaign. */
    readonly campaign: string,
    options?: ErrorOptions,
  ) {
    super(`No worker answers for the state of the campaign "${campaign}". Nothing was started.`, options);
  }
}

/** Returns the reply of the campaign to an Update that it accepted. @throws CampaignOrderError */
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
  constructor(
    /** The id that is taken. */
    readonly workflowId: string,
  ) {
    super(
      `The id "${workflowId}" belongs to another request. Nothing was sent. Use another id, or repeat the first request unchanged.`,
    );
  }
}

/** The workflow to resume is not a video workflow, or has no task. */
export class ResumeError extends Error {
  override readonly name = 'ResumeError';
}

/** A remote codec does not respond; whether it could decode the payloads is unknown. */
export class CodecUnreachableError extends Error {
  override readonly name = 'CodecUnreachableError';
}

/** A field is unknown to this client, in the wrong object, or invalid. Nothing was started. */
export class InvalidInputError extends Error {
  override readonly name = 'InvalidInputError';
  constructor(
    /** The field, such as `creationKey`. */
    readonly field: string,
    message: string,
  ) {
    super(`${message} Nothing was started.`);
  }
}

/** Rejects invalid options, and misspelled ones, which would otherwise be ignored. @throws InvalidInputError */
export function refuseInvalid(given: unknown, shape: Shape): void {
  const issue = shapeIssue(given, shape);
  if (issue !== undefined) throw new InvalidInputError(issue.field, issue.message);
}

/** An operator has paused the workflow: it answers neither queries nor Updates until it is unpaused. */
export class WorkflowPausedError extends Error {
  override readonly name = 'WorkflowPausedError';
  constructor(
    /** The id that is taken. */
    readonly workflowId: string,
  ) {
    super(`The workflow "${workflowId}" is paused in Temporal: it answers nothing until it goes on.`);
  }
}
