import { workflowInfo } from '@temporalio/workflow';

/** When this execution or this run expires, in workflow time and milliseconds; null when neither does. */
export function executionExpiresAt(): number | null {
  const info = workflowInfo();
  const ends: number[] = [];
  if (info.executionExpirationTime !== undefined) ends.push(info.executionExpirationTime.getTime());
  if (info.runTimeoutMs !== undefined && info.runTimeoutMs > 0)
    ends.push(info.runStartTime.getTime() + info.runTimeoutMs);
  return ends.length === 0 ? null : Math.min(...ends);
}
