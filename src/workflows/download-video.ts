import { ActivityFailure, CancellationScope, isCancellation } from '@temporalio/workflow';
import { type DownloadVideoInput, type DownloadVideoResult } from '../domain/download';
import { ACTIVITY } from '../domain/names';
import { activity } from './proxies';
import { withTimeLimit } from './timers';

/**
 * Fetches and verifies the file of one finished video. Null where no worker could finish it, or its time was over.
 * @param endsAt when the caller is about to expire, in workflow time; null for never
 */
export async function downloadVideo(
  input: DownloadVideoInput,
  taskQueue: string,
  endsAt: number | null,
): Promise<DownloadVideoResult | 'cancelled' | null> {
  const download = activity(ACTIVITY.downloadVideo, { taskQueue, summary: 'download' });
  try {
    return await (endsAt === null
      ? download(input)
      : withTimeLimit(Math.max(1, endsAt - Date.now()), 'limit of the download', () => download(input)));
  } catch (error) {
    if (isCancellation(error) && CancellationScope.current().consideredCancelled) return 'cancelled';
    if (!isCancellation(error) && !(error instanceof ActivityFailure)) throw error;
    return null;
  }
}
