import { type BatchSettings } from '../../domain/campaign/messages';
import { type CampaignInput, DEFAULT_MAX_ATTEMPTS } from '../../domain/campaign/plan';
import { milliseconds, queuesOf } from '../inputs';

export const DEFAULT_CONCURRENCY = 100;
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
