import {
  ActivityFailure,
  CancellationScope,
  defineSignal,
  getExternalWorkflowHandle,
  isCancellation,
  workflowInfo,
} from '@temporalio/workflow';
import { otherwise } from '../domain/bug';
import { ACTIVITY, SIGNAL } from '../domain/names';
import { type Waiter, type WatchAnswer, type WatcherFacts } from '../domain/shared-watch';
import { WATCH_TIMEOUTS } from '../domain/timeouts';
import { type WatchState } from '../domain/watch-state';
import { activity } from './proxies';

/** To a video, or to its watcher with the id of the video's workflow: its next poll comes forward. */
export const nudgeSignal = defineSignal<[workflowId?: string]>(SIGNAL.nudge);

/** The result of a shared watch; `own`: the video polls by itself from here on. */
export type SharedResult =
  | WatchAnswer
  | { readonly kind: 'own' }
  | { readonly kind: 'cancelled'; readonly state: WatchState };

/**
 * Has a task watched by a watcher: one activity that stays open until the watcher completes it. Its timeouts are the
 * durable deadline, so that nothing depends on the watcher being alive (ADR 26).
 */
export async function watchTogether(
  state: WatchState,
  watcher: WatcherFacts,
  file: Pick<Waiter, 'takesFile'>,
): Promise<SharedResult> {
  const limitMs = Math.max(1, endOf(state) - Date.now());
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
    return cancelled ? { kind: 'cancelled', state } : { kind: 'own' };
  }
}

/** The watcher has two intervals after the deadline for the last poll; before the execution expires there is one. */
function endOf({ deadlineAt, hardEndAt, video }: WatchState): number {
  const interval = video.polling.maxSeconds * 1000;
  const end = hardEndAt === null ? Infinity : hardEndAt + interval;
  return Math.min(deadlineAt + 2 * interval, end, Date.now() + WATCH_TIMEOUTS.longestMs);
}

/** The watcher may be gone: it then has nothing to forget. */
async function leave({ workflowId: watcherId }: WatcherFacts): Promise<void> {
  const { workflowId, runId } = workflowInfo();
  await CancellationScope.nonCancellable(() =>
    getExternalWorkflowHandle(watcherId).signal(SIGNAL.watchLeave, { workflowId, runId }),
  ).catch(otherwise(undefined));
}

/** Passes a nudge on. */
export async function nudgeWatcher({ workflowId: watcherId }: WatcherFacts): Promise<void> {
  await getExternalWorkflowHandle(watcherId)
    .signal(nudgeSignal, workflowInfo().workflowId)
    .catch(otherwise(undefined));
}
