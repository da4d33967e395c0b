import { ActivityFailure } from '@temporalio/workflow';
import { type DownloadVideoResult } from '../../domain/download';
import { type VideoTask } from '../../domain/video-task';
import { type LaneSettings } from '../../domain/campaign/lane-state';
import { INTERRUPTED } from '../finish-video';
import { downloadVideoActivity, downloadVideosActivity } from '../proxies';

/**
 * Fetches some videos: one try for all in one activity, then an activity of its own, with all its tries, for each that
 * needs more. Never throws.
 * @param onVideo told once for each video, as soon as its end is known
 */
export async function downloadRows(
  videos: readonly VideoTask[],
  { queues }: LaneSettings,
  onVideo: (place: number, result: DownloadVideoResult) => void,
): Promise<void> {
  const results = await tryAll(videos, queues.download);
  await Promise.all(
    videos.map(async (video, place) =>
      onVideo(place, results[place] ?? (await downloadOne(video, queues.download))),
    ),
  );
}

async function tryAll(
  videos: readonly VideoTask[],
  taskQueue: string | undefined,
): Promise<readonly (DownloadVideoResult | null)[]> {
  const fetch = downloadVideosActivity({ taskQueue, summary: `download ${videos.length}` });
  try {
    return (await fetch({ videos })).results;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    // Its worker was lost, or is of a version that does not know it: each video is tried by itself.
    return [];
  }
}

async function downloadOne(video: VideoTask, taskQueue: string | undefined): Promise<DownloadVideoResult> {
  try {
    return await downloadVideoActivity({ taskQueue, summary: 'download' })({ video });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return INTERRUPTED;
  }
}
