import { failureRow } from '../../domain/failure-table';
import { textOf } from '../../replay/timeline/read-value';
import { type Timeline } from '../../replay/timeline/timeline';

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
