import {
  ApplicationFailure,
  CancellationScope,
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

/** Returns the activity queues for this workflow's own queue. Queues in `named` take precedence. */
export function queuesOf(named: MediaQueues | undefined): Required<MediaQueues> {
  return { ...activityQueues(workflowInfo().taskQueue), ...named };
}

/**
 * Returns the reason that a helper cannot use the given queue. On a queue without media workers, a call would wait
 * silently.
 */
export function taskQueueIssue(named: unknown): string | undefined {
  const isNamed = typeof named === 'string' && named.trim() !== '';
  return isNamed ? taskQueueCheck(named, 'taskQueue')?.message : NO_TASK_QUEUE;
}

const NO_TASK_QUEUE =
  'taskQueue is missing: nothing was sent. Specify the task queue of your media workers (their MEDIA_TASK_QUEUE). If this workflow itself runs on them, use workflowInfo().taskQueue.';

/**
 * Returns the problem with a workflow's input. The input is always checked, because any caller can pass anything,
 * including a stored `carried`, and an exception in workflow code would fail the workflow task repeatedly. `carried` is
 * this package's own state only in a run that continues another one.
 */
export function inputIssue(input: unknown, shape: Shape): ValidationIssue | undefined {
  const continues = workflowInfo().continuedFromExecutionRunId !== undefined;
  return shapeIssue(continues && isObject(input) ? { ...input, carried: undefined } : input, shape);
}

/** Rejects invalid input of a workflow that has no outcome to return. @throws ApplicationFailure InvalidInput */
export function requireInput(input: unknown, shape: Shape): void {
  const issue = inputIssue(input, shape);
  if (issue !== undefined) throw ApplicationFailure.nonRetryable(issue.message, INVALID_INPUT);
}

/**
 * A query that every paid workflow answers with the reasons its calls are waiting. Only a worker's process knows why it
 * rejects calls, so the reasons are taken from its answers.
 */
export const waitsQuery = defineQuery<readonly CallWait[]>(QUERY.waits);

/**
 * Contains the only `setHandler` calls. Any client may send any message to any workflow, and an exception in a handler
 * fails the workflow task repeatedly. Invalid messages therefore never reach the code behind a handler.
 *
 * @module
 */

/** Returns the problem with a message's arguments; undefined if they are valid. */
type Refuse = (...args: readonly unknown[]) => string | undefined;

/** Returns a function that checks the first argument and ignores the others. */
export function fits(check: Check): Refuse {
  return (given) => check(given, '')?.message;
}

/** For a message without input. Arguments are ignored. */
export const NO_INPUT: Refuse = () => undefined;

/** Handles a signal. An invalid signal is skipped, and its name is logged because a signal has no reply. */
export function onSignal<Args extends unknown[]>(
  signal: SignalDefinition<Args>,
  refuse: Refuse,
  handle: (...args: NoInfer<Args>) => void | Promise<void>,
): void {
  setHandler(signal, (...args: Args) => {
    const issue = refuse(...args);
    if (issue === undefined) return handle(...args);
    log.warn('A malformed signal was skipped', { signal: signal.name, issue });
  });
}

/** Returns the valid items, so that an invalid one does not prevent the others from being handled. */
export function thatFit<Item>(items: readonly Item[], check: Check<Item>): Item[] {
  const fitting = items.filter((item) => check(item, '') === undefined);
  const skipped = items.length - fitting.length;
  if (skipped > 0) log.warn('Malformed items in a signal were skipped', { skipped });
  return fitting;
}

/** Handles an Update. An invalid Update is rejected with the reason, and leaves no event. */
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

/** Handles a query. An exception fails only the query, so the handler checks its own arguments. */
export function onQuery<Result, Args extends unknown[]>(
  query: QueryDefinition<Result, Args>,
  answer: (...args: NoInfer<Args>) => Result,
): void {
  setHandler(query, answer);
}

/**
 * A hook in your workflow code that receives states, for example to publish them in a memo, a signal or a query. It is
 * called with a copy of a state that the workflow has anyway, so it adds no events or timers and replays identically.
 * The commands that the hook itself issues become part of the workflow's history: guard a new or changed hook with
 * `patched` while workflows are open. A paid call neither waits for the hook nor fails because of it: a hook that throws
 * or rejects is logged by its error's name.
 */
export type OnProgress<State> = (state: State) => void | PromiseLike<void>;

/**
 * Returns a function that passes the current state to the hook if its facts differ from the last ones. An untyped
 * caller may pass anything as a hook; only functions are called.
 */
export function reportProgress<State>(
  hook: OnProgress<State> | undefined,
  factsOf: (state: State) => unknown,
): (current: () => State) => void {
  if (typeof hook !== 'function') return () => undefined;
  let last = '';
  return (current) => {
    const state = current();
    const facts = JSON.stringify(factsOf(state));
    if (facts === last) return;
    last = facts;
    // A changed copy changes nothing here. A canceled workflow can still publish how it ended.
    const copy = JSON.parse(JSON.stringify(state)) as State;
    CancellationScope.nonCancellable(async () => hook(copy)).catch((error: unknown) =>
      // The message may quote a prompt.
      log.warn('An onProgress hook failed, and the call continues', {
        error: error instanceof Error ? error.name : typeof error,
      }),
    );
  };
}
