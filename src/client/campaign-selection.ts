import { type RowSelection } from '../domain/campaign/plan';
import { type RowCounts } from '../domain/campaign/results';
import { type CampaignState } from '../domain/campaign/state';
import { type RowOutcome } from '../domain/campaign/row';
import { type CampaignStart } from './campaign-records';

/** Rows that a `resume` takes up again under the key that they have: nothing that was bought is bought again. */
export const RESUMED_OUTCOMES = [
  'still_running',
  'unconfirmed',
  'content_unavailable',
  'task_unknown',
  'skipped_budget',
  'cancelled',
] as const satisfies readonly RowOutcome[];

/** Rows of which a person may order a new attempt; the first two are the default. */
export const RETRIED_OUTCOMES = [
  'failed',
  'rejected',
  'content_unavailable',
  'task_unknown',
  'results_lost',
] as const satisfies readonly RowOutcome[];

export type RetriedOutcome = (typeof RETRIED_OUTCOMES)[number];

/** Outcomes of `among` that rows have. */
export function present<Outcome extends RowOutcome>(
  counts: RowCounts,
  among: readonly Outcome[],
): readonly Outcome[] {
  return among.filter((outcome) => (counts[outcome] ?? 0) > 0);
}

/**
 * What a new run takes up after one that has ended. Without a limit: all that is missing. A run that ended by itself
 * behind a limit: only rows that it began. One that was closed from outside behind a limit: no more rows than it had left.
 */
export function resumedRows(
  { limit, sample }: CampaignStart,
  ended: { readonly status: string; readonly counts: RowCounts; readonly state: CampaignState | undefined },
): Pick<CampaignStart, 'select' | 'limit' | 'sample'> {
  if (limit === undefined && sample === undefined) return { select: { rows: 'missing' } };
  const outcomes = present(ended.counts, RESUMED_OUTCOMES);
  if (ended.status === 'COMPLETED') return { select: again(outcomes) };
  const begun = outcomes.reduce((sum, outcome) => sum + (ended.counts[outcome] ?? 0), 0);
  // Without its last state nobody knows how many were left: the limit itself is then the most.
  const most = ended.state === undefined ? (limit ?? sample ?? 0) : ended.state.remaining + begun;
  return { select: { rows: 'missing' }, ...(limit === undefined ? { sample: most } : { limit: most }) };
}

/** Rows with these outcomes, under the keys that they have. */
export function again(outcomes: readonly RowOutcome[]): RowSelection {
  return { rows: 'again', outcomes };
}
