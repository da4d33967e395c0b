import { activityInfo, Context } from '@temporalio/activity';
import {
  ActivityNotFoundError,
  type Client,
  isGrpcServiceError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { attemptClock } from '../domain/attempt-clock';
import { isOpen } from '../domain/execution-status';
import { mapConcurrently } from '../domain/map-concurrently';
import { type Metrics } from '../domain/metrics';
import { INVALID_INPUT, QUERY, RETRY_LATER, SIGNAL, WORKFLOW } from '../domain/names';
import {
  type JoinedWatch,
  joinedWatchCheck,
  type TellVideosInput,
  type Told,
  type WatchAnswer,
  type WatchedState,
  type WatcherFacts,
  type WatchVideoInput,
} from '../domain/watcher';
import { STARTED_BY } from '../domain/version';
import { reportIfMistake } from './mistakes';

/**
 * How a video joins its watcher, and is told how its watch ended: both through the client of the worker.
 *
 * @module
 */

/** gRPC: this worker may not start workflows, and no attempt changes that. */
const PERMISSION_DENIED = 7;

/**
 * Joins the video to its watcher, and fails: until the next attempt it waits in the server, and the watcher completes it
 * there (ADR 26). The time of one attempt is short, so that one that dies with its worker is repeated soon.
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
      throw ApplicationFailure.nonRetryable('The watcher does not answer.', 'WatcherStuck');
    if (found !== 'kept') await join(joining, input);
    recovery.begin(client, watcher.taskQueue);
    throw waits(serverTime());
  };
}

/** Time until the next attempt checks whether the watcher still has the video, in milliseconds. */
const CHECK_AFTER_MS = 10 * 60_000;
/** A server does not retry what would begin after schedule-to-close; the wait for this worker is not counted. */
const SHARE_OF_REST = 0.75;
/** With less time left there is no further attempt: the video polls by itself. */
const LEAST_REST_MS = 3_000;

function waits(now: number): ApplicationFailure {
  const { scheduledTimestampMs, scheduleToCloseTimeoutMs } = activityInfo();
  const restMs = scheduledTimestampMs + scheduleToCloseTimeoutMs - now;
  return ApplicationFailure.create({
    type: RETRY_LATER,
    message: 'A watcher polls the task, and completes this activity.',
    category: ApplicationFailureCategory.BENIGN,
    nonRetryable: restMs < LEAST_REST_MS,
    nextRetryDelay: Math.round(Math.min(CHECK_AFTER_MS, Math.max(1, restMs) * SHARE_OF_REST)),
  });
}

/** Longest wait for a watcher to answer, in milliseconds. */
const ANSWER_MS = 5_000;

/** What a later attempt finds: the watcher should have the video. One that does not answer leaves it to poll by itself. */
async function askFor(
  client: Client,
  { workflowId }: WatcherFacts,
  videoId: string,
): Promise<'kept' | 'rejoined' | 'unanswered'> {
  try {
    const handle = client.workflow.getHandle(workflowId);
    return await client.withDeadline(Date.now() + ANSWER_MS, async () => {
      const { status } = await handle.describe();
      // It was closed: the next run takes the video.
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
    throw ApplicationFailure.nonRetryable('Only a workflow has a video watched.', INVALID_INPUT);
  const waiter = { ...workflowExecution, activityId, ...(takesFile === true && { takesFile }) };
  const watch = { waiter, state };
  // The watcher would skip it; so the video polls on its own, at once.
  const issue = joinedWatchCheck(watch, '');
  if (issue !== undefined) throw ApplicationFailure.nonRetryable(issue.message, INVALID_INPUT);
  try {
    await joining.join(client, watcher, watch);
  } catch (error) {
    const { cause } = error as Error;
    if (isGrpcServiceError(cause) && Number(cause.code) === PERMISSION_DENIED)
      throw ApplicationFailure.nonRetryable('This worker may not start a watcher.', 'PermissionDenied');
    throw error;
  }
}

/** Videos that travel in one signal. */
export const MAX_JOINS = 500;

/** Joins videos to their watcher, and starts it where it does not run. Joining twice is the same as once. */
export async function joinWatcher(
  client: Client,
  { workflowId, taskQueue, input }: WatcherFacts,
  joins: readonly JoinedWatch[],
): Promise<void> {
  await client.workflow.signalWithStart(WORKFLOW.watchVideos, {
    workflowId,
    taskQueue,
    args: [input],
    signal: SIGNAL.watchJoin,
    signalArgs: [joins],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    memo: STARTED_BY,
    staticSummary: 'Polls the tasks of many videos',
    // A burst of starts must not keep it from its polls: a queue is otherwise served in order.
    priority: { priorityKey: 1 },
  });
}

/** Videos that join a watcher within this time, in milliseconds, travel in one signal; each takes a slot of the worker so long. */
const TOGETHER_MS = 500;

interface Collected {
  readonly joins: JoinedWatch[];
  readonly sent: Promise<void>;
}

/** Collects what joins a watcher, because each signal costs it a workflow task; the first poll is later than that. */
export class JoinedTogether {
  private readonly collecting = new Map<string, Collected>();

  constructor(private readonly togetherMs = TOGETHER_MS) {}

  /** Resolves when the server has the join. */
  join(client: Client, watcher: WatcherFacts, join: JoinedWatch): Promise<void> {
    const key = `${client.options.namespace}\n${watcher.workflowId}`;
    let open = this.collecting.get(key);
    if (open === undefined || open.joins.length >= MAX_JOINS) {
      const joins: JoinedWatch[] = [];
      open = { joins, sent: this.send(key, joins, () => joinWatcher(client, watcher, joins)) };
      this.collecting.set(key, open);
    }
    open.joins.push(join);
    return open.sent;
  }

  private async send(key: string, joins: readonly JoinedWatch[], send: () => Promise<void>): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, this.togetherMs));
    if (this.collecting.get(key)?.joins === joins) this.collecting.delete(key);
    await send();
  }
}

const CONCURRENT = 10;

/**
 * `media.tellVideos`: completes the activity of each video. When the server did not take an answer, the attempt fails
 * after the others, and the next one repeats all.
 */
export function createTellVideos(metrics: Metrics): (input: TellVideosInput) => Promise<void> {
  return async ({ told }) => {
    const { client } = Context.current();
    const failed: unknown[] = [];
    await mapConcurrently(told, CONCURRENT, async (one) => {
      try {
        await tellVideo(client, metrics, one);
      } catch (error) {
        failed.push(error);
      }
    });
    if (failed.length > 0) throw failed[0];
  };
}

/**
 * Completes the activity with which a video waits. One that is not there any more has ended, or joins again by itself.
 * @throws when the server did not take the answer
 */
async function tellVideo(client: Client, metrics: Metrics, { waiter, answer }: Told): Promise<void> {
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

/** Pauses before an answer is given again, in milliseconds: it must not wait for the slowest file of its delivery. */
const AGAIN_MS = [1_000, 2_000, 4_000];

/** As {@link tellVideo}, a few times. */
export async function tellSurely(client: Client, metrics: Metrics, told: Told): Promise<void> {
  for (const pauseMs of AGAIN_MS) {
    try {
      return await tellVideo(client, metrics, told);
    } catch (error) {
      reportIfMistake(error);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  await tellVideo(client, metrics, told);
}
