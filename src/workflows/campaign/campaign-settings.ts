import { type BatchSettings } from '../../domain/campaign/messages';
import { type CampaignInput, DEFAULT_MAX_ATTEMPTS, DEFAULT_ROW_WAIT_MS } from '../../domain/campaign/plan';
import { milliseconds } from '../../domain/duration';
import { queuesOf } from '../inputs';
import { BATCH_EVENTS } from './history-limits';

export function batchSettings(input: CampaignInput): BatchSettings {
  const { account, policy, waitFor, maxAttempts } = input;
  return {
    waitForMs: milliseconds(waitFor ?? DEFAULT_ROW_WAIT_MS) ?? DEFAULT_ROW_WAIT_MS,
    maxAttempts: maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
    eventsPerRun: input.eventsPerRun ?? BATCH_EVENTS,
    queues: queuesOf(input.queues),
    ...(account !== undefined && { account }),
    ...(policy !== undefined && { policy }),
  };
}
