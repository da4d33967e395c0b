import { type Timeline } from '@temporal-media/replay';
import { textOf } from '@temporal-media/replay/internal/timeline/values';
import { type FaultRule } from '@temporal-media/sandbox';
import { failureRow } from 'temporal-media/internal/domain/failure-table';

/** Typical task errors from services, keyed by the kind that a worker derives from them. */
const ERRORS: { readonly [kind: string]: { readonly code: string; readonly message: string } } = {
  moderation: {
    code: 'moderation_blocked',
    message: 'The request was blocked by our moderation system.',
  },
  capacity: { code: 'ServerOverloaded', message: 'The service is overloaded, try again later.' },
  invalid: { code: 'InvalidParameter', message: 'The reference image could not be decoded.' },
  quota: { code: 'QuotaExceeded', message: 'Your quota is used up.' },
};

/** Returns a typical service error of this kind. The history's own text and code might reveal its request. */
export function errorOf(kind: string): unknown {
  return Object.hasOwn(ERRORS, kind) ? ERRORS[kind] : { message: 'An unexpected error occurred.' };
}

/**
 * Returns how many of these consecutive attempts to reproduce if the package chose the pauses between them. The pauses
 * grow with each attempt, and only fewer attempts shorten them. @param speed factor to divide by
 */
export const fewerTries = (tries: number, speed: number): number => Math.ceil(tries / speed);

/** Returns whole seconds, as in the header. @param speed factor by which to shorten the pause */
export const retryAfter = (ms: number, speed: number): number => Math.max(1, Math.ceil(ms / 1000 / speed));

/**
 * Returns a history's outcome as named in the failure table, such as `failed/moderation`. Null while the history is
 * open.
 */
export function outcomeType({ outcome, entries }: Timeline): string | null {
  if (outcome === null) return null;
  const facts = entries.findLast(({ kind }) => kind === 'ended')?.facts ?? {};
  const reason = textOf(facts['reason']);
  const kind = textOf(facts['kind']);
  const row = failureRow({
    outcome,
    ...(reason !== null && { reason }),
    ...(kind !== null && { error: { kind } }),
  });
  return row?.type ?? outcome;
}

/** What one kind of request contributes to a scenario. */
export interface ScenarioPart {
  readonly faults: readonly FaultRule[];
  readonly notPlayed: readonly string[];
}
