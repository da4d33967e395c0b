import { randomUUID } from 'node:crypto';
import { activityInfo, Context } from '@temporalio/activity';
import { type DownloadVideosInput, type DownloadVideosResult } from '../../domain/campaign/activities';
import { DOWNLOAD_BOUNDS } from '../../domain/download';
import { mapConcurrently } from '../../domain/map-concurrently';
import { type VideoTask } from '../../domain/video-task';
import {
  delayAfter,
  type DownloadDeps,
  downloadOnce,
  factsOf,
  isShutdown,
  NO_ACCOUNT,
  tryBudget,
} from '../download-video';
import { discardPart, type DownloadTry } from '../fetch-video';
import { freshProgress } from '../fetch-body';
import { startHeartbeat } from '../heartbeat';
import { MAX_GROUP } from './create-videos';

export interface DownloadGroupDeps extends DownloadDeps {
  /** Videos of one group that are fetched concurrently. @default 8 */
  readonly concurrency?: number | undefined;
}

type Result = DownloadVideosResult['results'][number];

/**
 * `media.downloadVideos`: one try for each video, with every check of `media.downloadVideo` (C4.1, C4.3) and no
 * side-car. A video that failed is null, with the time before its next try; its part is deleted, because its separate
 * download does not resume it. Throws only when it is cancelled.
 */
export function createDownloadVideos(
  deps: DownloadGroupDeps,
): (input: DownloadVideosInput) => Promise<DownloadVideosResult> {
  const now = deps.now ?? Date.now;
  const bounds = { ...DOWNLOAD_BOUNDS, ...deps.bounds };

  return async ({ videos }) => {
    if (videos.length > MAX_GROUP) throw new RangeError(`At most ${MAX_GROUP} videos travel in one group.`);
    const info = activityInfo();
    const { cancellationSignal: signal } = Context.current();
    const results: Result[] = videos.map(() => null);
    const waitMs = videos.map(() => 0);
    const beat = startHeartbeat(() => ({ done: results.filter((result) => result !== null).length }));
    const budgetMs = tryBudget(info, bounds);
    const endsAt = now() + budgetMs;
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), budgetMs);

    async function fetchOne(index: number, video: VideoTask): Promise<void> {
      const client = deps.accounts(video.account);
      if (client === undefined) {
        waitMs[index] = delayAfter(NO_ACCOUNT, 1, bounds);
        return;
      }
      const progress = freshProgress(randomUUID(), now());
      const { artifacts } = deps;
      const shared = { client, artifacts, bounds, signal, now, endsAt, deadline: deadline.signal };
      const turn: DownloadTry = { ...shared, progress, fresh: true, last: false, flowed: false };
      try {
        const tried = await downloadOnce(turn, video, info.attempt);
        const { account, taskId } = video;
        if ('video' in tried) {
          results[index] = { outcome: 'downloaded', sidecar: null, ...factsOf(video, tried) };
          const { bytes } = tried.video.artifact;
          deps.events?.downloaded({ account, taskId, result: 'downloaded', bytes });
        } else {
          waitMs[index] = delayAfter(tried.problem, 1, bounds);
          deps.events?.downloaded({ account, taskId, result: tried.problem.kind });
        }
      } catch {
        // An internal fault: the video's separate download meets and reports it again.
        waitMs[index] = bounds.minDelayMs;
      }
      if (results[index] === null) await discardPart(turn).catch(() => undefined);
    }

    try {
      await mapConcurrently(videos.entries(), deps.concurrency ?? 8, async ([index, video]) => {
        if (!signal.aborted && !deadline.signal.aborted) await fetchOne(index, video);
      });
    } finally {
      clearTimeout(timer);
      beat.stop();
    }
    // On a shutdown of the worker, return what is downloaded.
    if (signal.aborted && !isShutdown(signal)) return Context.current().cancelled;
    return results.includes(null) ? { results, waitMs } : { results };
  };
}
