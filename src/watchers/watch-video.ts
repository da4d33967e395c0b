import { activityInfo, Context } from '@temporalio/activity';
import { type Client, isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { attemptClock } from '../domain/attempt-clock';
import { isOpen } from '../domain/execution-status';
import { type Metrics } from '../domain/metrics';
import { INVALID_INPUT, QUERY, RETRY_LATER } from '../domain/names';
import {
  joinedWatchCheck,
  type WatchAnswer,
  type WatchedState,
  type WatcherFacts,
  type WatchVideoInput,
} from '../domain/shared-watch';
import { JoinedTogether } from './join-watcher';
import { type WatchRecovery } from './watch-recovery';

/** gRPC: this worker may not start workflows, and no attempt changes that. */
const PERMISSION_DENIED = 7;

/**
 * Joins the video to its watcher, and fails: until the next attempt it waits in the server, and the watcher completes it
 * there (ADR 26). The time of one attempt is short, so that one that dies with its worker is repeated soon.
 */
export function createWatchVideo(
  recovery: Pick<WatchRecovery, 'begin'>,
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

/** Time until the next attempt looks whether the watcher still has the video, in milliseconds. */
const LOOK_AFTER_MS = 10 * 60_000;
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
    nextRetryDelay: Math.round(Math.min(LOOK_AFTER_MS, Math.max(1, restMs) * SHARE_OF_REST)),
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
