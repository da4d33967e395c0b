import { type BatchSettings } from '../../domain/campaign/messages';
import { type CampaignInput, DEFAULT_MAX_ATTEMPTS } from '../../domain/campaign/plan';
import { milliseconds, queuesOf } from '../inputs';

export const DEFAULT_CONCURRENCY = 100;
/** Rows of one batch: enough that its one poll loop is worth it, and few enough that it ends soon. */
const LEAST_ROWS = 100;
const MOST_ROWS = 1_250;

/** A batch hands back, and a campaign continues as new, at this much history: a replay takes seconds at most. */
const BATCH_EVENTS = 3_000;
/** No poll goes out while all batches hand back. At most a fourth are signals, of which a server takes 10,000 for a run. */
const CAMPAIGN_EVENTS = 16_000;

const DEFAULT_WAIT_MS = 60 * 60_000;

export function batchSettings(input: CampaignInput): BatchSettings {
  const { account, policy, waitFor, maxAttempts } = input;
  return {
    waitForMs: milliseconds(waitFor ?? DEFAULT_WAIT_MS) ?? DEFAULT_WAIT_MS,
    maxAttempts: maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
    eventsPerRun: input.eventsPerRun ?? BATCH_EVENTS,
    queues: queuesOf(input.queues),
    ...(account !== undefined && { account }),
    ...(policy !== undefined && { policy }),
  };
}

export function eventsOfCampaign({ eventsPerRun }: CampaignInput): number {
  return eventsPerRun ?? CAMPAIGN_EVENTS;
}

/** Rows that the next batch takes at most. */
export function rowsOfBatch({ rowsPerBatch }: CampaignInput, concurrency: number): number {
  return rowsPerBatch ?? Math.min(MOST_ROWS, Math.max(LEAST_ROWS, 4 * concurrency));
}

/** Batches that may be open at a time: those that fill the concurrency, half as many whose last rows end, and a few more. */
export function windowSize(input: CampaignInput, concurrency: number): number {
  return Math.ceil((1.5 * concurrency) / (input.rowsPerBatch ?? MOST_ROWS)) + 4;
}

/** Rows at hand below which another batch is opened. */
export const FEW_AT_HAND = 150;
