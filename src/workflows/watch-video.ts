import { continueAsNew, workflowInfo } from '@temporalio/workflow';
import { outcomes, type VideoEnd } from '../domain/make-outcome';
import { type VideoOutcome } from '../domain/outcome';
import { type Downloaded, type FailedTry } from '../domain/download';
import { type PolledRecord } from '../domain/poll-answers';
import { milliseconds } from '../domain/duration';
import { type SlowPolling } from '../domain/poll-delays';
import { type PollLoopSnapshot } from '../domain/poll-group';
import { deliveryQueue, type Waiter, type WatchEnd, watchersOf } from '../domain/shared-watch';
import { beginWatch } from '../domain/watch-state';
import { type PollingMode, type PollingProfile } from '../domain/polling-profile';
import { billing } from '../domain/price';
import { DEFAULT_WAIT_MS, POLL_TIMEOUTS } from '../domain/timeouts';
import { type VideoTask } from '../domain/video-task';
import { type AwaitVideoInput, type CarriedVideo, type GenerateVideoInput } from '../domain/workflow-inputs';
import { NO_INPUT, onSignal } from './handlers';
import { queuesOf } from './inputs';
import { PollLoop, type PollLoopOptions, type WatchResult } from './poll-loop';
import { nudgeSignal, nudgeWatcher, type SharedResult, watchTogether } from './shared-watch';
import { executionExpiresAt } from './timers';
import { type VideoProgress } from './video-progress';

export type Watching = Extract<CarriedVideo, { phase: 'watching' }>;

/** A video that the service has finished; its file is still to be fetched. */
export interface FinishedVideo {
  readonly end: VideoEnd;
  readonly record: PolledRecord;
  /** The file, where the watcher has fetched it. */
  readonly downloaded?: Downloaded | undefined;
  /** The first try of its download, which the watcher has made. */
  readonly tried?: FailedTry | undefined;
}

/**
 * Watches one task until the service has finished it (contract 3): with its own poll loop, or by a watcher that polls
 * many. Every other end is an outcome: failed, unknown to the service, cancelled, or still running at the deadline. Used for a video that was just
 * created, for one that is awaited later, and for both after a continue-as-new.
 */
export async function watchVideo(
  input: GenerateVideoInput | AwaitVideoInput,
  carried: Watching,
  progress: VideoProgress,
): Promise<FinishedVideo | VideoOutcome> {
  const loop = PollLoop.from(carried.loop, {
    ...loopOptions(input),
    onTick: () => progress.show(),
  });
  const saved = carried.loop.groups[0]?.watches[0];
  if (saved === undefined) throw new Error('The carried state watches no task');
  // A run timeout starts again with every run; the caller's deadline does not.
  const watch = { ...saved, hardEndAt: hardEnd(saved.video.polling) };
  const estimate = carried.created?.estimate ?? null;
  const facts = {
    phase: 'watching',
    creationKey: carried.creationKey,
    video: watch.video,
    estimate,
    deadlineAt: watch.deadlineAt,
    wait: null,
  } as const;
  let result: WatchResult | SharedResult = { kind: 'own' };
  if (carried.shared === true) {
    const pollQueue = queuesOf(input.queues).poll;
    const place = { taskQueue: workflowInfo().taskQueue, pollQueue, slow: slowPolling(input) };
    for (const watcher of watchersOf(watch.video, place)) {
      progress.update({ ...facts, watcher: watcher.workflowId, watch });
      onSignal(nudgeSignal, NO_INPUT, () => nudgeWatcher(watcher));
      result = await watchTogether(watch, watcher, fileOf(input));
      if (result.kind !== 'full') break;
    }
  }
  if (result.kind === 'own' || result.kind === 'full') {
    const watching = loop.watch(watch);
    onSignal(nudgeSignal, NO_INPUT, () => loop.nudge(watch.video.taskId));
    progress.update({ ...facts, watcher: null, loop });
    result = await watching;
  }
  if (result.kind === 'handover')
    return continueAsNew({ ...input, carried: { ...carried, loop: loop.snapshot() } });
  const { state } = result;
  progress.update({ watch: state });
  if (result.kind === 'cancelled')
    return outcomes.cancelled(state.video, carried.creationKey, billing(estimate, 'needs_review'));
  const end: VideoEnd = {
    video: state.video,
    estimate,
    state,
    ...(carried.created?.mayBeOwed === true && { mayBeOwed: true }),
  };
  const { verdict, downloaded, tried }: WatchEnd = result;
  switch (verdict.kind) {
    case 'still_running':
      return outcomes.stillRunning(end);
    case 'task_unknown':
      return outcomes.taskUnknown(end);
    case 'failed':
      return outcomes.failed(end, verdict.error, verdict.record.usage);
    case 'completed':
      return { end, record: verdict.record, downloaded, tried };
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
    /** What the worker says for an input that names no polling. */
    readonly polling: PollingMode | undefined;
  },
): Watching {
  const { video, now, firstPollAt, lastStatus, creationKey, created, polling } = start;
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
  const shared = (input.polling ?? polling) === 'shared';
  const loop: PollLoopSnapshot = { v: 1, groups: [group] };
  return { v: 1, phase: 'watching', creationKey, created, loop, ...(shared && { shared }) };
}

/** Whether a watcher may fetch the file as this video wants it; a prompt goes to no other workflow. */
function fileOf(input: GenerateVideoInput | AwaitVideoInput): Pick<Waiter, 'takesFile'> {
  const { poll, download } = queuesOf(input.queues);
  const isPromptKept = 'sidecarPrompt' in input && input.sidecarPrompt === 'include';
  return download === deliveryQueue(poll) && !isPromptKept ? { takesFile: true } : {};
}

function slowPolling(input: GenerateVideoInput | AwaitVideoInput): SlowPolling | undefined {
  const after = input.slowPolling === undefined ? undefined : milliseconds(input.slowPolling.after);
  const interval = input.slowPolling === undefined ? undefined : milliseconds(input.slowPolling.interval);
  return after === undefined || interval === undefined ? undefined : { afterMs: after, intervalMs: interval };
}

function loopOptions(input: GenerateVideoInput | AwaitVideoInput): PollLoopOptions {
  return {
    taskQueue: queuesOf(input.queues).poll,
    slow: slowPolling(input),
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
