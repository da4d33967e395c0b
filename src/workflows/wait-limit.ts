import { workflowInfo } from '@temporalio/workflow';
import { POLL_TIMEOUTS } from '../domain/timeouts';
import { type PollingProfile } from '../domain/polling-profile';

/**
 * The last moment at which a wait may still end by itself: one interval, one poll and a margin before the execution
 * or this run expires (design 4.5). Null when nothing expires. Workflow time, milliseconds.
 */
export function hardEnd(polling: PollingProfile): number | null {
  const info = workflowInfo();
  const ends: number[] = [];
  if (info.executionExpirationTime !== undefined) ends.push(info.executionExpirationTime.getTime());
  if (info.runTimeoutMs !== undefined && info.runTimeoutMs > 0)
    ends.push(info.runStartTime.getTime() + info.runTimeoutMs);
  if (ends.length === 0) return null;
  const interval = polling.maxSeconds * 1000;
  // Start-to-close of a tick is its budget, at most the interval, plus the margin of the table.
  return (
    Math.min(...ends) - (interval + interval + POLL_TIMEOUTS.overBudgetMs + POLL_TIMEOUTS.expiryMarginMs)
  );
}
