import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { unknownKey, type Keys } from '../domain/known-keys';
import { activityQueues } from '../domain/names';
import { type DurationInput, type MediaQueues } from '../domain/workflow-inputs';
import { msToNumber, type Duration } from '@temporalio/common/lib/time';

/** Milliseconds of a duration input; undefined when it is no duration at all. */
export function milliseconds(input: DurationInput): number | undefined {
  try {
    const value = msToNumber(input as Duration);
    return Number.isFinite(value) && value >= 0 ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The queues that media workers serve beside this workflow's own, as far as no others are named. */
export function queuesOf(named: MediaQueues | undefined): Required<MediaQueues> {
  return { ...activityQueues(workflowInfo().taskQueue), ...named };
}

/** Whether a caller named a task queue at all: on one that no media worker serves its calls would wait without a word. */
export function isTaskQueue(named: unknown): named is string {
  return typeof named === 'string' && named.trim() !== '';
}

/** What a helper says to a workflow that did not name one. */
export const NO_TASK_QUEUE =
  'taskQueue is missing: nothing was sent. Name the task queue of your media workers (their MEDIA_TASK_QUEUE); where this workflow runs on them itself, it is workflowInfo().taskQueue.';

/** Whether an untyped caller gave a request at all: a throw in workflow code would hang the execution. */
export function isRequest(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** For workflows that buy nothing: what cannot be understood is no outcome. @throws ApplicationFailure InvalidInput */
export function refuseUnknownKeys(input: unknown, known: Keys): void {
  const issue = unknownKey(input, known);
  if (issue !== undefined) throw ApplicationFailure.nonRetryable(issue.message, 'InvalidInput');
}
