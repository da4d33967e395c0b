import { randomUUID } from 'node:crypto';
import { activityInfo, Context } from '@temporalio/activity';
import { type DownloadVideosInput, type DownloadVideosResult } from '../domain/campaign/campaign-activities';
import { attemptClock } from '../domain/clocks';
import { DELIVERY, DOWNLOAD_BOUNDS, type FailedTry } from '../domain/download';
import { type Metrics } from '../domain/metrics';
import { type VideoTask } from '../domain/video-task';
import { type DeliverVideosInput } from '../domain/watcher';
import {
  type DownloadDeps,
  downloadOnce,
  deliveredFacts,
  type FetchedVideo,
  isShutdown,
  NO_DOWNLOAD_ACCOUNT,
  tryBudget,
  withSidecar,
} from './download-video';
import { reported } from './failures';
import { freshProgress } from './fetch-body';
import { discardPart, type DownloadTry } from './fetch-video';
import { startHeartbeat } from './heartbeat';
import { completeWatchWithRetries } from './watchers';

/**
 * Milliseconds after which no more downloads are started. If a video's download was not started, its answer contains no
 * file, and the video's own download then runs on any worker.
 */
const BEGIN_WITHIN_MS = 5_000;

/**
 * Implements `media.deliverVideos`: makes one attempt to fetch each finished video, and completes the video's activity
 * as soon as the file is stored (ADR 26). A video that has reached its deadline does not wait for its file.
 */
export function createDeliverVideos(
  deps: DownloadDeps,
  metrics: Metrics,
): (input: DeliverVideosInput) => Promise<void> {
  return async ({ deliveries }) => {
    const { client } = Context.current();
    const videos = deliveries.map(({ waiter, answer }) => {
      const { video, deadlineAt: until } = answer.state;
      return { waiter, answer, video, until };
    });
    await tryEach(deps, videos, BEGIN_WITHIN_MS, async ({ waiter, answer, video }, tried, startedAt) => {
      const info = activityInfo();
      const brought =
        tried !== null && 'video' in tried
          ? { downloaded: await withSidecar(deps, { video }, { downloaded: tried, info, startedAt }) }
          : tried !== null && { tried };
      await completeWatchWithRetries(client, metrics, { waiter, answer: { ...answer, ...brought } });
    });
  };
}

/**
 * Implements `media.downloadVideos`: makes one attempt to fetch each of a batch's videos, without sidecars. If the
 * worker shuts down, returns what has been stored. Throws only if the activity is canceled.
 */
export function createDownloadVideos(
  deps: DownloadDeps,
): (input: DownloadVideosInput) => Promise<DownloadVideosResult> {
  return async ({ videos }) => {
    if (videos.length > DELIVERY.videos)
      throw new RangeError(`One group can contain at most ${DELIVERY.videos} videos.`);
    const { cancellationSignal: signal } = Context.current();
    const results: DownloadVideosResult['results'][number][] = videos.map(() => null);
    const rows = videos.map((video, index) => ({ index, video, until: Infinity }));
    await tryEach(deps, rows, Infinity, async ({ index, video }, tried) => {
      results[index] =
        tried !== null && 'video' in tried
          ? { outcome: 'downloaded', sidecar: null, ...deliveredFacts(video, tried) }
          : tried;
    });
    if (signal.aborted && !isShutdown(signal)) return Context.current().cancelled;
    return { results };
  };
}

interface Deliverable {
  readonly video: VideoTask;
  /** The server time by which the video's attempt must have ended, in milliseconds since the Unix epoch. */
  readonly until: number;
}

/** Number of videos in one delivery that are fetched concurrently. */
const CONCURRENT = 8;

/**
 * Makes one download attempt per video within one activity attempt, and answers each video as soon as its download
 * attempt has ended. A download attempt makes the same checks as `media.downloadVideo`. The answer is either the stored
 * video or the failed attempt, which counts as the first attempt of the video's own download (C8.7). The answer is null
 * if no attempt was made, or if the attempt says nothing about the file because it was cut short or failed through a
 * fault on our side.
 * @param beginWithinMs a video whose attempt has not begun by then is answered without one
 * @throws the first error from `answer`, after all others have been answered
 */
async function tryEach<Video extends Deliverable>(
  deps: DownloadDeps,
  videos: readonly Video[],
  beginWithinMs: number,
  answer: (video: Video, tried: FetchedVideo | FailedTry | null, startedAt: Date) => Promise<void>,
): Promise<void> {
  const waiting = [...videos];
  const failed: unknown[] = [];
  const tries = openTries(deps);
  const beat = startHeartbeat(() => ({ waiting: waiting.length }));
  const serve = async (video: Video, isTried: boolean): Promise<void> => {
    const startedAt = new Date();
    try {
      await answer(video, isTried ? await tries.of(video) : null, startedAt);
    } catch (error) {
      failed.push(error);
    }
  };
  const late: Promise<void>[] = [];
  const skip = (): void => void late.push(...waiting.splice(0).map((video) => serve(video, false)));
  const timer = beginWithinMs === Infinity ? undefined : setTimeout(skip, beginWithinMs);
  const lane = async (): Promise<void> => {
    for (let video = waiting.shift(); video !== undefined; video = waiting.shift()) await serve(video, true);
  };
  try {
    await Promise.all(Array.from({ length: CONCURRENT }, lane));
    await Promise.all(late);
  } finally {
    clearTimeout(timer);
    tries.close();
    beat.stop();
  }
  if (failed.length > 0) throw failed[0];
}

/** Prepares the download attempts that one activity attempt makes. Must be called in the activity. */
function openTries(deps: DownloadDeps): {
  /** Never throws. */
  of(video: Deliverable): Promise<FetchedVideo | FailedTry | null>;
  close(): void;
} {
  const now = deps.now ?? (() => performance.now());
  const bounds = { ...DOWNLOAD_BOUNDS, ...deps.bounds };
  const { artifacts } = deps;
  const info = activityInfo();
  const serverTime = attemptClock(info, now);
  const { cancellationSignal: signal } = Context.current();
  const budgetMs = tryBudget(info, bounds);
  const closesAt = now() + budgetMs;
  const closing = new AbortController();
  const timer = setTimeout(() => closing.abort(), budgetMs);
  const isOver = (): boolean => signal.aborted || closing.signal.aborted;

  return {
    of: async ({ video, until }) => {
      if (isOver()) return null;
      const { account, taskId } = video;
      const client = deps.accounts(account);
      if (client === undefined) return { problem: NO_DOWNLOAD_ACCOUNT, lives: true };
      const endsAt = Math.min(closesAt, now() + until - serverTime());
      const deadline =
        endsAt === closesAt
          ? closing.signal
          : AbortSignal.any([closing.signal, AbortSignal.timeout(Math.ceil(Math.max(0, endsAt - now())))]);
      const progress = freshProgress(randomUUID());
      const shared = { client, artifacts, bounds, signal, now, endsAt, serverTime, deadline };
      const download: DownloadTry = { ...shared, progress, fresh: true, last: false, flowed: false };
      const tried = await downloadOnce(download, video, info.attempt).catch(reported(null));
      if (tried !== null && 'video' in tried) {
        const { bytes } = tried.video.artifact;
        deps.events?.downloaded({ account, taskId, result: 'downloaded', bytes });
        return tried;
      }
      // The video's own download does not resume this part.
      await discardPart(download).catch(reported(undefined));
      if (tried !== null) deps.events?.downloaded({ account, taskId, result: tried.problem.kind });
      const isCut = isOver() || serverTime() >= until;
      return isCut ? null : tried;
    },
    close: () => clearTimeout(timer),
  };
}
