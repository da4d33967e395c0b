import { activityInfo, Context, type Info } from '@temporalio/activity';
import { type ArtifactStore } from '../artifacts/artifact-store';
import { type DownloadVideoInput, type DownloadVideoResult } from '../domain/download';
import { DOWNLOAD_BOUNDS, type DownloadBounds } from '../domain/download-bounds';
import { type MediaClient } from '../service/media-client';
import { decideDownload } from './download-decision';
import { downloadOnce, factsOf, type FetchedVideo, isShutdown, NO_ACCOUNT, tryBudget } from './download-once';
import { discardPart, type DownloadTry } from './download-place';
import { type DownloadProblem, reasonOf } from './download-problem';
import { digestOf, type DownloadProgress, freshProgress, noteFault, readProgress } from './download-progress';
import { storeSidecar } from './download-sidecar';
import { retryLater } from './failures';
import { startHeartbeat } from './heartbeat';

export interface DownloadDeps {
  /** The client of exactly this account; undefined when the worker does not have it. */
  readonly accounts: (account: string) => MediaClient | undefined;
  readonly artifacts: ArtifactStore;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Narrower bounds, for tests and small workers. */
  readonly bounds?: Partial<DownloadBounds>;
}

/**
 * `media.downloadVideo`: fetches, verifies and stores the video of a completed task (architecture: Download, C3.2, C4.1 to C4.3).
 * One pass over the places of the result per attempt. It throws only to be tried again (BENIGN, never before
 * Retry-After) or when it is cancelled; the last try returns `content_unavailable`. It never creates anything.
 */
export function createDownloadVideo(
  deps: DownloadDeps,
): (input: DownloadVideoInput) => Promise<DownloadVideoResult> {
  const now = deps.now ?? Date.now;
  const bounds = { ...DOWNLOAD_BOUNDS, ...deps.bounds };
  return async (input) => {
    const info = activityInfo();
    const startedAt = now();
    const progress = progressOf(info, startedAt);
    const beat = startHeartbeat(() => ({ ...progress }));
    const budgetMs = tryBudget(info, bounds);
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), budgetMs);
    try {
      const client = deps.accounts(input.video.account);
      if (client === undefined) return settle(NO_ACCOUNT, { info, progress, bounds, now });
      const turn: DownloadTry = {
        client,
        artifacts: deps.artifacts,
        bounds,
        progress,
        signal: Context.current().cancellationSignal,
        now,
        endsAt: startedAt + budgetMs,
        deadline: deadline.signal,
        last:
          info.attempt - progress.elsewhere >= bounds.maxTries ||
          info.attempt >= (info.retryPolicy?.maximumAttempts || Infinity),
        flowed: false,
      };
      const result = await downloadOnce(turn, input.video.taskId);
      if ('video' in result) return await finish(deps, input, { downloaded: result, info, startedAt, now });
      if (turn.signal.aborted) return await cancelled(turn);
      // A line that is cut again and again still brings the video nearer; the number of tries stays bounded.
      if (turn.flowed && result.problem.kind === 'network') progress.windowStart = now();
      return settle(result.problem, { info, progress, bounds, now, lives: result.lives });
    } finally {
      clearTimeout(timer);
      beat.beat();
      beat.stop();
    }
  };
}

function progressOf(info: Info, startedAt: number): DownloadProgress {
  const { workflowExecution, activityId } = info;
  const owner = digestOf(workflowExecution?.workflowId ?? '', workflowExecution?.runId ?? '', activityId);
  // Time in which no worker was there is not counted against the service.
  const windowStart = info.attempt === 1 ? startedAt : info.scheduledTimestampMs;
  return readProgress(info.heartbeatDetails, owner) ?? freshProgress(owner, windowStart);
}

interface Standing {
  readonly info: Info;
  readonly progress: DownloadProgress;
  readonly bounds: DownloadBounds;
  readonly now: () => number;
  readonly lives?: boolean;
}

/** Tries again later by a retryable failure, or says for good why there is no content. */
function settle(
  problem: DownloadProblem,
  { info, progress, bounds, now, lives = false }: Standing,
): DownloadVideoResult {
  noteFault(progress, problem.kind);
  const at = now();
  const isElsewhere = problem.kind === 'account_not_configured';
  // Time in which no worker that could ask was there is not counted against the service.
  if (isElsewhere) progress.windowStart = at;
  const closesAt = info.scheduledTimestampMs + info.scheduleToCloseTimeoutMs;
  const policyTries = info.retryPolicy?.maximumAttempts ?? 0;
  const decision = decideDownload(
    problem,
    {
      attempt: info.attempt,
      now: at,
      windowStart: progress.windowStart,
      sameFault: progress.sameFault,
      lives,
      elsewhere: progress.elsewhere,
      ...(policyTries > 0 ? { policyTries } : {}),
      ...(info.scheduleToCloseTimeoutMs > 0 && closesAt > at ? { closesAt } : {}),
    },
    bounds,
  );
  const { kind, message, httpStatus, rejected = null } = problem;
  const status = httpStatus === undefined ? {} : { httpStatus };
  if ('retryInMs' in decision)
    throw retryLater({
      class: kind,
      message,
      // Spread, so that the tries of many videos do not meet the same worker again together.
      delayMs: isElsewhere ? Math.round(decision.retryInMs * (0.5 + Math.random())) : decision.retryInMs,
      ...status,
    });
  return {
    outcome: 'content_unavailable',
    reason: reasonOf(kind),
    message,
    tries: info.attempt,
    rejected,
    ...status,
  };
}

/** Never returns: a worker that stops hands over, and keeps the part; everything else gives the part up. */
async function cancelled(turn: DownloadTry): Promise<never> {
  if (isShutdown(turn.signal))
    throw retryLater({
      class: 'worker_shutdown',
      message: 'The worker stopped during the download.',
      delayMs: 1_000,
    });
  await discardPart(turn).catch(() => undefined);
  return Context.current().cancelled;
}

interface Finished {
  readonly downloaded: FetchedVideo;
  readonly info: Info;
  readonly startedAt: number;
  readonly now: () => number;
}

async function finish(
  { artifacts }: DownloadDeps,
  { video, sidecarPrompt }: DownloadVideoInput,
  { downloaded, info, startedAt, now }: Finished,
): Promise<DownloadVideoResult> {
  const facts = factsOf(video, downloaded);
  const sidecar = await storeSidecar(artifacts, {
    video,
    downloaded: downloaded.video,
    reported: facts.reported,
    usage: facts.usage,
    warnings: facts.warnings,
    timings: {
      scheduledAt: iso(info.scheduledTimestampMs),
      startedAt: iso(startedAt),
      finishedAt: iso(now()),
      tries: info.attempt,
    },
    prompt: sidecarPrompt,
  }).catch(() => null);
  // The video is stored and paid for: a side-car that is not must not cost it.
  const warnings =
    sidecar === null ? [...facts.warnings, 'The side-car could not be stored.'] : facts.warnings;
  return { outcome: 'downloaded', sidecar, ...facts, warnings };
}

const iso = (milliseconds: number) => new Date(milliseconds).toISOString();
