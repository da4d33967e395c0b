import { type RowOutcome } from '../../domain/campaign/row';
import { unboughtResult } from '../../domain/campaign/row-result';
import { outcomes } from '../../domain/outcome';
import { creationKeyOf, factsOf, isBought, isStarted, type Row } from './batch-rows';
import { type BatchWork } from './batch-work';
import { endOrRetry } from './end-row';

/**
 * Ends the rows that have not been bought, once the budget is spent or the campaign is canceled. If the budget is
 * spent, rows that were already bought continue. After a cancellation, only rows that were already bought and have no
 * result yet continue.
 */
export function endUnbought(batch: BatchWork, now: number): void {
  const { stop } = batch.orders;
  // A batch that is leaving hands back its unfinished rows, and the next batch looks them up in the journal.
  if (stop === null || batch.isLeaving()) return;
  const ends = (row: Row) =>
    stop === 'cancel'
      ? !isStarted(row) || (row.opened.was !== undefined && !hasUncountedCost(row))
      : !isStarted(row) && !isBought(batch.input.campaign, row);
  for (const row of [...batch.rows]) if (row.phase === 'waiting' && ends(row)) end(batch, row, stop, now);
  for (let next = batch.pages.nextRow(); next !== undefined; next = batch.pages.nextRow()) {
    const row = batch.begin(next.set, next.index, now);
    if (ends(row)) end(batch, row, stop, now);
  }
}

/**
 * Whether bought attempts are missing from all results. Such attempts are collected, regardless of the row's earlier
 * outcome.
 */
function hasUncountedCost({ opened }: Row): boolean {
  return (opened.bought ?? 0) > 0;
}

function end(batch: BatchWork, row: Row, stop: 'budget' | 'cancel', now: number): void {
  const { was } = row.opened;
  const unknown = row.create?.unknown;
  // The attempt was sent and its outcome is unknown, so it does not count as unbought even after a stop order.
  if (unknown !== undefined)
    return endOrRetry(batch, row, outcomes.unconfirmed(unknown, creationKeyOf(batch.input.campaign, row)));
  batch.budget.giveBack(row.cost);
  if (row.last !== null) return batch.end(row, row.last);
  const unbought = (outcome: RowOutcome, message: string) =>
    batch.end(row, unboughtResult(factsOf(batch.input.campaign, row), outcome, message, now));
  if (was !== undefined) unbought(was.outcome, 'The row was not resumed.');
  else if (stop === 'cancel') unbought('cancelled', 'The campaign was canceled.');
  else unbought('skipped_budget', 'The budget was spent.');
}

/**
 * Buys the last started attempt if the journal contains nothing about it. An attempt that is in the books is never
 * bought again, even if the journal has lost it. Its row then keeps its earlier outcome.
 */
export function buyOrKeep(batch: BatchWork, row: Row): void {
  const { was } = row.opened;
  if (was === undefined || !isBought(batch.input.campaign, row)) {
    // Discard the state that the lookups left, because the money for this attempt has not been taken yet.
    Object.assign(row, { phase: 'waiting', started: -1, create: null });
    return;
  }
  batch.end(row, unboughtResult(factsOf(batch.input.campaign, row), was.outcome, FORGOTTEN, Date.now()));
}

const FORGOTTEN =
  'The row was already bought, but the journal no longer contains the purchase, so it is not bought again automatically. Ask the service for its task, or give the row another ID.';
