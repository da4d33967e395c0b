import { outcomes } from '../../domain/make-outcome';
import { unboughtResult } from '../../domain/campaign/row-result';
import { endOrRetry } from './end-row';
import { type BatchWork } from './batch-work';
import { creationKeyOf, factsOf, isStarted, isBought, type Row } from './row';

/**
 * No money, or cancelled: rows that are not bought end. Without money, what is bought already goes on; cancelled, what
 * was bought and has no result yet.
 */
export function endUnbought(batch: BatchWork, now: number): void {
  const { stop } = batch.orders;
  // A batch that leaves gives back what has not ended: what the journal has of it by now, the next one looks up.
  if (stop === null || batch.isLeaving()) return;
  const ends = (row: Row) =>
    stop === 'cancel'
      ? !isStarted(row) || (row.opened.was !== undefined && !hasUnbooked(row))
      : !isStarted(row) && !isBought(batch.input.campaign, row);
  for (const row of [...batch.rows]) if (row.phase === 'waiting' && ends(row)) end(batch, row, stop, now);
  for (let next = batch.pages.nextRow(); next !== undefined; next = batch.pages.nextRow()) {
    const row = batch.begin(next.set, next.index, now);
    if (ends(row)) end(batch, row, stop, now);
  }
}

/** Attempts of it were bought of which no results tell: they are collected, whatever the row came to before. */
function hasUnbooked({ opened }: Row): boolean {
  return (opened.bought ?? 0) > 0;
}

function end(batch: BatchWork, row: Row, stop: 'budget' | 'cancel', now: number): void {
  const facts = factsOf(batch.input.campaign, row);
  const { was } = row.opened;
  const unknown = row.create?.unknown;
  if (unknown === undefined) batch.account.giveBack(row.cost);
  // Sent, and nobody knows: that no more is wanted does not make it unbought.
  if (unknown !== undefined)
    endOrRetry(batch, row, outcomes.unconfirmed(unknown, creationKeyOf(batch.input.campaign, row)));
  else if (row.last !== null) batch.end(row, row.last);
  else if (was !== undefined)
    batch.end(row, unboughtResult(facts, was.outcome, 'It was not resumed again.', now));
  else if (stop === 'cancel')
    batch.end(row, unboughtResult(facts, 'cancelled', 'The campaign was cancelled.', now));
  else batch.end(row, unboughtResult(facts, 'skipped_budget', 'The budget was spent.', now));
}

/**
 * Nothing is in the journal of the last attempt that was started before: it is bought now. One that the books hold never
 * is, whatever the journal has forgotten: its row stays what it was.
 */
export function buyOrKeep(batch: BatchWork, row: Row): void {
  const { was } = row.opened;
  if (was === undefined || !isBought(batch.input.campaign, row)) {
    // Nothing of the looks is left: the money for it is not taken yet.
    Object.assign(row, { phase: 'waiting', started: -1, create: null });
    return;
  }
  batch.end(row, unboughtResult(factsOf(batch.input.campaign, row), was.outcome, FORGOTTEN, Date.now()));
}

const FORGOTTEN =
  'It was bought before, and the journal no longer knows of it: it is not bought again by itself. Ask the service for its task, or give the row another id.';
