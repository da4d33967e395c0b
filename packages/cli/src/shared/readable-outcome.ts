import { ExternalStorageNotConfiguredError, ValueError } from '@temporalio/common';
import { type ImageOutcome, type Money, type VideoOutcome } from 'temporal-media';
import { type CaseFacts } from './case';
import { LOST_HINT, STORAGE_HINT } from './errors';

/** Returns the outcome's creation key; null if it has none. */
export const keyOfOutcome = (outcome: CaseFacts['outcome']): string | null =>
  outcome !== null && 'creationKey' in outcome ? (outcome.creationKey ?? null) : null;

/** Returns the outcome's estimate; null if it is unknown. */
export function estimateOf(outcome: CaseFacts['outcome']): Money | null {
  const { estimate = null, currency = null } = outcome?.billing ?? {};
  return estimate === null || currency === null ? null : { microUnits: estimate, currency };
}

/** Whether an error means that another codec or a storage driver is needed, or that the payload's object is lost. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof ValueError || isOfStorage(error) || isLost(error);
}

function isLost(error: unknown): boolean {
  const named = (one: unknown): boolean => one instanceof Error && one.name === 'StoredPayloadLostError';
  return named(error) || (error instanceof Error && named(error.cause));
}

/** The SDK reports an unreadable reply as a failed call. */
function isOfStorage(error: unknown): boolean {
  return (
    error instanceof ExternalStorageNotConfiguredError ||
    (error instanceof Error && error.cause instanceof ExternalStorageNotConfiguredError)
  );
}

/** Says what cannot be read, and what to set. */
export function unreadableNote(what: string, error: unknown): string {
  if (isLost(error))
    return `The ${what} cannot be read, because its object is missing in the external storage. ${LOST_HINT}`;
  return isOfStorage(error)
    ? `The ${what} cannot be read here, because it is in external storage. ${STORAGE_HINT}`
    : `The ${what} cannot be read here, because a codec has encoded it. Set TEMPORAL_CODEC_ENDPOINT to the codec server.`;
}

/** Replaces the service's message. An empty field would suggest that the service did not send one. */
const NOT_SHOWN = "[not shown, because it may repeat the prompt; see the workflow's result]";

/** Removes the service's message, which may repeat a prompt, from output meant for tickets. Keeps kind and code. */
export function withoutServiceText<Outcome extends VideoOutcome | ImageOutcome>(outcome: Outcome): Outcome {
  if (!('error' in outcome) || outcome.error === undefined || outcome.error.message === null) return outcome;
  return { ...outcome, error: { ...outcome.error, message: NOT_SHOWN } };
}
