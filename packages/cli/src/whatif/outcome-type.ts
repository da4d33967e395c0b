import { failureRow } from 'temporal-media/internal/domain/failure-table';
import { textOf } from '@temporal-media/replay/internal/timeline/read-value';
import { type Timeline } from '@temporal-media/replay';

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
