import { outcomes } from '../../domain/outcomes';
import { unboughtResult } from '../../domain/campaign/row-result';
import { endOrRetry } from './end-row';
import { type Lane } from './lane';
import { creationKeyOf, factsOf, isBegun, isBought, type LaneRow } from './lane-row';

/**
 * No money, or cancelled: rows that are not bought end. Without money, what is bought already goes on; cancelled, what
 * was bought and has no result yet.
 */
export function endUnbought(lane: Lane, now: number): void {
  const { stop } = lane.orders;
  if (stop === null) return;
  const ends = (row: LaneRow) =>
    stop === 'cancel'
      ? !isBegun(row) || (row.opened.was !== undefined && !hasUnbooked(row))
      : !isBegun(row) && !isBought(lane.input.campaign, row);
  for (const row of [...lane.rows]) if (row.phase === 'waiting' && ends(row)) end(lane, row, stop, now);
  for (let next = lane.pages.nextRow(); next !== undefined; next = lane.pages.nextRow()) {
    const row = lane.begin(next.lease, next.index, now);
    if (ends(row)) end(lane, row, stop, now);
  }
}

/** Attempts of it were bought of which no results tell: they are collected, whatever the row came to before. */
function hasUnbooked({ opened }: LaneRow): boolean {
  return (opened.bought ?? 0) > 0;
}

function end(lane: Lane, row: LaneRow, stop: 'budget' | 'cancel', now: number): void {
  const facts = factsOf(lane.input.campaign, row);
  const { was } = row.opened;
  const unknown = row.create?.unknown;
  // Sent, and nobody knows: that no more is wanted does not make it unbought.
  if (unknown !== undefined)
    endOrRetry(lane, row, outcomes.unconfirmed(unknown, creationKeyOf(lane.input.campaign, row)));
  else if (row.last !== null) lane.end(row, row.last);
  else if (was !== undefined)
    lane.end(row, unboughtResult(facts, was.outcome, 'It was not taken up again.', now));
  else if (stop === 'cancel')
    lane.end(row, unboughtResult(facts, 'cancelled', 'The campaign was cancelled.', now));
  else lane.end(row, unboughtResult(facts, 'skipped_budget', 'The budget was spent.', now));
}

/**
 * Nothing is in the journal of the last attempt that was begun before: it is bought now. One that the books hold never
 * is, whatever the journal has forgotten: its row stays what it was.
 */
export function buyOrKeep(lane: Lane, row: LaneRow): void {
  const { was } = row.opened;
  if (was === undefined || !isBought(lane.input.campaign, row)) {
    Object.assign(row, { phase: 'waiting', begun: -1 });
    return;
  }
  lane.end(row, unboughtResult(factsOf(lane.input.campaign, row), was.outcome, FORGOTTEN, Date.now()));
}

const FORGOTTEN =
  'It was bought before, and the journal no longer knows of it: it is not bought again by itself. Ask the service for its task, or give the row another id.';

/** Rows of pages that another lane has, and rows that another lane has ended, as far as they are not at the service. */
export function dropWaiting(lane: Lane): void {
  for (const row of [...lane.rows]) {
    const { phase, lease, index } = row;
    if (phase !== 'waiting' || !(lease.dropped || lease.there.has(index))) continue;
    lane.budget.settle(row.cost + row.spent, 0);
    lane.rows.delete(row);
    if (lease.there.has(index)) lease.end(index);
  }
}
