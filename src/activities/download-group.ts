import { randomUUID } from 'node:crypto';
import { activityInfo, Context } from '@temporalio/activity';
import { DOWNLOAD_BOUNDS } from '../domain/download';
import { type VideoTask } from '../domain/video-task';
import {
  delayAfter,
  type DownloadDeps,
  downloadOnce,
  type FetchedVideo,
  NO_ACCOUNT,
  tryBudget,
} from './download-video';
import { freshProgress } from './fetch-body';
import { discardPart, type DownloadTry } from './fetch-video';

/** One try for each of many videos, within the time of one activity attempt. */
export interface DownloadGroup {
  /**
   * Makes the try, with every check of `media.downloadVideo` (C4.1, C4.3). Of one that fails the part is deleted, because
   * the video's separate download does not resume it. Never throws.
   */
  fetch(video: VideoTask): Promise<FetchedVideo | FailedTry>;
  /** Whether no try may begin any more: the time is over, or the activity is cancelled. */
  isOver(): boolean;
  close(): void;
}

export interface FailedTry {
  /** Milliseconds before the next try (C7.4, C8.7). */
  readonly waitMs: number;
}

/** Videos of one group that are fetched concurrently. */
export const CONCURRENT_DOWNLOADS = 8;

/** Call it in the activity. The caller closes it. */
export function openDownloadGroup(deps: DownloadDeps): DownloadGroup {
  const now = deps.now ?? Date.now;
  const bounds = { ...DOWNLOAD_BOUNDS, ...deps.bounds };
  const { artifacts } = deps;
  const info = activityInfo();
  const { cancellationSignal: signal } = Context.current();
  const budgetMs = tryBudget(info, bounds);
  const endsAt = now() + budgetMs;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), budgetMs);

  const fetch = async (video: VideoTask): Promise<FetchedVideo | FailedTry> => {
    const { account, taskId } = video;
    const client = deps.accounts(account);
    if (client === undefined) return { waitMs: delayAfter(NO_ACCOUNT, 1, bounds) };
    const progress = freshProgress(randomUUID(), now());
    const shared = { client, artifacts, bounds, signal, now, endsAt, deadline: deadline.signal };
    const turn: DownloadTry = { ...shared, progress, fresh: true, last: false, flowed: false };
    // An internal fault: the video's separate download meets and reports it again.
    const tried = await downloadOnce(turn, video, info.attempt).catch(() => undefined);
    if (tried !== undefined && 'video' in tried) {
      const { bytes } = tried.video.artifact;
      deps.events?.downloaded({ account, taskId, result: 'downloaded', bytes });
      return tried;
    }
    await discardPart(turn).catch(() => undefined);
    if (tried === undefined) return { waitMs: bounds.minDelayMs };
    deps.events?.downloaded({ account, taskId, result: tried.problem.kind });
    return { waitMs: delayAfter(tried.problem, 1, bounds) };
  };

  return {
    fetch,
    isOver: () => signal.aborted || deadline.signal.aborted,
    close: () => clearTimeout(timer),
  };
}
