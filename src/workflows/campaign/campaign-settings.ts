import { type LaneSettings } from '../../domain/campaign/lane-state';
import { type CampaignInput, DEFAULT_MAX_ATTEMPTS } from '../../domain/campaign/plan';
import { milliseconds, queuesOf } from '../inputs';

export const DEFAULT_CONCURRENCY = 100;
/** Rows in flight that one lane holds well, and lanes that a small machine holds well (design 4.11). */
export const LANE_ROWS = 500;
export const MAX_LANES = 20;

/** A run is left behind at this much history: replaying it stays cheap (design 4.11). */
export const DEFAULT_EVENTS_PER_RUN = 2_000;

const DEFAULT_WAIT_MS = 60 * 60_000;

export function laneSettings(input: CampaignInput): LaneSettings {
  const { account, policy, waitFor, maxAttempts } = input;
  return {
    waitForMs: milliseconds(waitFor ?? DEFAULT_WAIT_MS) ?? DEFAULT_WAIT_MS,
    maxAttempts: maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
    eventsPerRun: input.eventsPerRun ?? DEFAULT_EVENTS_PER_RUN,
    queues: queuesOf(input.queues),
    ...(account !== undefined && { account }),
    ...(policy !== undefined && { policy }),
  };
}
