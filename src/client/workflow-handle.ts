import { setTimeout as delay } from 'node:timers/promises';
import {
  type ActivityHandle,
  type Client,
  ServiceError,
  type WorkflowExecutionDescription,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { otherwise } from '../domain/bug';
import { PAUSED, QUERY, SIGNAL } from '../domain/names';
import { type VideoState } from '../domain/video-state';
import { pollFacts } from '../domain/watch-state';
import { type WatchedState } from '../domain/watcher';
import { findTask } from './ask-worker';
import { refuseInvalid, WorkflowPausedError } from './errors';
import { type FindTaskOptions, type RunAs, WATCH_KEYS, type WatchOptions } from './options';
import { decodePayloads } from './read-payloads';
import { describeStandalone } from './workflow-service';

/** A started or attached workflow or, for an image call, activity without a workflow. */
export interface Started<Outcome> {
  /** What runs the call. */
  readonly as: RunAs;
  /** The ID of the workflow or of the activity, from which any process can resume. */
  readonly workflowId: string;
  /** ID of the run that was started or found; empty for the newest run. */
  readonly runId: string;
  /** False if a workflow with this ID already existed. */
  readonly isNew: boolean;
  /**
   * Waits for the outcome. @throws WorkflowFailedError, or ActivityExecutionFailedError for an activity, if it failed,
   * was terminated, canceled before it was sent, or timed out
   */
  result(): Promise<Outcome>;
}

/** Wraps a workflow handle. A campaign continues as new, so its result comes from the last run. */
export function started<Outcome>(handle: WorkflowHandle, runId: string, isNew: boolean): Started<Outcome> {
  return {
    as: 'workflow',
    workflowId: handle.workflowId,
    runId,
    isNew,
    result: () => handle.result() as Promise<Outcome>,
  };
}

/** Wraps a handle of an activity without a workflow. */
export function startedActivity<Outcome>(
  client: Client,
  handle: ActivityHandle,
  isNew: boolean,
): Started<Outcome> {
  const { activityId, runId = '' } = handle;
  const result = () =>
    handle.result().catch((error: unknown) => explained(client, { activityId, runId }, error));
  return { as: 'activity', workflowId: activityId, runId, isNew, result };
}

/**
 * Throws the reason that a result cannot be read. The SDK's client for activities hides it, unlike that for workflows.
 * @throws the error of a codec, storage or converter, or else the given one
 */
async function explained(
  client: Client,
  activity: { readonly activityId: string; readonly runId: string },
  error: unknown,
): Promise<never> {
  if (error instanceof ServiceError && error.cause === undefined) {
    const { namespace, loadedDataConverter } = client.options;
    const found = await describeStandalone(client, namespace, activity);
    const context = { type: 'activity', namespace, activityId: activity.activityId, isLocal: false } as const;
    await decodePayloads(loadedDataConverter, found?.outcome?.result?.payloads ?? [], context);
  }
  throw error;
}

/** Returns a handle to an existing workflow: to its newest run unless `runId` is given. */
export function attach<Outcome>(client: Client, workflowId: string, runId?: string): Started<Outcome> {
  return started(client.workflow.getHandle(workflowId, runId), runId ?? '', false);
}

/** Describes a workflow. Returns undefined if the server does not have it. */
export async function describeWorkflow(
  workflows: Client['workflow'],
  workflowId: string,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await workflows.getHandle(workflowId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** The calls that a watch makes. Both can throw if no worker or server answers. */
export interface Watched<State> {
  state(): Promise<State>;
  isRunning(): Promise<boolean>;
}

/** Yields every changed state until the workflow closes or the signal aborts. */
export async function* watchStates<State extends { readonly phase: string } = VideoState>(
  watched: Watched<State>,
  options: WatchOptions,
): AsyncGenerator<State, void, undefined> {
  refuseInvalid(options, WATCH_KEYS);
  const { intervalMs = 1_500, signal } = options;
  let last = '';
  while (!isAborted(signal)) {
    const state = await watched.state().catch(otherwise(undefined));
    if (isAborted(signal)) return;
    const text = state === undefined ? last : JSON.stringify(state);
    const isNew = text !== last;
    last = text;
    if (isNew && state !== undefined) yield state;
    if (state?.phase === 'done') return;
    // A workflow that was terminated keeps answering with its last state. Keep watching despite a brief server failure.
    if (!isNew && !(await watched.isRunning().catch(otherwise(true)))) {
      // It may have ended after it answered.
      const end = state && (await watched.state().catch(otherwise(undefined)));
      if (end !== undefined && JSON.stringify(end) !== last) yield end;
      return;
    }
    await delay(intervalMs, undefined, { ...(signal && { signal }) }).catch(otherwise(undefined));
  }
}

/** This is a function because the compiler would treat `signal.aborted` as constant after the first check. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** See `TemporalMediaClient.videoState`. */
export async function videoState(client: Client, workflowId: string): Promise<VideoState> {
  const state = await client.workflow.getHandle(workflowId).query<VideoState>(QUERY.videoState);
  if (state.watcher === undefined) return state;
  // If the watcher has just been closed, another one replaces it within seconds.
  const known = await client.workflow
    .getHandle(state.watcher)
    .query<WatchedState | null, [string]>(QUERY.watchState, workflowId)
    .catch(otherwise(null));
  return known === null ? state : withPolls(state, known);
}

/** Adds the watcher's poll information to a video's state. */
function withPolls(state: VideoState, { state: watch, nextPollAt }: WatchedState): VideoState {
  return {
    ...state,
    ...pollFacts(watch),
    nextPollAt: nextPollAt === null ? null : new Date(nextPollAt).toISOString(),
  };
}

/** See `TemporalMediaClient.nudge`. */
export async function nudge(
  client: Client,
  taskQueue: string,
  workflowOrTaskId: string,
  options: FindTaskOptions,
): Promise<boolean> {
  const known = await describeWorkflow(client.workflow, workflowOrTaskId);
  const workflowId =
    known === undefined
      ? (await findTask(client, taskQueue, workflowOrTaskId, options)).workflowId
      : workflowOrTaskId;
  if (workflowId === null) return false;
  const handle = client.workflow.getHandle(workflowId);
  const { phase, watcher } = await handle.query<VideoState>(QUERY.videoState);
  if (phase !== 'watching') return false;
  await (watcher === undefined
    ? handle.signal(SIGNAL.nudge)
    : client.workflow.getHandle(watcher).signal(SIGNAL.nudge, workflowId));
  return true;
}

/** @throws WorkflowPausedError */
export function requireUnpaused(workflowId: string, status: string): void {
  if (status === PAUSED) throw new WorkflowPausedError(workflowId);
}
