import { type Timeline } from '@temporal-media/replay';
import { textOf } from '@temporal-media/replay/internal/timeline/values';
import { type FaultRule } from '@temporal-media/sandbox';
import { failureRow } from 'temporal-media/internal/domain/failure-table';

/** Errors of tasks as services write them, by the kind as which a worker reads them. */
const ERRORS: { readonly [kind: string]: { readonly code: string; readonly message: string } } = {
  moderation: {
    code: 'moderation_blocked',
    message: 'The request was blocked by our moderation system.',
  },
  capacity: { code: 'ServerOverloaded', message: 'The service is overloaded, try again later.' },
  invalid: { code: 'InvalidParameter', message: 'The reference image could not be decoded.' },
  quota: { code: 'QuotaExceeded', message: 'Your quota is used up.' },
};

/** An error of this kind as services write it: the text and the code of the history may name its request. */
export function errorOf(kind: string): unknown {
  return Object.hasOwn(ERRORS, kind) ? ERRORS[kind] : { message: 'An unexpected error occurred.' };
}

/**
 * How many of so many tries in a row are played where the package chose the pauses between them: they grow with each try, and
 * nothing else can shorten them. @param speed how many times fewer
 */
export const fewerTries = (tries: number, speed: number): number => Math.ceil(tries / speed);

/** Whole seconds, as the header has them. @param speed how many times shorter */
export const retryAfter = (ms: number, speed: number): number => Math.max(1, Math.ceil(ms / 1000 / speed));

/** The outcome of a history as the table of failures names it: `completed`, `failed/moderation`; null while it is open. */
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
