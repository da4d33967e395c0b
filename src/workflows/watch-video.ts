import {
  ActivityFailure,
  CancellationScope,
  continueAsNew,
  isCancellation,
  workflowInfo,
} from '@temporalio/workflow';
import { type DownloadVideoResult } from '../domain/download';
import { outcomes, type VideoEnd } from '../domain/make-outcome';
import { type VideoOutcome } from '../domain/outcome';
import { type PolledRecord } from '../domain/poll-answers';
import { beginWatch, type WatchState, type WatchVerdict } from '../domain/poll-watch';
import { type PollingProfile } from '../domain/polling-profile';
import { billing, type Money } from '../domain/price';
import { DEFAULT_WAIT_MS, POLL_TIMEOUTS } from '../domain/timeouts';
import { type VideoTask } from '../domain/video-task';
import { type AwaitVideoInput, type CarriedVideo, type GenerateVideoInput } from '../domain/workflow-inputs';
import { milliseconds, queuesOf } from './inputs';
import { PollLoop, type PollLoopOptions } from './poll-loop';
import { downloadVideoActivity } from './proxies';
import { executionExpiresAt, withTimeLimit } from './timers';
import { type VideoProgress } from './video-progress';

type Watching = Extract<CarriedVideo, { phase: 'watching' }>;

/**
 * The second half of a video: watches one task with its own poll loop, then ends by its verdict. Used for a video that
 * was just created, for one that is awaited later, and for both after a continue-as-new.
 */
export async function watchVideo(
  input: GenerateVideoInput | AwaitVideoInput,
  carried: Watching,
  progress: VideoProgress,
): Promise<VideoOutcome> {
  const loop = PollLoop.from(carried.loop, {
    ...loopOptions(input),
    onTick: () => progress.show(),
  });
  const saved = carried.loop.groups[0]?.watches[0];
  if (saved === undefined) throw new Error('The carried state watches no task');
  // A run timeout starts again with every run; the caller's deadline does not.
  const watch = { ...saved, hardEndAt: hardEnd(saved.video.polling) };
  const estimate = carried.created?.estimate ?? null;
  const watching = loop.watch(watch);
  progress.update({
    phase: 'watching',
    creationKey: carried.creationKey,
    video: watch.video,
    deadlineAt: watch.deadlineAt,
    wait: null,
    loop,
  });
  const result = await watching;
  if (result.kind !== 'handover') progress.update({ ended: result.state });
  switch (result.kind) {
    case 'handover':
      return continueAsNew({ ...input, carried: { ...carried, loop: loop.snapshot() } });
    case 'cancelled':
      return outcomes.cancelled(result.state.video, carried.creationKey, billing(estimate, 'needs_review'));
    case 'verdict':
      return finishVideo(result.verdict, result.state, {
        estimate,
        creationKey: carried.creationKey,
        warnings: carried.created?.warnings ?? [],
        ...(carried.created?.mayBeOwed === true && { mayBeOwed: true }),
        downloadQueue: queuesOf(input.queues).download,
        sidecarPrompt:
          input.sidecarPrompt === 'include' && 'request' in input ? input.request.prompt : undefined,
        onDownload: () => progress.update({ phase: 'downloading' }),
      });
  }
}

/** Begins a wait. `now` is workflow time: the deadline never depends on a worker's clock (architecture: Wait). */
export function startWatching(
  input: GenerateVideoInput | AwaitVideoInput,
  start: {
    readonly video: VideoTask;
    readonly now: number;
    readonly firstPollAt: number;
    /** Status in the create's reply. */
    readonly lastStatus?: string;
    readonly creationKey: string | null;
    readonly created: Watching['created'];
  },
): Watching {
  const { video, now, firstPollAt, lastStatus, creationKey, created } = start;
  const hardEndAt = hardEnd(video.polling);
  const asked = now + (milliseconds(input.waitFor ?? DEFAULT_WAIT_MS) ?? DEFAULT_WAIT_MS);
  const deadlineAt = hardEndAt === null ? asked : Math.min(asked, hardEndAt);
  const watch = beginWatch({
    video,
    now,
    deadlineAt,
    firstPollAt,
    hardEndAt,
    lastStatus: lastStatus ?? null,
  });
  const group = {
    account: video.account,
    lastTickAt: 0,
    intervalMs: video.polling.minSeconds * 1000,
    watches: [watch],
  };
  return { v: 1, phase: 'watching', creationKey, created, loop: { v: 1, groups: [group] } };
}

function loopOptions(input: GenerateVideoInput | AwaitVideoInput): PollLoopOptions {
  const after = input.slowPolling === undefined ? undefined : milliseconds(input.slowPolling.after);
  const interval = input.slowPolling === undefined ? undefined : milliseconds(input.slowPolling.interval);
  return {
    taskQueue: queuesOf(input.queues).poll,
    slow:
      after === undefined || interval === undefined ? undefined : { afterMs: after, intervalMs: interval },
    shouldHandOver: () => workflowInfo().continueAsNewSuggested,
  };
}

/**
 * The latest time at which a wait may end by itself: one interval, one poll and a margin before the execution
 * or this run expires (architecture: Wait). Null when nothing expires. Workflow time, milliseconds.
 */
function hardEnd(polling: PollingProfile): number | null {
  const expiresAt = executionExpiresAt();
  if (expiresAt === null) return null;
  const interval = polling.maxSeconds * 1000;
  // The start-to-close timeout of a tick is its budget, at most the interval, plus `overBudgetMs`.
  return expiresAt - (interval + interval + POLL_TIMEOUTS.overBudgetMs + POLL_TIMEOUTS.expiryMarginMs);
}

interface FinishOptions {
  readonly estimate: Money | null;
  readonly creationKey: string | null;
  readonly warnings: readonly string[];
  readonly mayBeOwed?: true;
  readonly downloadQueue: string;
  readonly sidecarPrompt?: string | undefined;
  readonly onDownload?: () => void;
}

/** Turns the verdict of a watch into an outcome: only a completed task is downloaded (C3.2). */
async function finishVideo(
  verdict: WatchVerdict,
  state: WatchState,
  options: FinishOptions,
): Promise<VideoOutcome> {
  const end: VideoEnd = {
    video: state.video,
    estimate: options.estimate,
    state,
    ...(options.mayBeOwed === true && { mayBeOwed: true }),
  };
  switch (verdict.kind) {
    case 'still_running':
      return outcomes.stillRunning(end);
    case 'task_unknown':
      return outcomes.taskUnknown(end);
    case 'failed':
      return outcomes.failed(end, verdict.error, verdict.record.usage);
    case 'completed':
      return download(verdict.record, end, options);
  }
}

async function download(record: PolledRecord, end: VideoEnd, options: FinishOptions): Promise<VideoOutcome> {
  options.onDownload?.();
  const fetch = downloadVideoActivity({ taskQueue: options.downloadQueue, summary: 'download' });
  const limit = end.state.hardEndAt;
  try {
    const input = {
      video: end.video,
      ...(options.sidecarPrompt === undefined ? {} : { sidecarPrompt: options.sidecarPrompt }),
    };
    const result = await (limit === null
      ? fetch(input)
      : withTimeLimit(Math.max(1, limit - Date.now()), 'limit of the download', () => fetch(input)));
    return ofDownload(result, record, end, options);
  } catch (error) {
    if (isCancellation(error) && CancellationScope.current().consideredCancelled) {
      return outcomes.cancelled(
        end.video,
        options.creationKey,
        billing(options.estimate, 'needs_review', record.usage),
      );
    }
    if (!isCancellation(error) && !(error instanceof ActivityFailure)) throw error;
    // The execution is about to expire, or no worker could finish the download. The file may be intact: the outcome
    // keeps the task, and a later await downloads it (architecture: Wait).
    return outcomes.stillRunning(end, record.status);
  }
}

function ofDownload(
  result: DownloadVideoResult,
  record: PolledRecord,
  end: VideoEnd,
  options: FinishOptions,
): VideoOutcome {
  return result.outcome === 'downloaded'
    ? outcomes.completed(end, result, record, options.warnings)
    : outcomes.contentUnavailable(end, result, record.usage);
}
