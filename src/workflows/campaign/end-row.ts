import { type CampaignRowResult } from '../../domain/campaign/row';
import { mayHaveAnotherAttempt, rowResult } from '../../domain/campaign/row-result';
import { type ImageOutcome, type VideoOutcome } from '../../domain/outcome';
import { countEndedVideo } from '../video-progress';
import { creationKeyOf, factsOf, isStarted, type Row } from './batch-rows';
import { type BatchWork } from './batch-work';

/** Pause before another attempt, in milliseconds. It doubles each time, up to the maximum. */
const FIRST_PAUSE_MS = 15_000;
const LONGEST_PAUSE_MS = 5 * 60_000;

/** Ends an attempt. The row then either ends or waits for another attempt under a new key. */
export function endOrRetry(batch: BatchWork, row: Row, outcome: VideoOutcome | ImageOutcome): void {
  const now = Date.now();
  const result = rowResult(factsOf(batch.input.campaign, row), outcome, now);
  const made = row.attempt - (row.opened.attempt ?? 0) + 1;
  if (row.spec.operation === 'create_video') countEndedVideo(outcome);
  // If there is a budget, every attempt needs a price, because an attempt without one would not be counted.
  const priced = batch.budget.granted === null || row.spec.estimate !== null;
  const goesOn = row.attempt < row.started;
  const isOver = !priced || !mayHaveAnotherAttempt(result) || made >= batch.input.settings.maxAttempts;
  const { state } = outcome.billing;
  // Its charge is given back when the batch is closed, in the same entry that counts its bill, if there is one.
  if (isDeclaredLost(outcome) && state !== 'needs_review')
    batch.budget.free.add(creationKeyOf(batch.input.campaign, row));
  else if (state === 'none') batch.budget.giveBack(row.cost);
  if (isOver && !goesOn)
    return batch.end(row, isHeldByAnother(row, result) ? { ...result, outcome: 'changed' } : result);
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (made - 1)) * (0.75 + Math.random() / 2);
  Object.assign(row, {
    phase: 'waiting',
    attempt: row.attempt + 1,
    // The next attempt was started earlier, so it is looked up immediately.
    notBefore: goesOn ? 0 : Math.max(now + pause, notBeforeOf(outcome)),
    cost: 0,
    create: null,
    created: null,
    watch: null,
    ledger: result.ledger,
    last: result,
  });
}

/** Whether the journal charges the call to this batch or another one, and a person has declared it lost. */
function isDeclaredLost(outcome: VideoOutcome | ImageOutcome): boolean {
  return outcome.outcome === 'rejected' && outcome.reason === 'declared_lost';
}

/** Whether an earlier campaign bought different text under this row's keys, and ended before the call had a result. */
function isHeldByAnother(row: Row, { outcome, reason, ledger }: CampaignRowResult): boolean {
  const isConflict = outcome === 'rejected' && reason === 'creation_key_conflict';
  return isConflict && isStarted(row) && ledger.some(({ state }) => state !== 'none');
}

/** Returns the earliest time that the service allows for another attempt. This wait is never shortened. */
function notBeforeOf(outcome: VideoOutcome | ImageOutcome): number {
  return outcome.outcome === 'rejected' && outcome.notBefore !== undefined
    ? Date.parse(outcome.notBefore)
    : 0;
}
