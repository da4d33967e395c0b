import { activityInfo, Context, type Info } from '@temporalio/activity';
import { attemptClock } from '../domain/clocks';
import {
  DOWNLOAD_BOUNDS,
  type DownloadBounds,
  type Downloaded,
  type DownloadProblem,
  type DownloadVideoInput,
  type DownloadVideoResult,
  type FailedTry,
} from '../domain/download';
import { type PollErrorClass } from '../domain/poll-answers';
import { type VideoTask } from '../domain/video-task';
import { type GetVideoResult, type MediaClient } from '../service/media-client';
import { type ArtifactStore, toArtifactError } from '../stores/artifacts/artifact-store';
import { decideDownload, reasonOf } from './download-problems';
import { factWarnings, storeSidecar } from './download-sidecar';
import { reported, retryLater } from './failures';
import { digestOf, type DownloadProgress, freshProgress, noteFault, readProgress } from './fetch-body';
import {
  discardPart,
  type DownloadedVideo,
  type DownloadTry,
  tryLocations,
  type TryResult,
} from './fetch-video';
import { startHeartbeat } from './heartbeat';
import { type PaidEvents } from './media-metrics';
import { downloadInSpan } from './spans';

export interface DownloadDeps {
  /** Returns the client for exactly this account, or undefined if the worker does not have it. */
  readonly accounts: (account: string) => MediaClient | undefined;
  readonly artifacts: ArtifactStore;
  /** Returns milliseconds from a monotonic clock. @default `performance.now` */
  readonly now?: () => number;
  /** Tighter bounds, for tests and small workers. */
  readonly bounds?: Partial<DownloadBounds>;
  /** @default reports nothing */
  readonly events?: PaidEvents | undefined;
}

/**
 * Implements `media.downloadVideo`: fetches, verifies and stores a completed task's video (architecture: Download).
 * Each attempt tries each of the result's locations once. If a watcher has already made an attempt, that one counts as
 * the first. Throws only to request a retry (BENIGN, never before Retry-After) or if the activity is canceled. The last
 * attempt returns `content_unavailable`. Never creates anything.
 */
export function createDownloadVideo(
  deps: DownloadDeps,
): (input: DownloadVideoInput) => Promise<DownloadVideoResult> {
  const now = deps.now ?? (() => performance.now());
  const bounds = { ...DOWNLOAD_BOUNDS, ...deps.bounds };
  return async (input) => {
    const info = activityInfo();
    const startedAt = new Date();
    const progress = progressOf(info);
    const spent = stopwatch(progress, now);
    const beat = startHeartbeat(() => ({ ...spent() }));
    const serverTime = attemptClock(info, now);
    const budgetMs = tryBudget(info, bounds);
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), budgetMs);
    try {
      const { account, taskId } = input.video;
      if (input.tried !== undefined && info.attempt === 1)
        return settle(input.tried.problem, { info, spent, bounds, serverTime, lives: input.tried.lives });
      const client = deps.accounts(account);
      if (client === undefined) return settle(NO_DOWNLOAD_ACCOUNT, { info, spent, bounds, serverTime });
      const report = (result: string, more: { bytes?: number; givenUp?: string } = {}) =>
        deps.events?.downloaded({ account, taskId, result, ...more });
      const download: DownloadTry = {
        client,
        artifacts: deps.artifacts,
        bounds,
        progress,
        signal: Context.current().cancellationSignal,
        now,
        endsAt: now() + budgetMs,
        serverTime,
        deadline: deadline.signal,
        last:
          info.attempt - progress.elsewhere >= bounds.maxTries ||
          info.attempt >= (info.retryPolicy?.maximumAttempts || Infinity),
        flowed: false,
      };
      const result = await downloadOnce(download, input.video, info.attempt);
      if ('video' in result) {
        const finished = await withSidecar(deps, input, { downloaded: result, info, startedAt });
        report('downloaded', { bytes: result.video.artifact.bytes });
        return finished;
      }
      if (download.signal.aborted) return await cancelled(download);
      // A connection that breaks after delivering some bytes has still made progress. The number of attempts stays
      // limited.
      if (download.flowed && result.problem.kind === 'network') spent().windowMs = 0;
      const { kind } = result.problem;
      try {
        const settled = settle(result.problem, { info, spent, bounds, serverTime, lives: result.lives });
        report(kind, settled.outcome === 'content_unavailable' ? { givenUp: settled.reason } : {});
        return settled;
      } catch (retry) {
        report(kind);
        throw retry;
      }
    } catch (error) {
      // Reports the state from which the next attempt continues.
      beat.beat();
      throw error;
    } finally {
      clearTimeout(timer);
      beat.stop();
    }
  };
}

function progressOf(info: Info): DownloadProgress {
  const { workflowExecution, activityId } = info;
  const owner = digestOf(workflowExecution?.workflowId ?? '', workflowExecution?.runId ?? '', activityId);
  // Without an earlier attempt's state, all of the time since the activity was scheduled counts.
  const windowMs = Math.max(0, info.currentAttemptScheduledTimestampMs - info.scheduledTimestampMs);
  return readProgress(info.heartbeatDetails, owner) ?? freshProgress(owner, windowMs);
}

/** Returns a function that updates the progress with the time spent so far. */
function stopwatch(progress: DownloadProgress, now: () => number): () => DownloadProgress {
  let counted = now();
  return () => {
    progress.windowMs += now() - counted;
    counted = now();
    return progress;
  };
}

interface FailedDownload {
  readonly info: Info;
  readonly spent: () => DownloadProgress;
  readonly bounds: DownloadBounds;
  readonly serverTime: () => number;
  readonly lives?: boolean | undefined;
}

/** Throws a retryable failure, or returns the final reason why there is no content. */
function settle(
  problem: DownloadProblem,
  { info, spent, bounds, serverTime, lives }: FailedDownload,
): DownloadVideoResult {
  const progress = spent();
  noteFault(progress, problem.kind);
  const isElsewhere = problem.kind === 'account_not_configured';
  const leftMs = info.scheduledTimestampMs + info.scheduleToCloseTimeoutMs - serverTime();
  const policyTries = info.retryPolicy?.maximumAttempts ?? 0;
  const decision = decideDownload(
    problem,
    {
      attempt: info.attempt,
      windowMs: progress.windowMs,
      sameFault: progress.sameFault,
      lives,
      elsewhere: progress.elsewhere,
      ...(policyTries > 0 ? { policyTries } : {}),
      ...(info.scheduleToCloseTimeoutMs > 0 ? { leftMs } : {}),
    },
    bounds,
  );
  const { kind, message, httpStatus, retryAfterMs, rejected = null } = problem;
  const status = httpStatus === undefined ? {} : { httpStatus };
  if ('retryInMs' in decision) {
    // Jitter keeps the attempts for many videos from all reaching one worker at the same time.
    const jitter = isElsewhere || kind === 'storage' ? 0.5 + Math.random() : 1;
    const delayMs = Math.round(decision.retryInMs * jitter);
    // Time during which no worker has the account does not count against the service.
    progress.windowMs = isElsewhere ? 0 : progress.windowMs + delayMs;
    throw retryLater({ class: kind, message, delayMs, retryAfterMs, ...status });
  }
  return {
    outcome: 'content_unavailable',
    reason: reasonOf(kind),
    message,
    tries: info.attempt,
    rejected,
    ...status,
  };
}

/**
 * Always throws. If the worker is shutting down, keeps the part for the next attempt. On any other cancellation,
 * deletes the part.
 */
async function cancelled(download: DownloadTry): Promise<never> {
  if (isShutdown(download.signal))
    throw retryLater({
      class: 'worker_shutdown',
      message: 'The worker stopped during the download.',
      delayMs: 1_000,
    });
  await discardPart(download).catch(reported(undefined));
  return Context.current().cancelled;
}

interface Finished {
  readonly downloaded: FetchedVideo;
  readonly info: Info;
  readonly startedAt: Date;
}

/** Adds a stored video's sidecar. */
export async function withSidecar(
  { artifacts }: Pick<DownloadDeps, 'artifacts'>,
  { video, sidecarPrompt }: DownloadVideoInput,
  { downloaded, info, startedAt }: Finished,
): Promise<Downloaded> {
  const facts = deliveredFacts(video, downloaded);
  const sidecar = await storeSidecar(artifacts, {
    video,
    downloaded: downloaded.video,
    reported: facts.reported,
    usage: facts.usage,
    warnings: facts.warnings,
    timings: {
      scheduledAt: new Date(info.scheduledTimestampMs).toISOString(),
      startedAt: startedAt.toISOString(),
      finishedAt: new Date().toISOString(),
      tries: info.attempt,
    },
    prompt: sidecarPrompt,
  }).catch(reported(null));
  // The video is stored and paid for, so a failed sidecar must not lose it.
  const warnings =
    sidecar === null ? [...facts.warnings, 'The sidecar could not be stored.'] : facts.warnings;
  return { outcome: 'downloaded', sidecar, ...facts, warnings };
}

/** A verified and stored video, with the task's record at that time. */
export interface FetchedVideo {
  readonly video: DownloadedVideo;
  readonly record: GetVideoResult;
}

/** How long before startToClose an attempt stops, in milliseconds. */
const CLOSE_MARGIN_MS = 10_000;

/** Returns the milliseconds that an activity attempt has for its downloads. */
export function tryBudget(info: Info, bounds: DownloadBounds): number {
  return Math.min(
    bounds.tryDeadlineMs,
    Math.max(info.startToCloseTimeoutMs - CLOSE_MARGIN_MS, info.startToCloseTimeoutMs / 2),
  );
}

/** Whether the signal was aborted because the worker is shutting down, not because the download was canceled. */
export function isShutdown({ aborted, reason }: AbortSignal): boolean {
  return aborted && (reason as { message?: unknown } | undefined)?.message === 'WORKER_SHUTDOWN';
}

export const NO_DOWNLOAD_ACCOUNT: DownloadProblem = {
  kind: 'account_not_configured',
  message: "This worker does not have the task's account, so nothing was requested. The task is kept.",
};

/**
 * Makes one attempt to download a video, alone or in a group: reads its record, then tries each of its result's
 * locations. A storage error is also returned as a problem.
 * @param attempt number of the activity attempt
 */
export async function downloadOnce(
  download: DownloadTry,
  { account, taskId }: VideoTask,
  attempt: number,
): Promise<TriedVideo> {
  return downloadInSpan({ account, attempt }, download, () => tryOnce(download, taskId));
}

type TriedVideo = FetchedVideo | FailedTry;

async function tryOnce(download: DownloadTry, taskId: string): Promise<TriedVideo> {
  const record = await download.client.getVideo(taskId, { signal: download.signal, purpose: 'content' });
  const result = await locations(download, taskId, record);
  if ('video' in result) return { video: result.video, record };
  // This runs only for completed tasks, so the result may exist even if the service does not answer.
  const isKept = record.kind === 'record' ? record.record.phase === 'completed' : isAway(record.error);
  const problem = expired(result.problem, record, download.serverTime());
  return { problem, lives: isKept && !download.flowed };
}

/** Tolerated clock difference, in milliseconds. */
const CLOCK_MARGIN_MS = 60_000;

/** Marks a missing result as permanently gone if its record's expiry has passed. */
function expired(problem: DownloadProblem, record: GetVideoResult, now: number): DownloadProblem {
  const until = record.kind === 'record' ? record.record.expiresAt : undefined;
  if (until === undefined || (problem.kind !== 'missing' && problem.kind !== 'expired')) return problem;
  if (now < Date.parse(until) + CLOCK_MARGIN_MS) return problem;
  const status = problem.httpStatus === undefined ? '' : ` (HTTP ${problem.httpStatus})`;
  const message = `The service kept the result only until ${until} and no longer has it${status}.`;
  return { ...problem, kind: 'expired', final: true, message };
}

const AWAY: ReadonlySet<PollErrorClass> = new Set(['network', 'rate_limited', 'unavailable']);
const isAway = (error: PollErrorClass): boolean => AWAY.has(error);

async function locations(download: DownloadTry, taskId: string, record: GetVideoResult): Promise<TryResult> {
  try {
    return await tryLocations(download, taskId, record);
  } catch (error) {
    // An error without a code comes neither from the store nor from the system, so it is a bug in this package.
    if (typeof (error as { code?: unknown }).code !== 'string') throw error;
    return { problem: { kind: 'storage', message: toArtifactError(error).message } };
  }
}

type Facts = Omit<Downloaded, 'outcome' | 'sidecar'>;

/** Returns a stored video's facts: its file, what the service reported, and where the two differ. */
export function deliveredFacts(task: VideoTask, { video, record }: FetchedVideo): Facts {
  const { reported = {}, usage } = record.kind === 'record' ? record.record : {};
  const warnings = [...video.warnings, ...factWarnings(task, reported, video.facts)];
  if (record.kind === 'error')
    warnings.push('The record could not be read, so the reported facts and the usage are unknown.');
  return { artifact: video.artifact, reported, ...(usage === undefined ? {} : { usage }), warnings };
}
