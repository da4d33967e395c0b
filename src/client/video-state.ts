import { type Client } from '@temporalio/client';
import { otherwise } from '../domain/bug';
import { QUERY, SIGNAL } from '../domain/names';
import { type WatchedState } from '../domain/watcher';
import { type VideoState } from '../domain/video-state';
import { pollFacts } from '../domain/watch-state';
import { type FindTaskOptions } from './options';
import { findTask } from './ask-worker';
import { describeWorkflow } from './started';

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

/** What the watcher knows, in the state of the video. */
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
