import {
  ActivityFailure,
  CancellationScope,
  continueAsNew,
  defineSignal,
  getExternalWorkflowHandle,
  isCancellation,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import { otherwise } from '../domain/bug';
import { type DownloadVideoInput, type DownloadVideoResult } from '../domain/download';
import { outcomeOfDownload, outcomeOfWatch, type WaitOrigin, type WatchEnd } from '../domain/end-of-wait';
import { given } from '../domain/json';
import { billing } from '../domain/money';
import { ACTIVITY, DEFAULT_CREDENTIAL, SIGNAL } from '../domain/names';
import { outcomes, type VideoOutcome } from '../domain/outcome';
import { PACE, type SlowPolling } from '../domain/poll-cadence';
import { milliseconds } from '../domain/shape';
import { DEFAULT_WAIT_MS, POLL_TIMEOUTS, WATCH_TIMEOUTS } from '../domain/timeouts';
import { type VideoState } from '../domain/video-state';
import { type PollingMode, type PollingProfile, type VideoTask, videoTaskById } from '../domain/video-task';
import { beginWatch, type Watch, type WatchState } from '../domain/watch-state';
import {
  deliveryQueue,
  type Waiter,
  type WatchAnswer,
  type WatcherFacts,
  watchersOf,
} from '../domain/watcher';
import {
  AWAIT_VIDEO_SHAPE,
  type AwaitVideoInput,
  type CarriedWait,
  type GenerateVideoInput,
} from '../domain/workflow-inputs';
import { NO_INPUT, type OnProgress, onSignal, queuesOf, requireInput } from './handlers';
import { type PollEnd, PollLoop } from './poll-loop';
import { activity } from './proxies';
import { executionExpiresAt, withTimeLimit } from './timers';
import { trackVideo, type VideoProgress } from './video-progress';
import { PINNED } from './workflow-metadata';

/**
 * Fetches and verifies a finished video's file. Returns null if no worker could finish the download or if time ran out.
 * @param endsAt when the caller is about to expire, in workflow time; null if it does not expire
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

/**
 * Makes a video's next poll run earlier. Send the signal to the video's workflow, or to its watcher with the workflow
 * ID.
 */
export const nudgeSignal = defineSignal<[workflowId?: string]>(SIGNAL.nudge);

type WaitInput = GenerateVideoInput | AwaitVideoInput;

interface WaitStart extends WaitOrigin {
  readonly video: VideoTask;
  /** Workflow time: the deadline must not depend on a worker's clock (architecture: Wait). */
  readonly now: number;
  readonly firstPollAt: number;
  readonly lastStatus?: string;
  /** The worker's default, used if the input does not specify polling. */
  readonly polling: PollingMode | undefined;
}

export function beginWait(input: WaitInput, start: WaitStart): CarriedWait {
  const { video, now, firstPollAt, lastStatus = null, creationKey, created, polling } = start;
  const hardEndAt = hardEnd(video.polling);
  const asked = now + (milliseconds(input.waitFor ?? DEFAULT_WAIT_MS) ?? DEFAULT_WAIT_MS);
  const deadlineAt = hardEndAt === null ? asked : Math.min(asked, hardEndAt);
  const state = beginWatch({ video, now, deadlineAt, firstPollAt, hardEndAt, lastStatus });
  const shared = (input.polling ?? polling) === 'shared';
  return { v: 1, phase: 'watching', creationKey, created, state, ...(shared && { shared }) };
}

/**
 * Waits for a video's outcome (contract 3). Watches the task through a watcher or its own poll loop, then fetches the
 * file unless the watcher has already done so. After a continue-as-new, continues the earlier wait.
 */
export async function waitForVideo(
  input: WaitInput,
  carried: CarriedWait,
  progress: VideoProgress,
): Promise<VideoOutcome> {
  // The run timeout restarts with every run, but the caller's deadline does not.
  const hardEndAt = hardEnd(carried.state.video.polling);
  const watch: Watch = { state: { ...carried.state, hardEndAt } };
  const wait = { input, carried, progress, watch };
  const shared = carried.shared === true ? await byWatcher(wait) : undefined;
  const end = shared ?? (await byOwnLoop(wait));
  progress.update({ loop: null, watch: end });
  const { state, verdict } = end;
  if (verdict.kind !== 'completed') return outcomeOfWatch({ state, verdict }, carried);
  const file = end.downloaded ?? (await fetchFile(wait, end));
  return outcomeOfDownload({ state, record: verdict.record }, file, carried);
}

interface OpenWait {
  readonly input: WaitInput;
  readonly carried: CarriedWait;
  readonly progress: VideoProgress;
  readonly watch: Watch;
}

function factsOf({ carried: { creationKey, created }, watch }: OpenWait) {
  const { video, deadlineAt } = watch.state;
  const estimate = created?.estimate ?? null;
  return { phase: 'watching', creationKey, video, estimate, deadlineAt, wait: null, watch } as const;
}

/** Lets a watcher poll the task. Returns undefined if no watcher does. The video then polls on its own. */
async function byWatcher(wait: OpenWait): Promise<WatchEnd | undefined> {
  const { input, progress, watch } = wait;
  const { taskQueue } = workflowInfo();
  const place = { taskQueue, pollQueue: queuesOf(input.queues).poll, slow: slowPolling(input) };
  for (const watcher of watchersOf(watch.state.video, place)) {
    progress.update({ ...factsOf(wait), watcher: watcher.workflowId });
    onSignal(nudgeSignal, NO_INPUT, () => nudgeWatcher(watcher));
    const answer = await askWatcher(watch.state, watcher, takesDelivery(input));
    if (answer?.kind !== 'full') return answer;
  }
  return undefined;
}

/** Polls with a loop in this workflow, which continues as new when its history is full. */
async function byOwnLoop(wait: OpenWait): Promise<WatchEnd> {
  const { input, carried, progress, watch } = wait;
  let settle!: (end: PollEnd) => void;
  const ended = new Promise<PollEnd>((resolve) => (settle = resolve));
  const loop = new PollLoop({
    pace: PACE.own,
    taskQueue: queuesOf(input.queues).poll,
    slow: slowPolling(input),
    lastTick: carried.lastTick,
    onTick: () => progress.show(),
    shouldHandOver: () => workflowInfo().continueAsNewSuggested,
    onEnd: (_watch, end) => settle(end),
  });
  loop.add(watch);
  const cancelled = (): WatchEnd => {
    loop.remove(watch);
    return cancelledAt(watch.state);
  };
  const scope = CancellationScope.current();
  const cancellation = scope.consideredCancelled
    ? Promise.resolve(cancelled())
    : scope.cancelRequested.catch(otherwise(undefined)).then(cancelled);
  onSignal(nudgeSignal, NO_INPUT, () => loop.nudge(watch));
  progress.update({ ...factsOf(wait), watcher: null, loop });
  const end = await Promise.race([ended, cancellation]);
  if (end.kind === 'verdict') return end;
  const { state } = watch;
  return continueAsNew({ ...input, carried: { ...carried, state, lastTick: loop.lastTick() } });
}

const cancelledAt = (state: WatchState): WatchEnd => ({
  kind: 'verdict',
  verdict: { kind: 'cancelled' },
  state,
});

/**
 * Lets a watcher watch the task, using one activity that stays open until the watcher completes it. The activity's
 * timeouts are the durable deadline, so nothing depends on the watcher being alive (ADR 26). Returns undefined if the
 * activity failed.
 */
async function askWatcher(
  state: WatchState,
  watcher: WatcherFacts,
  file: Pick<Waiter, 'takesFile'>,
): Promise<WatchAnswer | undefined> {
  const limitMs = Math.max(1, latestAnswer(state) - Date.now());
  try {
    return await activity(ACTIVITY.watchVideo, {
      taskQueue: watcher.input.pollQueue,
      summary: 'watch',
      limitMs,
    })({ watcher, state, ...file });
  } catch (error) {
    const cancelled = isCancellation(error) && CancellationScope.current().consideredCancelled;
    if (!cancelled && !(error instanceof ActivityFailure)) throw error;
    await leave(watcher);
    return cancelled ? cancelledAt(state) : undefined;
  }
}

/**
 * Returns the latest time for an answer. The watcher gets two intervals after the deadline for the last poll, but only
 * one if the execution is about to expire.
 */
function latestAnswer({ deadlineAt, hardEndAt, video }: WatchState): number {
  const interval = video.polling.maxSeconds * 1000;
  const end = hardEndAt === null ? Infinity : hardEndAt + interval;
  return Math.min(deadlineAt + 2 * interval, end, Date.now() + WATCH_TIMEOUTS.longestMs);
}

/** Notifies the watcher that this video is not waiting anymore. If the watcher is gone, there is nothing to do. */
async function leave({ workflowId: watcherId }: WatcherFacts): Promise<void> {
  const { workflowId, runId } = workflowInfo();
  await CancellationScope.nonCancellable(() =>
    getExternalWorkflowHandle(watcherId).signal(SIGNAL.watchLeave, { workflowId, runId }),
  ).catch(otherwise(undefined));
}

async function nudgeWatcher({ workflowId: watcherId }: WatcherFacts): Promise<void> {
  await getExternalWorkflowHandle(watcherId)
    .signal(nudgeSignal, workflowInfo().workflowId)
    .catch(otherwise(undefined));
}

/** Whether a watcher may fetch the file as this video requires. Prompts are never passed to another workflow. */
function takesDelivery(input: WaitInput): Pick<Waiter, 'takesFile'> {
  const { poll, download } = queuesOf(input.queues);
  return download === deliveryQueue(poll) && promptToKeep(input) === undefined ? { takesFile: true } : {};
}

function fetchFile({ input, progress }: OpenWait, { state, tried }: WatchEnd) {
  progress.update({ phase: 'downloading' });
  const task = { video: state.video, ...given({ sidecarPrompt: promptToKeep(input), tried }) };
  return downloadVideo(task, queuesOf(input.queues).download, state.hardEndAt);
}

function promptToKeep(input: WaitInput): string | undefined {
  return input.sidecarPrompt === 'include' && 'request' in input ? input.request.prompt : undefined;
}

function slowPolling({ slowPolling: asked }: WaitInput): SlowPolling | undefined {
  const afterMs = milliseconds(asked?.after);
  const intervalMs = milliseconds(asked?.interval);
  return afterMs === undefined || intervalMs === undefined ? undefined : { afterMs, intervalMs };
}

/**
 * Returns the latest time at which a wait may still end normally: one interval, one poll and a margin before the
 * execution or this run expires (architecture: Wait). Returns null if nothing expires. Workflow time in milliseconds.
 */
function hardEnd(polling: PollingProfile): number | null {
  const expiresAt = executionExpiresAt();
  if (expiresAt === null) return null;
  const interval = polling.maxSeconds * 1000;
  // A tick's start-to-close timeout is its budget plus `overBudgetMs`. The budget is at most one interval.
  return expiresAt - (interval + interval + POLL_TIMEOUTS.overBudgetMs + POLL_TIMEOUTS.expiryMarginMs);
}

/**
 * Waits for an existing task and downloads its result. It only polls and downloads, and never validates or creates
 * anything (architecture: Wait). The wait starts when this workflow starts.
 * @param onProgress set by `withProgress`; never part of a start
 */
export async function awaitVideo(
  input: AwaitVideoInput,
  onProgress?: OnProgress<VideoState>,
): Promise<VideoOutcome> {
  return trackVideo(async (progress) => {
    const found = await find(input, progress);
    if ('outcome' in found) return found;
    return waitForVideo(input, found, progress);
  }, onProgress);
}

/**
 * Returns the wait for an existing task, or the outcome if there is nothing to wait for. After a continue-as-new,
 * returns the wait that was carried over.
 */
async function find(input: AwaitVideoInput, progress: VideoProgress): Promise<CarriedWait | VideoOutcome> {
  requireInput(input, AWAIT_VIDEO_SHAPE);
  if (input.carried?.phase === 'watching') return input.carried;
  const now = Date.now();
  let video: VideoTask;
  let creationKey: string | null = null;
  let polling: PollingMode | undefined;
  // Nothing is created here, so the first phase is `watching`.
  progress.update({ phase: 'watching', taskId: input.video.taskId });
  if ('account' in input.video) {
    // An untyped caller may pass fewer fields than a `VideoTask` has.
    video = { ...videoTaskById(input.video.taskId, input.video.account), ...input.video };
  } else {
    try {
      const lookUp = activity(ACTIVITY.findVideoTask, {
        taskQueue: queuesOf(input.queues).poll,
        summary: 'look the task up',
      });
      const found = await lookUp({ taskId: input.video.taskId, ...given({ account: input.account }) });
      ({ video, creationKey, polling } = found);
    } catch (error) {
      if (isCancellation(error)) return outcomes.cancelled(null, null, billing(null, 'needs_review'));
      if (!(error instanceof ActivityFailure)) throw error;
      // No worker could read the journal, but the task ID and the credential are enough to poll.
      video = videoTaskById(input.video.taskId, input.account ?? DEFAULT_CREDENTIAL);
    }
  }
  // Any number of workflows may wait for the same task, on any worker. Together, they must not poll it more often than
  // a single workflow would.
  const start = { video, now, firstPollAt: now, creationKey, created: null };
  return beginWait(input, { ...start, polling: polling ?? 'shared' });
}

setWorkflowOptions(PINNED, awaitVideo);
