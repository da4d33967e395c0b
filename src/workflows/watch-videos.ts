import {
  ActivityFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  setCurrentDetails,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import { DELIVERY } from '../domain/download';
import { ACTIVITY, idCheck, QUERY, SIGNAL } from '../domain/names';
import { PACE } from '../domain/poll-cadence';
import { arrayOf, optional } from '../domain/shape';
import { watcherDetails } from '../domain/video-state';
import { type WatchState } from '../domain/watch-state';
import {
  type Delivery,
  deliveryQueue,
  isSameWaiter,
  type JoinedWatch,
  joinedWatchCheck,
  type Leaving,
  leavingCheck,
  MAX_WATCHES,
  takesFile,
  type WatchResult,
  type WatchedState,
  type WatcherContents,
  type WatchSnapshot,
  WATCH_VIDEOS_SHAPE,
  type WatchVideosInput,
} from '../domain/watcher';
import { nudgeSignal } from './await-video';
import { fits, onQuery, onSignal, requireInput, thatFit } from './handlers';
import { type PollEnd, PollLoop } from './poll-loop';
import { activity } from './proxies';
import { AUTO_UPGRADE } from './workflow-metadata';

const watchJoinSignal = defineSignal<[readonly JoinedWatch[]]>(SIGNAL.watchJoin);
const watchLeaveSignal = defineSignal<[Leaving]>(SIGNAL.watchLeave);
const watchStateQuery = defineQuery<WatchedState | null, [workflowId: string]>(QUERY.watchState);
const watchSnapshotQuery = defineQuery<WatcherContents>(QUERY.watchSnapshot);

/**
 * The watcher: polls the tasks of many videos with one loop, and completes the activity in which each video waits (ADR
 * 26). The first video that joins starts this workflow, which ends when no videos are left. It buys and stores nothing.
 */
export async function watchVideos(input: WatchVideosInput): Promise<void> {
  requireInput(input, WATCH_VIDEOS_SHAPE);
  const watches = new SharedWatches(input);
  onSignal(watchJoinSignal, fits(arrayOf(true, MAX_WATCHES)), (joins) =>
    watches.join(thatFit(joins, joinedWatchCheck)),
  );
  onSignal(watchLeaveSignal, fits(leavingCheck), (leaving) => watches.leave(leaving));
  onSignal(nudgeSignal, fits(optional(idCheck)), (workflowId?: string) => watches.nudge(workflowId));
  onQuery(watchStateQuery, (workflowId) => watches.stateOf(workflowId));
  const { carried: _carried, ...started } = input;
  onQuery(watchSnapshotQuery, () => ({ ...watches.snapshot(), input: started }));
  // A cancellation would stop polling for videos that nobody has canceled.
  await CancellationScope.nonCancellable(() => watches.run());
}

/** Maximum number of answers per activity. */
const MAX_ANSWERS = 100;
/** A replay of this many events takes about a second. */
const EVENTS_PER_RUN = 3_000;

type OpenWatch = { state: WatchState } & Pick<JoinedWatch, 'waiter'>;

/** The watched videos by workflow ID. A workflow waits for one task at a time. */
class SharedWatches {
  private readonly loop: PollLoop<OpenWatch>;
  private readonly open = new Map<string, OpenWatch>();
  private untold: WatchResult[] = [];
  private answering: readonly WatchResult[] = [];
  private finished: Delivery[] = [];
  private readonly delivering = new Set<readonly Delivery[]>();
  private handedOver = false;

  constructor(private readonly input: WatchVideosInput) {
    const { carried, pollQueue, slow } = input;
    this.loop = new PollLoop({
      pace: PACE.watcher,
      taskQueue: pollQueue,
      slow,
      lastTick: carried,
      onTick: () => this.show(),
      shouldHandOver: () => this.isFull(),
      onEnd: (watch, end) => this.ended(watch, end),
    });
    this.untold.push(...(carried?.untold ?? []));
    for (const watch of carried?.watches ?? []) this.begin(watch);
    this.show();
  }

  async run(): Promise<void> {
    while (!this.isEmpty()) {
      if (this.untold.length > 0 && this.answering.length === 0) void this.answerVideos();
      // Answers in transit are also carried over and delivered again, without their files. Delivering an answer twice
      // does no harm.
      if (this.handedOver) return continueAsNew({ ...this.input, carried: this.snapshot() });
      this.deliver();
      await condition(() => this.hasNews());
    }
  }

  join(joins: readonly JoinedWatch[]): void {
    for (const watch of joins) {
      const known = this.open.get(watch.waiter.workflowId);
      // This is another attempt of the same activity, and nothing has changed.
      if (known !== undefined && isSameWaiter(known.waiter, watch.waiter)) continue;
      if (known !== undefined) this.remove(known);
      if (this.open.size < MAX_WATCHES) this.begin(watch);
      else this.untold.push({ waiter: watch.waiter, answer: { kind: 'full' } });
    }
    if (this.isFull()) this.loop.stop();
    this.show();
  }

  leave({ workflowId, runId }: Leaving): void {
    const known = this.open.get(workflowId);
    if (known?.waiter.runId === runId) this.remove(known);
    this.show();
  }

  nudge(workflowId: string | undefined): void {
    const known = this.open.get(workflowId ?? '');
    if (known !== undefined) this.loop.nudge(known);
  }

  stateOf(workflowId: string): WatchedState | null {
    const known = this.open.get(workflowId);
    if (known === undefined) return this.endedState(workflowId);
    return { state: known.state, nextPollAt: this.loop.nextTickAt(known) };
  }

  snapshot(): WatchSnapshot {
    return {
      ...this.loop.lastTick(),
      watches: [...this.open.values()].map(({ waiter, state }) => ({ waiter, state })),
      untold: this.answers(),
    };
  }

  private begin({ waiter, state }: JoinedWatch): void {
    const watch = { waiter, state };
    this.open.set(waiter.workflowId, watch);
    this.loop.add(watch);
  }

  private remove(watch: OpenWatch): void {
    this.open.delete(watch.waiter.workflowId);
    this.loop.remove(watch);
  }

  private ended({ waiter }: OpenWatch, answer: PollEnd): void {
    if (answer.kind === 'handover') {
      this.handedOver = true;
      return;
    }
    this.open.delete(waiter.workflowId);
    const result: WatchResult = { waiter, answer };
    if (takesFile(result)) this.finished.push(result);
    else this.untold.push(result);
  }

  /**
   * Starts deliveries, which fetch files for the videos. If there are too many deliveries or one fails, the videos
   * receive only the answer and fetch their files themselves.
   */
  private deliver(): void {
    while (this.finished.length > 0 && this.delivering.size < DELIVERY.open)
      void this.deliverGroup(this.finished.splice(0, DELIVERY.videos));
    this.untold.push(...this.finished.splice(0));
  }

  private async deliverGroup(deliveries: readonly Delivery[]): Promise<void> {
    this.delivering.add(deliveries);
    const taskQueue = deliveryQueue(this.input.pollQueue);
    try {
      await activity(ACTIVITY.deliverVideos, { taskQueue, summary: `deliver ${deliveries.length}` })({
        deliveries,
      });
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      // Answer all of them again. A video that was answered before the worker was lost is not waiting anymore and
      // ignores the second answer.
      this.untold.push(...deliveries);
    } finally {
      this.delivering.delete(deliveries);
    }
  }

  /** Returns the answers that are not known to have reached their videos. */
  private answers(): readonly WatchResult[] {
    return [...this.answering, ...this.untold, ...this.finished, ...[...this.delivering].flat()];
  }

  private endedState(workflowId: string): WatchedState | null {
    const result = this.answers().find(({ waiter }) => waiter.workflowId === workflowId);
    return result?.answer.kind === 'verdict' ? { state: result.answer.state, nextPollAt: null } : null;
  }

  private async answerVideos(): Promise<void> {
    this.answering = this.untold.splice(0, MAX_ANSWERS);
    const { pollQueue: taskQueue } = this.input;
    const tellVideos = activity(ACTIVITY.tellVideos, {
      taskQueue,
      summary: `answer ${this.answering.length}`,
    });
    try {
      await tellVideos({ told: this.answering });
    } catch (error) {
      // An operator failed the activity. Each video joins again at its next attempt.
      if (!(error instanceof ActivityFailure)) throw error;
    } finally {
      this.answering = [];
    }
  }

  private hasNews(): boolean {
    const hasAnswers = this.untold.length > 0 && this.answering.length === 0;
    return this.handedOver || this.isEmpty() || this.finished.length > 0 || hasAnswers;
  }

  private isEmpty(): boolean {
    return this.open.size === 0 && this.answers().length === 0;
  }

  private isFull(): boolean {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    return continueAsNewSuggested || historyLength >= (this.input.eventsPerRun ?? EVENTS_PER_RUN);
  }

  private show(): void {
    const [watch] = this.open.values();
    const { account = null } = watch?.state.video ?? {};
    setCurrentDetails(watcherDetails({ account, videos: this.open.size }));
  }
}

setWorkflowOptions(AUTO_UPGRADE, watchVideos);
