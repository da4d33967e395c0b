import { Context } from '@temporalio/activity';
import { type DownloadVideosInput, type DownloadVideosResult } from '../../domain/campaign/activities';
import { DOWNLOAD_BOUNDS } from '../../domain/download';
import { mapConcurrently } from '../../domain/map-concurrently';
import { CONCURRENT_DOWNLOADS, openDownloadGroup } from '../download-group';
import { delayAfter } from '../download-decision';
import { type DownloadDeps, factsOf, isShutdown } from '../download-video';
import { startHeartbeat } from '../heartbeat';
import { MAX_GROUP } from './create-videos';

export interface DownloadGroupDeps extends DownloadDeps {
  /** Videos of one group that are fetched concurrently. @default 8 */
  readonly concurrency?: number | undefined;
}

type Result = DownloadVideosResult['results'][number];

/**
 * `media.downloadVideos`: one try for each video, and no side-car. A video that failed is null, with the time before its
 * next try. Throws only when it is cancelled.
 */
export function createDownloadVideos(
  deps: DownloadGroupDeps,
): (input: DownloadVideosInput) => Promise<DownloadVideosResult> {
  const bounds = { ...DOWNLOAD_BOUNDS, ...deps.bounds };
  return async ({ videos }) => {
    if (videos.length > MAX_GROUP) throw new RangeError(`At most ${MAX_GROUP} videos travel in one group.`);
    const { cancellationSignal: signal } = Context.current();
    const results: Result[] = videos.map(() => null);
    const waitMs = videos.map(() => 0);
    const beat = startHeartbeat(() => ({ done: results.filter((result) => result !== null).length }));
    const group = openDownloadGroup(deps);
    try {
      await mapConcurrently(
        videos.entries(),
        deps.concurrency ?? CONCURRENT_DOWNLOADS,
        async ([index, video]) => {
          if (group.isOver()) return;
          const tried = await group.fetch(video);
          if (tried === null) waitMs[index] = bounds.minDelayMs;
          else if ('video' in tried)
            results[index] = { outcome: 'downloaded', sidecar: null, ...factsOf(video, tried) };
          else waitMs[index] = delayAfter(tried.problem, 1, bounds);
        },
      );
    } finally {
      group.close();
      beat.stop();
    }
    // On a shutdown of the worker, return what is downloaded.
    if (signal.aborted && !isShutdown(signal)) return Context.current().cancelled;
    return results.includes(null) ? { results, waitMs } : { results };
  };
}
