import { ActivityFailure, CancellationScope, isCancellation } from '@temporalio/workflow';
import { outcomes } from '../domain/make-outcome';
import { type VideoOutcome } from '../domain/outcome';
import { billing } from '../domain/price';
import { type AwaitVideoInput, type GenerateVideoInput } from '../domain/workflow-inputs';
import { queuesOf } from './inputs';
import { ACTIVITY } from '../domain/names';
import { activity } from './proxies';
import { withTimeLimit } from './timers';
import { type VideoProgress } from './video-progress';
import { type FinishedVideo, type Watching } from './watch-video';

/**
 * Fetches and verifies the file of a finished video (contract 3): `completed`, or `content_unavailable` with the
 * reason; a watcher may have fetched it already. Cancelled meanwhile, the outcome names the task. Where the execution is
 * about to expire, or no worker could finish the download, it is `still_running`: the file may be intact, and a later
 * await downloads it (architecture: Wait).
 */
export async function downloadVideo(
  input: GenerateVideoInput | AwaitVideoInput,
  { creationKey, created }: Watching,
  { end, record, downloaded, tried }: FinishedVideo,
  progress: VideoProgress,
): Promise<VideoOutcome> {
  if (downloaded !== undefined) return outcomes.completed(end, downloaded, record, created?.warnings ?? []);
  progress.update({ phase: 'downloading' });
  const fetch = activity(ACTIVITY.downloadVideo, {
    taskQueue: queuesOf(input.queues).download,
    summary: 'download',
  });
  const isPromptKept = input.sidecarPrompt === 'include' && 'request' in input;
  const task = {
    video: end.video,
    ...(isPromptKept && { sidecarPrompt: input.request.prompt }),
    ...(tried !== undefined && { tried }),
  };
  const limit = end.state.hardEndAt;
  try {
    const result = await (limit === null
      ? fetch(task)
      : withTimeLimit(Math.max(1, limit - Date.now()), 'limit of the download', () => fetch(task)));
    return result.outcome === 'downloaded'
      ? outcomes.completed(end, result, record, created?.warnings ?? [])
      : outcomes.contentUnavailable(end, result, record.usage);
  } catch (error) {
    if (isCancellation(error) && CancellationScope.current().consideredCancelled)
      return outcomes.cancelled(end.video, creationKey, billing(end.estimate, 'needs_review', record.usage));
    if (!isCancellation(error) && !(error instanceof ActivityFailure)) throw error;
    return outcomes.stillRunning(end, record.status);
  }
}
