import { type RowSelection } from '../domain/campaign/plan';
import { type RowCounts } from '../domain/campaign/results';
import { type RowOutcome } from '../domain/campaign/row';
import { type CampaignState } from '../domain/campaign/campaign-state';
import { type CampaignStart } from './campaign-records';

/** Outcomes of rows that a `resume` resumes under their existing key: nothing is bought twice. */
export const RESUMED_OUTCOMES = [
  'still_running',
  'unconfirmed',
  'content_unavailable',
  'task_unknown',
  'skipped_budget',
  'cancelled',
] as const satisfies readonly RowOutcome[];

/** Outcomes of rows for which a person may order a new attempt; the first two are the default. */
export const RETRIED_OUTCOMES = [
  'failed',
  'rejected',
  'content_unavailable',
  'task_unknown',
  'results_lost',
] as const satisfies readonly RowOutcome[];

/** An outcome of rows for which a person may order a new attempt, which is paid again. */
export type RetriedOutcome = (typeof RETRIED_OUTCOMES)[number];

/** Outcomes of `among` that at least one row has. */
export function presentOutcomes<Outcome extends RowOutcome>(
  counts: RowCounts,
  among: readonly Outcome[],
): readonly Outcome[] {
  return among.filter((outcome) => (counts[outcome] ?? 0) > 0);
}

/**
 * Rows that a new run resumes after an ended one. Without a limit: all missing rows. After a run with a limit that
 * ended by itself: only rows that it started. After one with a limit that was closed from outside: at most as many as
 * it had left.
 */
export function resumedRows(
  { limit, sample }: CampaignStart,
  ended: { readonly status: string; readonly counts: RowCounts; readonly state: CampaignState | undefined },
): Pick<CampaignStart, 'select' | 'limit' | 'sample'> {
  if (limit === undefined && sample === undefined) return { select: { rows: 'missing' } };
  const outcomes = presentOutcomes(ended.counts, RESUMED_OUTCOMES);
  if (ended.status === 'COMPLETED') return { select: again(outcomes) };
  const startedRows = outcomes.reduce((sum, outcome) => sum + (ended.counts[outcome] ?? 0), 0);
  // Without the last state the number of rows left is unknown; the limit itself is the maximum.
  const most = ended.state === undefined ? (limit ?? sample ?? 0) : ended.state.remaining + startedRows;
  return { select: { rows: 'missing' }, ...(limit === undefined ? { sample: most } : { limit: most }) };
}

/** Selects rows with these outcomes, under their existing keys. */
export function again(outcomes: readonly RowOutcome[]): RowSelection {
  return { rows: 'again', outcomes };
}
