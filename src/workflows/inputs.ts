import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { activityQueues, INVALID_INPUT, taskQueueCheck } from '../domain/names';
import { isObject, type Shape, shapeIssue } from '../domain/shape';
import { type ValidationIssue } from '../domain/validation-issue';
import { type MediaQueues } from '../domain/workflow-inputs';

/** The queues that media workers serve beside this workflow's own; those in `named` take precedence. */
export function queuesOf(named: MediaQueues | undefined): Required<MediaQueues> {
  return { ...activityQueues(workflowInfo().taskQueue), ...named };
}

/** Why a helper cannot use the queue that it was given: a call on a queue without media workers would wait silently. */
export function taskQueueIssue(named: unknown): string | undefined {
  const isNamed = typeof named === 'string' && named.trim() !== '';
  return isNamed ? taskQueueCheck(named, 'taskQueue')?.message : NO_TASK_QUEUE;
}

const NO_TASK_QUEUE =
  'taskQueue is missing: nothing was sent. Name the task queue of your media workers (their MEDIA_TASK_QUEUE); where this workflow runs on them itself, it is workflowInfo().taskQueue.';

/**
 * What is wrong with the input of a workflow, which anybody may have stored and handed back: a throw in workflow code
 * would fail the workflow task again and again. Only a run that continues another has state of ours in `carried`.
 */
export function inputIssue(input: unknown, shape: Shape): ValidationIssue | undefined {
  const continues = workflowInfo().continuedFromExecutionRunId !== undefined;
  return shapeIssue(continues && isObject(input) ? { ...input, carried: undefined } : input, shape);
}

/** For workflows that have no outcome to return. @throws ApplicationFailure InvalidInput */
export function requireInput(input: unknown, shape: Shape): void {
  const issue = inputIssue(input, shape);
  if (issue !== undefined) throw ApplicationFailure.nonRetryable(issue.message, INVALID_INPUT);
}
