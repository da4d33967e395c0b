import { setTimeout as delay } from 'node:timers/promises';
import {
  type Client,
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
import { type FindTaskOptions, WATCH_KEYS, type WatchOptions } from './options';

/** A started or attached workflow. */
export interface Started<Outcome> {
  /** Its id, from which any process can resume. */
  readonly workflowId: string;
  /** The run that was started or found; empty for the newest one. */
  readonly runId: string;
  /** False when a workflow with this id already existed. */
  readonly isNew: boolean;
  /** Waits for the outcome. @throws WorkflowFailedError when the workflow failed, was terminated or timed out */
  result(): Promise<Outcome>;
}

/** Wraps a workflow handle. A campaign continues as new; its result is that of the last run. */
export function started<Outcome>(handle: WorkflowHandle, runId: string, isNew: boolean): Started<Outcome> {
  return {
    workflowId: handle.workflowId,
    runId,
    isNew,
    result: () => handle.result() as Promise<Outcome>,
  };
}

/** Returns a handle of an existing workflow: of its newest run unless `runId` is given. */
export function attach<Outcome>(client: Client, workflowId: string, runId?: string): Started<Outcome> {
  return started(client.workflow.getHandle(workflowId, runId), runId ?? '', false);
}

/** Undefined when the server has no workflow with this id. */
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

/** What a watch polls; both may throw when neither a worker nor the server answers. */
export interface Watched<State> {
  state(): Promise<State>;
  isRunning(): Promise<boolean>;
}

/** Yields every state that differs from the previous one, until the workflow is closed or the signal aborts. */
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
    const text = JSON.stringify(state ?? last);
    if (state !== undefined && text !== last) {
      last = text;
      yield state;
    }
    // A brief failure of the server does not end the watch.
    const goesOn =
      state === undefined ? await watched.isRunning().catch(otherwise(true)) : state.phase !== 'done';
    if (!goesOn) return;
    await delay(intervalMs, undefined, { ...(signal && { signal }) }).catch(otherwise(undefined));
  }
}

/** A function, because the compiler would narrow `signal.aborted` to a constant after the first check. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** See `TemporalMediaClient.videoState`. */
export async function videoState(client: Client, workflowId: string): Promise<VideoState> {
  const state = await client.workflow.getHandle(workflowId).query<VideoState>(QUERY.videoState);
  if (state.watcher === undefined) return state;
  // A watcher that has just been closed is replaced within seconds.
  const known = await client.workflow
    .getHandle(state.watcher)
    .query<WatchedState | null, [string]>(QUERY.watchState, workflowId)
    .catch(otherwise(null));
  return known === null ? state : withPolls(state, known);
}

/** Adds what the watcher knows to the state of the video. */
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
