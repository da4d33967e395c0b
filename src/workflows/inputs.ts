import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { unknownKey, type Keys } from '../domain/known-keys';
import { activityQueues } from '../domain/names';
import { type DurationInput, type MediaQueues } from '../domain/workflow-inputs';
import { msToNumber, type Duration } from '@temporalio/common/lib/time';

/** Milliseconds of a duration input; undefined when it is not a duration. */
export function milliseconds(input: DurationInput): number | undefined {
  try {
    const value = msToNumber(input as Duration);
    return Number.isFinite(value) && value >= 0 ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The queues that media workers serve beside this workflow's own; those in `named` take precedence. */
export function queuesOf(named: MediaQueues | undefined): Required<MediaQueues> {
  return { ...activityQueues(workflowInfo().taskQueue), ...named };
}

/** Whether a caller named a task queue. Calls on a queue that no media worker serves would wait silently. */
export function isTaskQueue(named: unknown): named is string {
  return typeof named === 'string' && named.trim() !== '';
}

/** Message of a helper when the calling workflow named no task queue. */
export const NO_TASK_QUEUE =
  'taskQueue is missing: nothing was sent. Name the task queue of your media workers (their MEDIA_TASK_QUEUE); where this workflow runs on them itself, it is workflowInfo().taskQueue.';

/** Whether an untyped caller passed a request object: a throw in workflow code would hang the execution. */
export function isRequest(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** For workflows that buy nothing and have no outcome to return. @throws ApplicationFailure InvalidInput */
export function refuseUnknownKeys(input: unknown, known: Keys): void {
  const issue = unknownKey(input, known);
  if (issue !== undefined) throw ApplicationFailure.nonRetryable(issue.message, 'InvalidInput');
}
