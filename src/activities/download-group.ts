import { randomUUID } from 'node:crypto';
import { activityInfo, Context } from '@temporalio/activity';
import { DOWNLOAD_BOUNDS, type FailedTry } from '../domain/download';
import { type VideoTask } from '../domain/video-task';
import { attemptClock } from '../domain/attempt-clock';
import { type DownloadDeps, downloadOnce, type FetchedVideo, NO_ACCOUNT, tryBudget } from './download-video';
import { freshProgress } from './fetch-body';
import { discardPart, type DownloadTry } from './fetch-video';
import { reported } from './mistakes';

/** One try for each of many videos, within the time of one activity attempt. */
export interface DownloadGroup {
  /**
   * Makes the try, with every check of `media.downloadVideo` (C4.1, C4.3). Of one that fails the part is deleted, because
   * the video's separate download does not resume it. Null for an internal fault, which that one meets and reports again.
   * Never throws.
   * @param until when this try ends at the latest, in milliseconds since the Unix epoch by the server's time
   */
  fetch(video: VideoTask, until?: number): Promise<FetchedVideo | FailedTry | null>;
  /** Whether no try may begin any more: the time is over, or the activity is cancelled. */
  isOver(): boolean;
  /** Whether this time of the server has come. */
  isPast(time: number): boolean;
  close(): void;
}

/** Videos of one group that are fetched concurrently. */
export const CONCURRENT_DOWNLOADS = 8;

/** Call it in the activity. The caller closes it. */
export function openDownloadGroup(deps: DownloadDeps): DownloadGroup {
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

  const fetch: DownloadGroup['fetch'] = async (video, until = Infinity) => {
    const { account, taskId } = video;
    const client = deps.accounts(account);
    if (client === undefined) return { problem: NO_ACCOUNT, lives: true };
    const endsAt = Math.min(closesAt, now() + until - serverTime());
    const deadline =
      endsAt === closesAt
        ? closing.signal
        : AbortSignal.any([closing.signal, AbortSignal.timeout(Math.ceil(Math.max(0, endsAt - now())))]);
    const progress = freshProgress(randomUUID());
    const shared = { client, artifacts, bounds, signal, now, endsAt, serverTime, deadline };
    const turn: DownloadTry = { ...shared, progress, fresh: true, last: false, flowed: false };
    const tried = await downloadOnce(turn, video, info.attempt).catch(reported(null));
    if (tried !== null && 'video' in tried) {
      const { bytes } = tried.video.artifact;
      deps.events?.downloaded({ account, taskId, result: 'downloaded', bytes });
      return tried;
    }
    await discardPart(turn).catch(reported(undefined));
    if (tried !== null) deps.events?.downloaded({ account, taskId, result: tried.problem.kind });
    return tried;
  };

  return {
    fetch,
    isOver: () => signal.aborted || closing.signal.aborted,
    isPast: (time) => serverTime() >= time,
    close: () => clearTimeout(timer),
  };
}
