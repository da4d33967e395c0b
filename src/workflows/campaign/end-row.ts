import { type ImageOutcome, type VideoOutcome } from '../../domain/outcome';
import { rowResult } from '../../domain/campaign/row-result';
import { type CampaignRowResult } from '../../domain/campaign/row';
import { type Lane } from './lane';
import { factsOf, isBegun, type LaneRow } from './lane-row';

/** Pause before another attempt: doubled each time, up to the longest. */
const FIRST_PAUSE_MS = 15_000;
const LONGEST_PAUSE_MS = 5 * 60_000;

/**
 * The attempt is over: the row ends, or waits for another attempt under a key of its own. Only what the service had no
 * room for is tried again by itself; moderation, wrong requests and quota are final (design 4.11, C3.7).
 */
export function endOrRetry(lane: Lane, row: LaneRow, outcome: VideoOutcome | ImageOutcome): void {
  const now = Date.now();
  const result = rowResult(factsOf(lane.input.campaign, row), outcome, now);
  const made = row.attempt - (row.opened.attempt ?? 0) + 1;
  // Under a budget an attempt without a price would be bought for nothing.
  const priced = lane.orders.granted === null || row.spec.estimate !== null;
  const goesOn = row.attempt < row.begun;
  const isOver = !priced || !isWorthAnother(outcome) || made >= lane.input.settings.maxAttempts;
  if (isOver && !goesOn)
    return lane.end(row, isHeldByAnother(row, result) ? { ...result, outcome: 'changed' } : result);
  if (outcome.billing.state === 'none') lane.budget.giveBack(row.cost);
  else row.spent += row.cost;
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (made - 1)) * (0.75 + Math.random() / 2);
  Object.assign(row, {
    phase: 'waiting',
    attempt: row.attempt + 1,
    // Another attempt that was begun before is looked up at once.
    notBefore: goesOn ? 0 : Math.max(now + pause, notBeforeOf(outcome)),
    cost: 0,
    create: null,
    created: null,
    watch: null,
    record: null,
    ledger: result.ledger,
    last: result,
  });
}

/** Another text of this row was bought under its keys by a campaign that ended before it had a result. */
function isHeldByAnother(row: LaneRow, { outcome, reason, ledger }: CampaignRowResult): boolean {
  const isConflict = outcome === 'rejected' && reason === 'creation_key_conflict';
  return isConflict && isBegun(row) && ledger.some(({ state }) => state !== 'none');
}

function isWorthAnother(outcome: VideoOutcome | ImageOutcome): boolean {
  switch (outcome.outcome) {
    case 'failed':
      return outcome.retryable;
    case 'rejected':
      return outcome.reason === 'capacity' || outcome.reason === 'retry_later';
    default:
      return false;
  }
}

/** The service's own time, never shortened (C8.7). */
function notBeforeOf(outcome: VideoOutcome | ImageOutcome): number {
  return outcome.outcome === 'rejected' && outcome.notBefore !== undefined
    ? Date.parse(outcome.notBefore)
    : 0;
}
