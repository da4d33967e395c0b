import { activityInfo, Context } from '@temporalio/activity';
import {
  ActivityNotFoundError,
  type Client,
  isGrpcServiceError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { attemptClock } from '../domain/clocks';
import { mapConcurrently } from '../domain/map-concurrently';
import { type Metrics, NO_METRICS } from '../domain/metrics';
import {
  activityQueues,
  INVALID_INPUT,
  isOpen,
  QUERY,
  RETRY_LATER,
  SIGNAL,
  STARTED_BY,
  WORKFLOW,
} from '../domain/names';
import {
  type JoinedWatch,
  joinedWatchCheck,
  type TellVideosInput,
  type WatchResult,
  type WatchAnswer,
  type WatchedState,
  type WatcherContents,
  type WatcherFacts,
  watchesLeft,
  type WatchVideoInput,
} from '../domain/watcher';
import { reported, reportIfMistake } from './failures';

/**
 * Lets a video join its watcher and receive the result of its watch, both through the worker's client.
 *
 * @module
 */

/** gRPC code: this worker is not allowed to start workflows, and retrying does not change that. */
const PERMISSION_DENIED = 7;

/**
 * Joins the video to its watcher, then fails deliberately. Until its next attempt, the activity waits on the server,
 * where the watcher completes it (ADR 26). Attempts are short, so an attempt that dies with its worker is soon
 * repeated.
 */
export function createWatchVideo(
  recovery: { begin(client: Client, taskQueue: string): void },
  metrics: Metrics,
): (input: WatchVideoInput) => Promise<WatchAnswer> {
  const joining = new JoinedTogether();
  return async (input) => {
    const { watcher } = input;
    const { client } = Context.current();
    const { attempt, workflowExecution } = activityInfo();
    const serverTime = attemptClock(activityInfo(), () => performance.now());
    const found =
      attempt === 1 ? 'joined' : await askFor(client, watcher, workflowExecution?.workflowId ?? '');
    metrics.record('watchJoins', 1, { result: found });
    if (found === 'unanswered')
      throw ApplicationFailure.nonRetryable('The watcher does not respond.', 'WatcherStuck');
    if (found !== 'kept') await join(joining, input);
    recovery.begin(client, watcher.taskQueue);
    throw waits(serverTime());
  };
}

/** Time until the next attempt checks whether the watcher still has the video, in milliseconds. */
const CHECK_AFTER_MS = 10 * 60_000;
/** Share of the remaining time to wait before the next attempt: the server does not retry after schedule-to-close. */
const SHARE_OF_REST = 0.75;
/** If less time is left, the activity is not retried and the video polls on its own. */
const LEAST_REST_MS = 3_000;

function waits(now: number): ApplicationFailure {
  const { scheduledTimestampMs, scheduleToCloseTimeoutMs } = activityInfo();
  const restMs = scheduledTimestampMs + scheduleToCloseTimeoutMs - now;
  return ApplicationFailure.create({
    type: RETRY_LATER,
    message: 'A watcher polls the task and completes this activity.',
    category: ApplicationFailureCategory.BENIGN,
    nonRetryable: restMs < LEAST_REST_MS,
    nextRetryDelay: Math.round(Math.min(CHECK_AFTER_MS, Math.max(1, restMs) * SHARE_OF_REST)),
  });
}

/** Maximum wait for a watcher's reply, in milliseconds. */
const ANSWER_MS = 5_000;

/**
 * Checks, in a later attempt, whether the watcher still has the video. If the watcher does not respond, the video polls
 * on its own.
 */
async function askFor(
  client: Client,
  { workflowId }: WatcherFacts,
  videoId: string,
): Promise<'kept' | 'rejoined' | 'unanswered'> {
  try {
    const handle = client.workflow.getHandle(workflowId);
    return await client.withDeadline(Date.now() + ANSWER_MS, async () => {
      const { status } = await handle.describe();
      // The watcher was closed, so its next run takes over the video.
      if (!isOpen(status.name)) return 'rejoined';
      const state = await handle.query<WatchedState | null, [string]>(QUERY.watchState, videoId);
      return state === null ? 'rejoined' : 'kept';
    });
  } catch (error) {
    return error instanceof WorkflowNotFoundError ? 'rejoined' : 'unanswered';
  }
}

async function join(joining: JoinedTogether, { watcher, state, takesFile }: WatchVideoInput): Promise<void> {
  const { client } = Context.current();
  const { workflowExecution, activityId } = activityInfo();
  if (workflowExecution === undefined)
    throw ApplicationFailure.nonRetryable('media.watchVideo must be called from a workflow.', INVALID_INPUT);
  const waiter = { ...workflowExecution, activityId, ...(takesFile === true && { takesFile }) };
  const watch = { waiter, state };
  // The watcher would skip this video, so the video immediately polls on its own.
  const issue = joinedWatchCheck(watch, '');
  if (issue !== undefined) throw ApplicationFailure.nonRetryable(issue.message, INVALID_INPUT);
  try {
    await joining.join(client, watcher, watch);
  } catch (error) {
    const { cause } = error as Error;
    if (isGrpcServiceError(cause) && Number(cause.code) === PERMISSION_DENIED)
      throw ApplicationFailure.nonRetryable(
        'This worker is not allowed to start a watcher.',
        'PermissionDenied',
      );
    throw error;
  }
}

/** Maximum number of videos in one signal. */
export const MAX_JOINS = 500;

/** Joins videos to their watcher, starting it if it is not running. Idempotent. */
export async function joinWatcher(
  client: Client,
  { workflowId, taskQueue, input }: WatcherFacts,
  joins: readonly JoinedWatch[],
): Promise<void> {
  for (let from = 0; from < joins.length; from += MAX_JOINS)
    await client.workflow.signalWithStart(WORKFLOW.watchVideos, {
      workflowId,
      taskQueue,
      args: [input],
      signal: SIGNAL.watchJoin,
      signalArgs: [joins.slice(from, from + MAX_JOINS)],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      memo: STARTED_BY,
      staticSummary: 'Polls the tasks of many videos',
      // Takes priority over a burst of starts, which must not delay polls. Without a priority, a queue is served in
      // order.
      priority: { priorityKey: 1 },
    });
}

/** Milliseconds for which a watcher's joins are collected into one signal. */
const TOGETHER_MS = 1_000;
/** Joins that a process collects at most. Each occupies a slot of the poll queue, which ticks need too. */
export const MOST_TOGETHER = 25;

/** Collects a watcher's joins, because each signal costs a workflow task. The first poll happens later anyway. */
export class JoinedTogether {
  private readonly open = new Map<
    string,
    { joins: JoinedWatch[]; sent: Promise<void>; sendNow: () => void }
  >();
  private waiting = 0;

  constructor(private readonly togetherMs = TOGETHER_MS) {}

  /** Resolves when the server has received the join. */
  join(client: Client, watcher: WatcherFacts, join: JoinedWatch): Promise<void> {
    const key = `${client.options.namespace}\n${watcher.workflowId}`;
    let group = this.open.get(key);
    if (group === undefined) {
      const joins: JoinedWatch[] = [];
      let sendNow!: () => void;
      const sent = new Promise<void>((resolve) => (sendNow = resolve)).then(() => {
        this.open.delete(key);
        this.waiting -= joins.length;
        return joinWatcher(client, watcher, joins);
      });
      setTimeout(sendNow, this.togetherMs).unref();
      group = { joins, sent, sendNow };
      this.open.set(key, group);
    }
    group.joins.push(join);
    this.waiting += 1;
    if (this.waiting >= MOST_TOGETHER) for (const { sendNow } of this.open.values()) sendNow();
    return group.sent;
  }
}

const CONCURRENT = 10;

/**
 * Implements `media.tellVideos`: completes each video's activity. If the server did not accept an answer, the attempt
 * fails after sending the others, and the next attempt repeats all of them.
 */
export function createTellVideos(metrics: Metrics): (input: TellVideosInput) => Promise<void> {
  return async ({ told: results }) => {
    const { client } = Context.current();
    const failed: unknown[] = [];
    await mapConcurrently(results, CONCURRENT, async (one) => {
      try {
        await completeWatch(client, metrics, one);
      } catch (error) {
        failed.push(error);
      }
    });
    if (failed.length > 0) throw failed[0];
  };
}

/**
 * Completes the activity where a video waits. A missing activity is not an error: it has ended, or the video will join
 * again.
 * @throws when the server did not accept the answer
 */
async function completeWatch(
  client: Client,
  metrics: Metrics,
  { waiter, answer }: WatchResult,
): Promise<void> {
  const { workflowId, runId, activityId } = waiter;
  let result: 'told' | 'full' | 'gone' = answer.kind === 'full' ? 'full' : 'told';
  try {
    await client.activity.complete({ workflowId, runId, activityId }, answer);
  } catch (error) {
    if (!(error instanceof ActivityNotFoundError)) throw error;
    result = 'gone';
  }
  metrics.record('watchEnds', 1, { result });
}

/**
 * Pauses between attempts to send an answer, in milliseconds. An answer must not wait for the slowest file in its
 * delivery.
 */
const AGAIN_MS = [1_000, 2_000, 4_000];

/** Retries {@link completeWatch} a few times. */
export async function completeWatchWithRetries(
  client: Client,
  metrics: Metrics,
  result: WatchResult,
): Promise<void> {
  for (const pauseMs of AGAIN_MS) {
    try {
      return await completeWatch(client, metrics, result);
    } catch (error) {
      reportIfMistake(error);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  await completeWatch(client, metrics, result);
}

/** Milliseconds between two of a process's searches, plus or minus a quarter. Shorter than the usual poll interval. */
const EVERY_MS = 3_000;
/**
 * With more processes than this, each one searches less often, so that together they search about once per second. By
 * default, a server answers 10 such requests per second for a namespace.
 */
const AT_FULL_PACE = 3;
/** `TASK_QUEUE_TYPE_ACTIVITY` in the Temporal API. */
const ACTIVITIES = 2;
/** How far back a search for closed watchers goes, in milliseconds. */
const WINDOW_MS = 10 * 60_000;
/** Maximum wait for a reply from a closed watcher, whose history a worker must replay, in milliseconds. */
const CLOSED_ANSWER_MS = 10_000;
/** Consecutive searches without a reply from the server after which searching stops until the next video joins. */
const MAX_FAILURES = 30;
/** How long searches continue after the last video has joined, in milliseconds, because visibility lags. */
const LINGER_MS = 60_000;

/**
 * If a watcher was terminated or has failed, rejoins its videos to another run of it. As long as a queue has open
 * watchers, every process that runs activities searches for closed ones. Joining is idempotent. A video that is missed
 * here joins again at its next attempt (ADR 26).
 */
export class WatchRecovery {
  private readonly searches = new Map<string, Search>();
  /** Closed runs whose videos have rejoined. */
  private readonly done = new Set<string>();
  private closed = false;

  constructor(
    private readonly metrics: Metrics = NO_METRICS,
    private readonly everyMs = EVERY_MS,
  ) {}

  /** Called when a worker starts: searches until the queue has no open watcher. Never throws. */
  resume(client: Client, taskQueue: string): void {
    this.searchUntil(client, taskQueue, 0);
  }

  /** Called when a video joins: starts or extends the search. Never throws. */
  begin(client: Client, taskQueue: string): void {
    this.searchUntil(client, taskQueue, performance.now() + LINGER_MS);
  }

  private searchUntil(client: Client, taskQueue: string, until: number): void {
    if (this.closed) return;
    const key = `${client.options.namespace}\n${taskQueue}`;
    const known = this.searches.get(key);
    if (known !== undefined) {
      known.until = Math.max(known.until, until);
      return;
    }
    const search: Search = { until, timer: undefined };
    this.searches.set(key, search);
    const searchAgain = async (failed: number): Promise<void> => {
      const found = await this.searchOnce(client, taskQueue).catch(reported(undefined));
      const fails = found === undefined ? failed + 1 : 0;
      const isIdle = found === false && performance.now() > search.until;
      if (isIdle || fails >= MAX_FAILURES) this.searches.delete(key);
      else await scheduleSearch(fails);
    };
    const scheduleSearch = async (failed: number): Promise<void> => {
      const pause = await this.pause(client, taskQueue);
      if (!this.closed) search.timer = setTimeout(() => void searchAgain(failed), pause).unref();
    };
    // The first search is delayed, because many processes may start at the same time.
    void scheduleSearch(0);
  }

  private async pause(client: Client, taskQueue: string): Promise<number> {
    const described = client.workflowService.describeTaskQueue({
      namespace: client.options.namespace,
      taskQueue: { name: activityQueues(taskQueue).poll },
      taskQueueType: ACTIVITIES,
    });
    const { pollers } = await described.catch(reported({ pollers: [] }));
    return this.everyMs * Math.max(1, pollers.length / AT_FULL_PACE) * (0.75 + Math.random() / 2);
  }

  close(): void {
    this.closed = true;
    for (const { timer } of this.searches.values()) clearTimeout(timer);
  }

  /** @returns whether any watcher is open or needed recovery */
  private async searchOnce(client: Client, taskQueue: string): Promise<boolean> {
    const { namespace } = client.options;
    // oxlint-disable-next-line house/no-wall-clock-durations -- compared with times of the server
    const since = new Date(Date.now() - WINDOW_MS).toISOString();
    // The raw service call is used because a client cannot list executions whose memo was written with another codec.
    const { executions } = await client.workflowService.listWorkflowExecutions({
      namespace,
      query:
        `WorkflowType = "${WORKFLOW.watchVideos}" AND TaskQueue = ${JSON.stringify(taskQueue)} AND (ExecutionStatus = "Running" ` +
        `OR (ExecutionStatus IN ("Terminated", "Failed", "TimedOut") AND CloseTime > "${since}"))`,
      pageSize: 1_000,
    });
    const closed = executions.filter(({ closeTime }) => closeTime != null);
    const left = closed.filter(({ execution }) => !this.done.has(execution?.runId ?? ''));
    for (const { execution } of left) {
      const { workflowId, runId } = execution ?? {};
      // If the watcher does not respond, the next search queries it again.
      if (workflowId && runId)
        await this.recover(client, { workflowId, runId, taskQueue }).catch(reported(undefined));
    }
    const open = executions.length - closed.length;
    this.metrics.record('watchersOpen', open, {});
    return open > 0 || left.length > 0;
  }

  private async recover(client: Client, run: ClosedRun): Promise<void> {
    const { workflowId, runId, taskQueue } = run;
    const { input, ...snapshot } = await client.withDeadline(Date.now() + CLOSED_ANSWER_MS, () =>
      client.workflow.getHandle(workflowId, runId).query<WatcherContents>(QUERY.watchSnapshot),
    );
    const joins = watchesLeft(snapshot);
    await joinWatcher(client, { workflowId, taskQueue, input }, joins);
    this.done.add(runId);
    this.metrics.record('watchersReplaced', 1, {});
  }
}

interface Search {
  /** Milliseconds of `performance.now`. */
  until: number;
  timer: NodeJS.Timeout | undefined;
}

interface ClosedRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly taskQueue: string;
}
