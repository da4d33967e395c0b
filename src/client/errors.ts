import { type CampaignUpdateResult } from '../domain/campaign/campaign-state';
import { type Shape, shapeIssue } from '../domain/shape';

/** The ID belongs to another workflow, or to a campaign with a different manifest. Nothing was started. */
export class CampaignConflictError extends Error {
  override readonly name = 'CampaignConflictError';
  constructor(
    /** The campaign's ID. */
    readonly campaign: string,
    message: string,
  ) {
    super(message);
  }
}

/** A campaign's input is invalid. Nothing was started. */
export class CampaignInputError extends Error {
  override readonly name = 'CampaignInputError';
  constructor(
    /** The campaign's ID. */
    readonly campaign: string,
    issue: string,
  ) {
    super(`Campaign "${campaign}" cannot be started: ${issue} Nothing was started.`);
  }
}

/** The server has no campaign with this ID. */
export class CampaignNotFoundError extends Error {
  override readonly name = 'CampaignNotFoundError';
  constructor(
    /** The campaign's ID. */
    readonly campaign: string,
  ) {
    super(`No campaign has the ID "${campaign}".`);
  }
}

/** The campaign has ended and does not accept Updates. A new run resumes the missing rows. */
export class CampaignEndedError extends Error {
  override readonly name = 'CampaignEndedError';
  constructor(
    /** The campaign's ID. */
    readonly campaign: string,
  ) {
    super(`Campaign "${campaign}" has already ended.`);
  }
}

/** The campaign refused an Update. The message is its reply. */
export class CampaignOrderError extends Error {
  override readonly name = 'CampaignOrderError';
  constructor(
    /** The campaign's ID. */
    readonly campaign: string,
    message: string,
  ) {
    super(message);
  }
}

/**
 * A campaign's results cannot be read right now, because no worker answers the query for its last state. Nothing was
 * started, because a run without the earlier results would process every row again.
 */
export class CampaignUnreadableError extends Error {
  override readonly name = 'CampaignUnreadableError';
  constructor(
    /** The campaign's ID. */
    readonly campaign: string,
    options?: ErrorOptions,
  ) {
    super(
      `No worker answered the query for the state of campaign "${campaign}". Nothing was started.`,
      options,
    );
  }
}

/** Returns the campaign's reply to an accepted Update. @throws CampaignOrderError */
export function accepted(id: string, { accepted: isAccepted, message }: CampaignUpdateResult): string {
  if (!isAccepted) throw new CampaignOrderError(id, message);
  return message;
}

export function taken(id: string, why: string): CampaignConflictError {
  const message = `The ID "${id}" is already in use. ${why} Nothing was started. Use another ID, or wait until it has ended.`;
  return new CampaignConflictError(id, message);
}

/** The ID was already used for a different request. Nothing was started or sent. */
export class CreationKeyConflictError extends Error {
  override readonly name = 'CreationKeyConflictError';
  constructor(
    /** The ID that is already in use. */
    readonly workflowId: string,
  ) {
    super(
      `The ID "${workflowId}" belongs to another request. Nothing was sent. Use another ID, or repeat the first request unchanged.`,
    );
  }
}

/** The workflow cannot be resumed because it is not a video workflow or has no task. */
export class ResumeError extends Error {
  override readonly name = 'ResumeError';
}

/**
 * A remote codec or an external storage does not respond, so it is unknown whether it could provide the payloads.
 */
export class CodecUnreachableError extends Error {
  /** `CodecUnreachableError`, or the name of a more specific class. */
  override readonly name: string = 'CodecUnreachableError';
}

/** An input field is unknown to this client, in the wrong object, or invalid. Nothing was started. */
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

/**
 * Rejects options that are invalid or misspelled, because they would otherwise be ignored. @throws InvalidInputError
 */
export function refuseInvalid(given: unknown, shape: Shape): void {
  const issue = shapeIssue(given, shape);
  if (issue !== undefined) throw new InvalidInputError(issue.field, issue.message);
}

/** An operator has paused the workflow. It answers neither queries nor Updates until it is unpaused. */
export class WorkflowPausedError extends Error {
  override readonly name = 'WorkflowPausedError';
  constructor(
    /** The paused workflow's ID. */
    readonly workflowId: string,
  ) {
    super(`The workflow "${workflowId}" is paused in Temporal and does not respond. Unpause it first.`);
  }
}
