import { workflowInfo } from '@temporalio/workflow';
import { type CampaignInput } from '../../domain/campaign/plan';

// Limits on the history of a run. When its history reaches a limit, a campaign continues as new, and a batch hands back
// its rows and ends. A batch never continues as new.

/**
 * A campaign continues as new at this many history events. A lower limit would interrupt polling more often, because no
 * polls are sent while all batches hand back their rows. At most a quarter of the events are signals, and a server
 * accepts 10,000 signals per run.
 */
const CAMPAIGN_EVENTS = 16_000;
/**
 * A campaign always continues as new at this many history events, because the server terminates a run with 51,200
 * events or 50 MB.
 */
const MOST_EVENTS = 40_000;
const MOST_BYTES = 30_000_000;

/** @param hasClosed whether a batch was closed in this run */
export function continuesAsNew({ eventsPerRun }: CampaignInput, hasClosed: boolean): boolean {
  const { events, bytes } = historyNow();
  if (events >= MOST_EVENTS || bytes >= MOST_BYTES) return true;
  // Each run is pinned to one worker version, and the next run moves to the new one. The server records this in the
  // history, so a replay decides the same. It does not report a new version to a run that an operator has pinned.
  if (workflowInfo().targetWorkerDeploymentVersionChanged) return true;
  // A run that ended before any batch was closed would only open batches, and so would the next run. The server's
  // suggestion to continue as new is ignored because it arrives far earlier, and no polls are sent while all batches
  // hand back their rows.
  return hasClosed && events >= (eventsPerRun ?? CAMPAIGN_EVENTS);
}

/** A batch hands back its rows at this many history events, so that a replay takes only seconds. */
export const BATCH_EVENTS = 3_000;
/**
 * A history of this many bytes also counts as full. The server warns at 10 MB, and suggests a new run at half of this
 * constant.
 */
const BATCH_BYTES = 8_000_000;
/**
 * Enough events to poll and download what was bought earlier. With fewer events, batches would hand rows back
 * endlessly.
 */
const LEAST_BATCH_EVENTS = 50;
/** While image calls are open, a batch's history may grow to this multiple of its limit. */
const WITH_IMAGE_CALLS = 1.5;

export interface HistorySize {
  readonly events: number;
  readonly bytes: number;
}

export function historyNow(): HistorySize {
  const { historyLength, historySize } = workflowInfo();
  return { events: historyLength, bytes: historySize };
}

/** Returns the share of a batch's history limit that the batch has used after `since`. */
export function fullnessSince(since: HistorySize, eventsPerRun: number): number {
  const { events, bytes } = historyNow();
  const ofEvents = (events - since.events) / Math.max(LEAST_BATCH_EVENTS, eventsPerRun);
  return Math.max(ofEvents, (bytes - since.bytes) / BATCH_BYTES);
}

/**
 * Whether a batch should hand back its rows.
 * @param imageCallsOpen whether image calls are open. They may take minutes. In the meantime, videos continue and no
 * other image calls start
 */
export function isFull(fullness: number, imageCallsOpen: boolean): boolean {
  return fullness >= (imageCallsOpen ? WITH_IMAGE_CALLS : 1);
}
