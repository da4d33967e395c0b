import { ActivityFailure, isCancellation, setWorkflowOptions } from '@temporalio/workflow';
import { FIND_VIDEO_TASK_SHAPE, type FindVideoTaskInput, type FoundVideoTask } from '../domain/activities';
import { outcomes } from '../domain/make-outcome';
import { ACTIVITY, DEFAULT_CREDENTIAL } from '../domain/names';
import { type VideoOutcome } from '../domain/outcome';
import { billing } from '../domain/price';
import { type PollingMode } from '../domain/polling-profile';
import { type VideoTask, videoTaskById } from '../domain/video-task';
import { AWAIT_VIDEO_SHAPE, type AwaitVideoInput, type CarriedWait } from '../domain/workflow-inputs';
import { queuesOf, requireInput } from './inputs';
import { activity } from './proxies';
import { PINNED } from './versioning-behavior';
import { trackVideo, type VideoProgress } from './video-progress';
import { beginWait, waitForVideo } from './wait';

/**
 * Waits for an existing task and downloads it: poll and download only, no validation and never a create
 * (architecture: Wait). The wait counts from the start of this workflow.
 */
export async function awaitVideo(input: AwaitVideoInput): Promise<VideoOutcome> {
  return trackVideo(async (progress) => {
    const found = await find(input, progress);
    if ('outcome' in found) return found;
    return waitForVideo(input, found, progress);
  });
}

/** The wait from here on, also after a continue-as-new; or the outcome without one. */
async function find(input: AwaitVideoInput, progress: VideoProgress): Promise<CarriedWait | VideoOutcome> {
  requireInput(input, AWAIT_VIDEO_SHAPE);
  if (input.carried?.phase === 'watching') return input.carried;
  const now = Date.now();
  let video: VideoTask;
  let creationKey: string | null = null;
  let polling: PollingMode | undefined;
  // Nothing is created here: the first phase is `watching`.
  progress.update({ phase: 'watching', taskId: input.video.taskId });
  if ('account' in input.video) {
    // An untyped caller may pass fewer fields than a `VideoTask` has.
    video = { ...videoTaskById(input.video.taskId, input.video.account), ...input.video };
  } else {
    try {
      const lookUp = activity(ACTIVITY.findVideoTask, {
        taskQueue: queuesOf(input.queues).poll,
        summary: 'look the task up',
      });
      const found = await lookUp({
        taskId: input.video.taskId,
        ...(input.account === undefined ? {} : { account: input.account }),
      });
      ({ video, creationKey, polling } = found);
    } catch (error) {
      if (isCancellation(error)) return outcomes.cancelled(null, null, billing(null, 'needs_review'));
      if (!(error instanceof ActivityFailure)) throw error;
      // No worker could read the journal: the id and the credential are enough to poll.
      video = videoTaskById(input.video.taskId, input.account ?? DEFAULT_CREDENTIAL);
    }
  }
  // Any number of workflows may wait for one task, on any worker: together they poll it no faster than one (C8.2).
  const start = { video, now, firstPollAt: now, creationKey, created: null };
  return beginWait(input, { ...start, polling: polling ?? 'shared' });
}

/**
 * Looks a task id up in the journal of a worker: account, recorded facts and the workflow that owns it. Clients have
 * no journal and no base address, so they run this workflow before they resume.
 */
export async function findVideoTask(input: FindVideoTaskInput): Promise<FoundVideoTask> {
  requireInput(input, FIND_VIDEO_TASK_SHAPE);
  return activity(ACTIVITY.findVideoTask, { summary: 'look the task up' })(input);
}

setWorkflowOptions(PINNED, awaitVideo);
