import { ActivityFailure, ApplicationFailure, isCancellation } from '@temporalio/workflow';
import { billing } from '../domain/billing';
import { DEFAULT_CREDENTIAL } from '../domain/names';
import { type VideoOutcome } from '../domain/outcome';
import { outcomes } from '../domain/outcomes';
import { videoTaskById, type VideoTask } from '../domain/video-task';
import { AWAIT_VIDEO_KEYS, type AwaitVideoInput } from '../domain/workflow-inputs';
import { queuesOf, refuseUnknownKeys } from './inputs';
import { findVideoTaskActivity } from './proxies';
import { startWatching, watchVideo } from './watch-video';
import { trackVideo, type VideoProgress } from './video-progress';

/**
 * Waits for a task that exists and fetches it: poll and download only, no validation and never a create (architecture: Wait).
 * The wait counts from the start of this workflow.
 */
export async function awaitVideo(input: AwaitVideoInput): Promise<VideoOutcome> {
  return trackVideo((progress) => run(input, progress));
}

async function run(input: AwaitVideoInput, progress: VideoProgress): Promise<VideoOutcome> {
  if (input?.carried?.phase === 'watching') return watchVideo(input, input.carried, progress);
  const now = Date.now();
  let video: VideoTask;
  let creationKey: string | null = null;
  if (typeof input?.video?.taskId !== 'string') {
    throw ApplicationFailure.nonRetryable('awaitVideo needs {video: {taskId}}.', 'InvalidInput');
  }
  refuseUnknownKeys(input, AWAIT_VIDEO_KEYS);
  // Nothing is created here, so there is nothing to fear but a wait.
  progress.tell({ phase: 'watching', taskId: input.video.taskId });
  if ('account' in input.video) {
    // An untyped caller may know less than a kept fact holds.
    video = { ...videoTaskById(input.video.taskId, input.video.account), ...input.video };
  } else {
    try {
      const find = findVideoTaskActivity({
        taskQueue: queuesOf(input.queues).poll,
        summary: 'look the task up',
      });
      const found = await find({
        taskId: input.video.taskId,
        ...(input.account === undefined ? {} : { account: input.account }),
      });
      ({ video, creationKey } = found);
    } catch (error) {
      if (isCancellation(error)) return outcomes.cancelled(null, null, billing(null, 'needs_review'));
      if (!(error instanceof ActivityFailure)) throw error;
      // No journal could be asked: the id and the credential are enough to poll.
      video = videoTaskById(input.video.taskId, input.account ?? DEFAULT_CREDENTIAL);
    }
  }
  const watching = startWatching(input, { video, now, firstPollAt: now, creationKey, created: null });
  return watchVideo(input, watching, progress);
}
