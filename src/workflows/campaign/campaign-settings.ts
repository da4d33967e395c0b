import { type BatchSettings } from '../../domain/campaign/messages';
import { type CampaignInput, DEFAULT_MAX_ATTEMPTS } from '../../domain/campaign/plan';
import { milliseconds, queuesOf } from '../inputs';

export const DEFAULT_CONCURRENCY = 100;
/** Bounds for the rows of one batch: enough to make its poll loop worthwhile, and few enough that it ends soon. */
const LEAST_ROWS = 100;
const MOST_ROWS = 1_250;

/** A batch hands back at this many history events: a replay takes seconds at most. */
const BATCH_EVENTS = 3_000;
/**
 * A campaign continues as new at this many history events; not sooner, as no poll is sent while all batches hand back.
 * At most a fourth are signals, of which a server accepts 10,000 per run.
 */
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

/** Maximum rows of the next batch. */
export function rowsOfBatch({ rowsPerBatch }: CampaignInput, concurrency: number): number {
  return rowsPerBatch ?? Math.min(MOST_ROWS, Math.max(LEAST_ROWS, 4 * concurrency));
}

/** Maximum open batches: those that fill the concurrency, half as many whose last rows end, and a few more. */
export function windowSize(input: CampaignInput, concurrency: number): number {
  return Math.ceil((1.5 * concurrency) / (input.rowsPerBatch ?? MOST_ROWS)) + 4;
}

/** Another batch is opened when open batches have fewer waiting rows than this. */
export const FEW_AT_HAND = 150;
