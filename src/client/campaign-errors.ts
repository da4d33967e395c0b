import { type CampaignUpdateResult } from '../domain/campaign/state';

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

/** The campaign has ended: it takes no orders any more. What is missing is taken up by a new run. */
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
