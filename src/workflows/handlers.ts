import {
  ApplicationFailure,
  defineQuery,
  type defineUpdate,
  log,
  type QueryDefinition,
  setHandler,
  type SignalDefinition,
  workflowInfo,
} from '@temporalio/workflow';
import { activityQueues, INVALID_INPUT, QUERY, taskQueueCheck } from '../domain/names';
import { type Check, isObject, type Shape, shapeIssue, type ValidationIssue } from '../domain/shape';
import { type CallWait } from '../domain/video-state';
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

/** Query of every workflow that buys: only a worker's process knows why it refuses, and its answers say so. */
export const waitsQuery = defineQuery<readonly CallWait[]>(QUERY.waits);

/**
 * The only `setHandler` calls. Any client may send any message to any workflow, and a throw in a handler fails the
 * workflow task again and again: what does not fit never reaches the code behind a handler.
 *
 * @module
 */

/** What is wrong with the arguments of a message; undefined where they fit. */
type Refuse = (...args: readonly unknown[]) => string | undefined;

/** The first argument is checked, others are ignored. */
export function fits(check: Check): Refuse {
  return (given) => check(given, '')?.message;
}

/** For a message without input: whatever comes with it is ignored. */
export const NO_INPUT: Refuse = () => undefined;

/** A signal that does not fit is skipped, and its name is logged: a signal has no reply. */
export function onSignal<Args extends unknown[]>(
  signal: SignalDefinition<Args>,
  refuse: Refuse,
  handle: (...args: NoInfer<Args>) => void | Promise<void>,
): void {
  setHandler(signal, (...args: Args) => {
    const issue = refuse(...args);
    if (issue === undefined) return handle(...args);
    log.warn('Skipped a malformed signal', { signal: signal.name, issue });
  });
}

/** The items that fit: one that does not must not keep the others from being handled. */
export function thatFit<Item>(items: readonly Item[], check: Check<Item>): Item[] {
  const fitting = items.filter((item) => check(item, '') === undefined);
  const skipped = items.length - fitting.length;
  if (skipped > 0) log.warn('Skipped malformed items of a signal', { skipped });
  return fitting;
}

/** An Update that does not fit is refused with the reason, and leaves no event. */
export function onUpdate<Result, Args extends unknown[]>(
  update: ReturnType<typeof defineUpdate<Result, Args>>,
  refuse: Refuse,
  handle: (...args: NoInfer<Args>) => Result | Promise<Result>,
): void {
  setHandler(update, handle, {
    validator: (...args: Args) => {
      const issue = refuse(...args);
      if (issue !== undefined) throw ApplicationFailure.nonRetryable(issue, INVALID_INPUT);
    },
  });
}

/** A query that throws fails alone, so that its arguments are left to it. */
export function onQuery<Result, Args extends unknown[]>(
  query: QueryDefinition<Result, Args>,
  answer: (...args: NoInfer<Args>) => Result,
): void {
  setHandler(query, answer);
}
