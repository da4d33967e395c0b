import { workflowInfo } from '@temporalio/workflow';
import { type CampaignInput } from '../../domain/campaign/plan';

// How much history a run may have: then a campaign continues as new, and a batch ends and hands its rows back. A batch
// never continues as new itself.

/**
 * A campaign continues as new at this many history events; not sooner, as no poll is sent while all batches hand back.
 * At most a fourth are signals, of which a server accepts 10,000 per run.
 */
const CAMPAIGN_EVENTS = 16_000;
/** A campaign continues as new at this much history in any case: the server ends one of 51,200 events or 50 MB. */
const MOST_EVENTS = 40_000;
const MOST_BYTES = 30_000_000;

/** @param hasClosed whether a batch was closed in this run */
export function continuesAsNew({ eventsPerRun }: CampaignInput, hasClosed: boolean): boolean {
  const { events, bytes } = historyNow();
  if (events >= MOST_EVENTS || bytes >= MOST_BYTES) return true;
  // A run that ended before any batch was closed would only open batches, and the next run the same. The server
  // suggests to continue as new far earlier, and no poll is sent while all batches hand back.
  return hasClosed && events >= (eventsPerRun ?? CAMPAIGN_EVENTS);
}

/** A batch hands back at this many history events: a replay takes seconds at most. */
export const BATCH_EVENTS = 3_000;
/** A history of this many bytes is full too: a server warns at 10 MB. It suggests a new run at half of this. */
const BATCH_BYTES = 8_000_000;
/** Enough events to poll and download what was bought before: with fewer, batches would hand rows back endlessly. */
const LEAST_BATCH_EVENTS = 50;
/** While image calls are open, the history of a batch may become this many times as full as it should be. */
const WITH_IMAGE_CALLS = 1.5;

export interface HistorySize {
  readonly events: number;
  readonly bytes: number;
}

export function historyNow(): HistorySize {
  const { historyLength, historySize } = workflowInfo();
  return { events: historyLength, bytes: historySize };
}

/** Share of what the history of a batch may hold that was added since. */
export function fullnessSince(since: HistorySize, eventsPerRun: number): number {
  const { events, bytes } = historyNow();
  const ofEvents = (events - since.events) / Math.max(LEAST_BATCH_EVENTS, eventsPerRun);
  return Math.max(ofEvents, (bytes - since.bytes) / BATCH_BYTES);
}

/**
 * Whether a batch should hand back.
 * @param imageCallsOpen they may take minutes: videos continue, and no other image call starts meanwhile
 */
export function isFull(fullness: number, imageCallsOpen: boolean): boolean {
  return fullness >= (imageCallsOpen ? WITH_IMAGE_CALLS : 1);
}
