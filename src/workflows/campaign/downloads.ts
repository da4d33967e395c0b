import { ActivityFailure, sleep } from '@temporalio/workflow';
import { type DownloadVideoResult } from '../../domain/download';
import { type VideoTask } from '../../domain/video-task';
import { type DownloadVideosResult } from '../../domain/campaign/activities';
import { type BatchSettings } from '../../domain/campaign/messages';
import { downloadVideoActivity, downloadVideosActivity } from '../proxies';

/**
 * Downloads several videos: one attempt for all in one activity, then an activity of its own with retries for each that
 * needs more, never before the time that the service asked for (C8.7). Never throws.
 * @param onVideo called once for each video, as soon as its result is known; null if no worker could finish the
 * download
 * @param onTried called when the common attempt is over: others need not wait for the videos that need more
 */
export async function downloadRows(
  videos: readonly VideoTask[],
  { queues }: BatchSettings,
  onVideo: (index: number, result: DownloadVideoResult | null) => void,
  onTried: () => void,
): Promise<void> {
  const { results, waitMs } = await tryAll(videos, queues.download);
  onTried();
  const open: Promise<void>[] = [];
  videos.forEach((video, index) => {
    const result = results[index];
    // Promises only where something is awaited (docs/adr/0011).
    if (result) onVideo(index, result);
    else {
      const one = downloadOne(video, queues.download, waitMs?.[index] ?? 0);
      open.push(one.then((found) => onVideo(index, found)));
    }
  });
  await Promise.all(open);
}

async function tryAll(
  videos: readonly VideoTask[],
  taskQueue: string | undefined,
): Promise<DownloadVideosResult> {
  const fetch = downloadVideosActivity({ taskQueue, summary: `download ${videos.length}` });
  const asked = [...videos];
  try {
    return await fetch({ videos: asked });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    // The worker was lost, or is of a version without this activity: each video gets an activity of its own.
    return { results: [] };
  } finally {
    // The SDK keeps the arguments of an activity until the run ends (docs/adr/0011).
    asked.length = 0;
  }
}

async function downloadOne(
  video: VideoTask,
  taskQueue: string | undefined,
  waitMs: number,
): Promise<DownloadVideoResult | null> {
  try {
    if (waitMs > 0) await sleep(waitMs, { summary: 'wait before the next download' });
    return await downloadVideoActivity({ taskQueue, summary: 'download' })({ video });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return null;
  }
}
