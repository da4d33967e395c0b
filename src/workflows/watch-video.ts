import { continueAsNew, workflowInfo } from '@temporalio/workflow';
import { billing } from '../domain/billing';
import { type VideoOutcome } from '../domain/outcome';
import { outcomes } from '../domain/outcomes';
import { beginWatch } from '../domain/poll-watch';
import { DEFAULT_WAIT_MS, POLL_TIMEOUTS } from '../domain/timeouts';
import { type PollingProfile } from '../domain/polling-profile';
import { type VideoTask } from '../domain/video-task';
import { type AwaitVideoInput, type CarriedVideo, type GenerateVideoInput } from '../domain/workflow-inputs';
import { executionExpiresAt } from './execution-end';
import { milliseconds, queuesOf } from './inputs';
import { finishVideo } from './finish-video';
import { PollLoop, type PollLoopOptions } from './poll-loop';
import { type VideoProgress } from './video-progress';

type Watching = Extract<CarriedVideo, { phase: 'watching' }>;

/**
 * The second half of a video: watch one task with a loop of one, then end by its verdict. The same code serves a
 * video that was just created, one that is awaited later, and both after a continue-as-new.
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
  // A run timeout starts anew with every run; the deadline that the caller waits for does not.
  const watch = { ...saved, hardEndAt: hardEnd(saved.video.polling) };
  const estimate = carried.created?.estimate ?? null;
  const watching = loop.watch(watch);
  progress.tell({
    phase: 'watching',
    creationKey: carried.creationKey,
    video: watch.video,
    deadlineAt: watch.deadlineAt,
    wait: null,
    loop,
  });
  const result = await watching;
  if (result.kind !== 'handover') progress.tell({ ended: result.state });
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
        onDownload: () => progress.tell({ phase: 'downloading' }),
      });
  }
}

/** Where a wait begins. `now` is workflow time: the deadline never depends on a worker's clock (architecture: Wait). */
export function startWatching(
  input: GenerateVideoInput | AwaitVideoInput,
  start: {
    readonly video: VideoTask;
    readonly now: number;
    readonly firstPollAt: number;
    /** Of the create's reply. */
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
 * The last moment at which a wait may still end by itself: one interval, one poll and a margin before the execution
 * or this run expires (architecture: Wait). Null when nothing expires. Workflow time, milliseconds.
 */
function hardEnd(polling: PollingProfile): number | null {
  const expiresAt = executionExpiresAt();
  if (expiresAt === null) return null;
  const interval = polling.maxSeconds * 1000;
  // Start-to-close of a tick is its budget, at most the interval, plus the margin of the table.
  return expiresAt - (interval + interval + POLL_TIMEOUTS.overBudgetMs + POLL_TIMEOUTS.expiryMarginMs);
}
