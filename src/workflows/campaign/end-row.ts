import { type ImageOutcome, outcomes, type VideoOutcome } from '../../domain/outcome';
import { mayHaveAnotherAttempt, rowResult, unboughtResult } from '../../domain/campaign/row-result';
import { type CampaignRowResult, type RowOutcome } from '../../domain/campaign/row';
import { countEndedVideo } from '../video-progress';
import { type BatchWork } from './batch-work';
import { creationKeyOf, factsOf, isBought, isStarted, type Row } from './batch-rows';

/**
 * Ends rows that are not bought when the budget is spent or the campaign is cancelled. Without money, bought rows
 * continue; after a cancellation, only those that were bought and have no result yet.
 */
export function endUnbought(batch: BatchWork, now: number): void {
  const { stop } = batch.orders;
  // A batch that hands back returns unfinished rows: the next one looks them up in the journal.
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

/** Whether attempts were bought that are in no results: they are collected, whatever the row's earlier outcome. */
function hasUncountedCost({ opened }: Row): boolean {
  return (opened.bought ?? 0) > 0;
}

function end(batch: BatchWork, row: Row, stop: 'budget' | 'cancel', now: number): void {
  const { was } = row.opened;
  const unknown = row.create?.unknown;
  // It was sent and its outcome is unknown: a stop order does not make it unbought.
  if (unknown !== undefined)
    return endOrRetry(batch, row, outcomes.unconfirmed(unknown, creationKeyOf(batch.input.campaign, row)));
  batch.budget.giveBack(row.cost);
  if (row.last !== null) return batch.end(row, row.last);
  const unbought = (outcome: RowOutcome, message: string) =>
    batch.end(row, unboughtResult(factsOf(batch.input.campaign, row), outcome, message, now));
  if (was !== undefined) unbought(was.outcome, 'It was not resumed.');
  else if (stop === 'cancel') unbought('cancelled', 'The campaign was cancelled.');
  else unbought('skipped_budget', 'The budget was spent.');
}

/**
 * Buys the last attempt that was started before when the journal has nothing of it. An attempt on the books is never
 * bought again, even if the journal has lost it: its row keeps its earlier outcome.
 */
export function buyOrKeep(batch: BatchWork, row: Row): void {
  const { was } = row.opened;
  if (was === undefined || !isBought(batch.input.campaign, row)) {
    // Drop the state of the lookups: the money for it is not taken yet.
    Object.assign(row, { phase: 'waiting', started: -1, create: null });
    return;
  }
  batch.end(row, unboughtResult(factsOf(batch.input.campaign, row), was.outcome, FORGOTTEN, Date.now()));
}

const FORGOTTEN =
  'It was bought before, and the journal no longer knows of it: it is not bought again by itself. Ask the service for its task, or give the row another id.';

/** Pause before another attempt, in milliseconds: doubled each time, up to the longest. */
const FIRST_PAUSE_MS = 15_000;
const LONGEST_PAUSE_MS = 5 * 60_000;

/** Ends an attempt: the row ends, or waits for another attempt under a key of its own. */
export function endOrRetry(batch: BatchWork, row: Row, outcome: VideoOutcome | ImageOutcome): void {
  const now = Date.now();
  const result = rowResult(factsOf(batch.input.campaign, row), outcome, now);
  const made = row.attempt - (row.opened.attempt ?? 0) + 1;
  if (row.spec.operation === 'create_video') countEndedVideo(outcome);
  // Under a budget, an attempt without a price would not be counted.
  const priced = batch.budget.granted() === null || row.spec.estimate !== null;
  const goesOn = row.attempt < row.started;
  const isOver = !priced || !mayHaveAnotherAttempt(result) || made >= batch.input.settings.maxAttempts;
  if (outcome.billing.state === 'none') {
    batch.budget.giveBack(row.cost);
    if (isFreeAfterAll(outcome)) batch.budget.free.add(creationKeyOf(batch.input.campaign, row));
  }
  if (isOver && !goesOn)
    return batch.end(row, isHeldByAnother(row, result) ? { ...result, outcome: 'changed' } : result);
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (made - 1)) * (0.75 + Math.random() / 2);
  Object.assign(row, {
    phase: 'waiting',
    attempt: row.attempt + 1,
    // The next attempt was started before: it is looked up at once.
    notBefore: goesOn ? 0 : Math.max(now + pause, notBeforeOf(outcome)),
    cost: 0,
    create: null,
    created: null,
    watch: null,
    ledger: result.ledger,
    last: result,
  });
}

/** Whether it cost nothing although the journal records it as bought, by this batch or another. */
function isFreeAfterAll(outcome: VideoOutcome | ImageOutcome): boolean {
  if (outcome.outcome === 'rejected') return outcome.reason === 'declared_lost';
  return outcome.outcome === 'failed';
}

/** Whether another text of this row was bought under its keys, by a campaign that ended before it had a result. */
function isHeldByAnother(row: Row, { outcome, reason, ledger }: CampaignRowResult): boolean {
  const isConflict = outcome === 'rejected' && reason === 'creation_key_conflict';
  return isConflict && isStarted(row) && ledger.some(({ state }) => state !== 'none');
}

/** The time that the service asked for, never shortened. */
function notBeforeOf(outcome: VideoOutcome | ImageOutcome): number {
  return outcome.outcome === 'rejected' && outcome.notBefore !== undefined
    ? Date.parse(outcome.notBefore)
    : 0;
}
