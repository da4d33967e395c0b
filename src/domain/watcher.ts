import { type WatchEnd } from './end-of-wait';
import { activityQueues, baseTaskQueue, idCheck, MAX_ID, taskQueueCheck } from './names';
import { type LastTick, type SlowPolling } from './poll-cadence';
import {
  absent,
  type Check,
  durationMs,
  exactly,
  messageOf,
  name,
  optional,
  type ShapeOf,
  whole,
} from './shape';
import { bandKey, type VideoTask } from './video-task';
import { type WatchState, watchStateCheck } from './watch-state';

/**
 * Messages between videos with shared polling and their watcher, a `watchVideos` workflow (architecture: Wait).
 *
 * @module
 */

/** A video's open `media.watchVideo` activity. Completing it returns the end of the watch to the video. */
export interface Waiter {
  readonly workflowId: string;
  readonly runId: string;
  readonly activityId: string;
  /**
   * Set if the watcher is allowed to fetch the file: the video uses the download queue that belongs to the poll queue,
   * and has no special requirements for the file.
   */
  readonly takesFile?: true;
}

export type Leaving = Pick<Waiter, 'workflowId' | 'runId'>;

export interface JoinedWatch {
  readonly waiter: Waiter;
  readonly state: WatchState;
}

/** Result of `media.watchVideo`. `full`: the watcher accepts no more videos. */
export type WatchAnswer = WatchEnd | { readonly kind: 'full' };

export interface WatchResult {
  readonly waiter: Waiter;
  readonly answer: WatchAnswer;
}

export interface TellVideosInput {
  readonly told: readonly WatchResult[];
}

export interface Delivery {
  readonly waiter: Waiter;
  readonly answer: WatchEnd;
}

export interface DeliverVideosInput {
  readonly deliveries: readonly Delivery[];
}

/** Whether the answer is about a finished video whose file the watcher may fetch. */
export function takesFile(result: WatchResult): result is Delivery {
  const { waiter, answer } = result;
  return waiter.takesFile === true && answer.kind === 'verdict' && answer.verdict.kind === 'completed';
}

export interface WatchVideosInput {
  /** Task queue of `media.pollVideos`. */
  readonly pollQueue: string;
  readonly slow?: SlowPolling;
  /** State from an earlier run. Only continue-as-new sets it. */
  readonly carried?: WatchSnapshot;
  /** Number of history events at which a run continues as new. @default 3000 */
  readonly eventsPerRun?: number;
}

/** Everything that a watcher stores and passes to its next run. */
export interface WatchSnapshot extends LastTick {
  readonly watches: readonly JoinedWatch[];
  /** Results that might not have reached their videos yet. */
  readonly untold: readonly WatchResult[];
}

/** Result of the `watch_snapshot` query, which is enough to continue in another run. */
export interface WatcherContents extends WatchSnapshot {
  readonly input: WatchVideosInput;
}

/** Result of the `watch_state` query for one video; null if the watcher does not have it. */
export interface WatchedState {
  readonly state: WatchState;
  /** Workflow time in milliseconds. */
  readonly nextPollAt: number | null;
}

export interface WatcherFacts {
  readonly workflowId: string;
  /** Task queue on which the watcher runs: the videos' own queue. */
  readonly taskQueue: string;
  readonly input: WatchVideosInput;
}

export interface WatchVideoInput {
  readonly watcher: WatcherFacts;
  readonly takesFile?: true;
  readonly state: WatchState;
}

/**
 * Number of further watchers per account and band. A video first tries watcher 0 and, if that one is full, one of the
 * others. A tick costs hardly more for hundreds of videos than for one, so one watcher is cheapest while it suffices.
 */
const OTHERS = 16;
/** Maximum number of watches per watcher. The state that it passes to its next run must fit into one payload. */
export const MAX_WATCHES = 1_000;

const LEAVING = { workflowId: idCheck, runId: name() } satisfies ShapeOf<Leaving>;

export const leavingCheck: Check<Leaving> = messageOf(LEAVING);

export const joinedWatchCheck: Check<JoinedWatch> = messageOf({
  waiter: messageOf<Waiter>({ ...LEAVING, activityId: name(), takesFile: optional(exactly(true)) }),
  state: watchStateCheck,
});

/** Shape of a watcher's input. Only this package's activity starts watchers, but any client can start any workflow. */
export const WATCH_VIDEOS_SHAPE = {
  pollQueue: taskQueueCheck,
  slow: optional(messageOf<SlowPolling>({ afterMs: durationMs, intervalMs: durationMs })),
  carried: absent,
  eventsPerRun: optional(whole(1)),
} satisfies ShapeOf<WatchVideosInput>;

interface WatchPlace {
  readonly taskQueue: string;
  readonly pollQueue: string;
  readonly slow?: SlowPolling | undefined;
}

/**
 * Returns a video's possible watchers, in the order in which the video tries them. They are the same for every run and
 * attempt, so no two watchers poll the same task.
 */
export function watchersOf(
  { taskId, account, polling }: Pick<VideoTask, 'taskId' | 'account' | 'polling'>,
  { taskQueue, pollQueue, slow }: WatchPlace,
): readonly WatcherFacts[] {
  const shared = [
    taskQueue,
    ...(pollQueue.startsWith(`${taskQueue}/`) ? [] : [pollQueue]),
    account,
    bandKey(polling),
    ...(slow === undefined ? [] : [`${slow.afterMs}-${slow.intervalMs}`]),
  ];
  const watchers = [0, 1 + (hashOf(taskId) % OTHERS)].map((number) => ({
    workflowId: `watch-videos/${[...shared, String(number)].join('/')}`,
    taskQueue,
    input: { pollQueue, ...(slow !== undefined && { slow }) },
  }));
  // If the resulting id is too long, the video polls on its own.
  return watchers.filter(({ workflowId }) => workflowId.length <= MAX_ID);
}

/** Returns the task queue of a watcher's deliveries: the download queue that belongs to its poll queue. */
export function deliveryQueue(pollQueue: string): string {
  return activityQueues(baseTaskQueue(pollQueue)).download;
}

/** Returns an FNV-1a hash, because the workflow sandbox has no hash functions. */
function hashOf(taskId: string): number {
  let hash = 0x811c9dc5;
  for (let place = 0; place < taskId.length; place++)
    hash = Math.imul(hash ^ taskId.charCodeAt(place), 0x01000193) >>> 0;
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * Returns a closed watcher's watches, for another run to take over. A task whose result did not reach its video is
 * polled again. Its digest is reset so that its record counts as new, and its file is not fetched, because the video
 * may already have it.
 */
export function watchesLeft({
  watches,
  untold,
}: Pick<WatchSnapshot, 'watches' | 'untold'>): readonly JoinedWatch[] {
  const ended = untold.flatMap(({ waiter: { workflowId, runId, activityId }, answer }) =>
    answer.kind === 'verdict'
      ? [{ waiter: { workflowId, runId, activityId }, state: { ...answer.state, seen: '' } }]
      : [],
  );
  return [...watches, ...ended];
}

export function isSameWaiter(a: Waiter, b: Waiter): boolean {
  return a.workflowId === b.workflowId && a.runId === b.runId && a.activityId === b.activityId;
}
