import { ActivityFailure, CancellationScope, condition } from '@temporalio/workflow';
import { otherwise } from '../domain/bug';
import { type PollAnswer } from '../domain/poll-answers';
import { PollGroup, type PollGroupSnapshot, type PollLoopSnapshot } from '../domain/poll-group';
import { type PollPace, type SlowPolling } from '../domain/poll-delays';
import { bandKey } from '../domain/polling-profile';
import { type WatchState } from '../domain/watch-state';
import { type WatchVerdict } from '../domain/end-of-wait';
import { queuesOf } from './inputs';
import { ACTIVITY } from '../domain/names';
import { activity } from './proxies';

/** The result of a watch: its verdict, or that the loop stopped so that the workflow can continue as new. */
export type FollowResult =
  | { readonly kind: 'verdict'; readonly verdict: WatchVerdict; readonly state: WatchState }
  | { readonly kind: 'handover' };

/**
 * The result of one watch: that of the loop, or that the caller cancelled it; the task itself goes on at the service.
 */
export type WatchResult = FollowResult | { readonly kind: 'cancelled'; readonly state: WatchState };

/** Options of a {@link PollLoop}. */
export interface PollLoopOptions extends PollPace {
  /** Task queue of `media.pollVideos`. @default the poll queue that a media worker serves beside the workflow's own */
  readonly taskQueue?: string | undefined;
  /** @default a long wait is polled as often as a short one */
  readonly slow?: SlowPolling | undefined;
  /** Called after every tick, when `states` and `nextTickAt` have changed. */
  readonly onTick?: () => void;
  /** Called after every tick: true stops the loop, and every open watch settles as `handover`. */
  readonly shouldHandOver?: () => boolean;
}

/** One task that is watched. */
export interface Watcher {
  /** Updated by the loop. */
  state: WatchState;
  /** Called once, while the loop ticks. */
  settle(result: FollowResult): void;
}

/**
 * Polls any number of tasks with one timer and one activity per group, a group being an account and a cadence band
 * (architecture: Poll). The domain's `PollGroup` decides; this class only issues the commands.
 */
export class PollLoop {
  private readonly groups = new Map<string, RunningGroup>();
  private handedOver = false;

  constructor(private readonly options: PollLoopOptions = {}) {}

  /** A loop that continues from a snapshot; the watches are resumed by calling {@link watch} with their states. */
  static from(snapshot: PollLoopSnapshot, options: PollLoopOptions = {}): PollLoop {
    const loop = new PollLoop(options);
    for (const saved of snapshot.groups) {
      for (const state of saved.watches) loop.groupOf(state).cadence.restore(saved);
    }
    return loop;
  }

  /** Watches one task until its verdict, a hand-over or the cancellation of the calling scope. */
  async watch(state: WatchState): Promise<WatchResult> {
    const group = this.groupOf(state);
    const watcher: Watcher = { state, settle: () => undefined };
    const settled = new Promise<WatchResult>((resolve) => (watcher.settle = resolve));
    group.add(watcher);
    const scope = CancellationScope.current();
    if (scope.consideredCancelled) {
      group.remove(watcher);
      return { kind: 'cancelled', state: watcher.state };
    }
    const cancelled = scope.cancelRequested.catch(otherwise(undefined));
    const cancellation = cancelled.then((): WatchResult => {
      group.remove(watcher);
      return { kind: 'cancelled', state: watcher.state };
    });
    return Promise.race([settled, cancellation]);
  }

  /**
   * Watches one task until its verdict or a hand-over, regardless of cancellation. It uses no promise, because the SDK
   * keeps a formatted stack of every open one, some 10 kB per watched task (docs/adr/0011).
   */
  follow(watcher: Watcher): void {
    this.groupOf(watcher.state).add(watcher);
  }

  /** Ends what {@link follow} began, without a result. */
  unfollow(watcher: Watcher): void {
    this.groupOf(watcher.state).remove(watcher);
  }

  /** Brings the next poll of a task forward, as far as its cadence and Retry-After allow. */
  nudge(taskId: string): void {
    for (const group of this.groups.values()) group.nudge(taskId);
  }

  /** Settles every open watch as `handover`: at the end of the current tick, or at once when none is in progress. */
  stop(): void {
    if (this.handedOver) return;
    this.handedOver = true;
    for (const group of this.groups.values()) group.stop();
  }

  /** State of every open watch, for queries. */
  states(): WatchState[] {
    return [...this.groups.values()].flatMap((group) => group.watchers.map((watcher) => watcher.state));
  }

  /** When the next tick of a task's group is due, in workflow time; null for a task that is not watched. */
  nextTickAt(taskId: string): number | null {
    for (const group of this.groups.values()) {
      if (group.watchers.some((watcher) => watcher.state.video.taskId === taskId)) return group.nextWakeAt();
    }
    return null;
  }

  /** The state for the next run. Take it between two ticks, after a hand-over. */
  snapshot(): PollLoopSnapshot {
    return { v: 1, groups: [...this.groups.values()].map((group) => group.snapshot()) };
  }

  private groupOf(state: WatchState): RunningGroup {
    const { account, polling } = state.video;
    const key = `${account} ${bandKey(polling)}`;
    let group = this.groups.get(key);
    if (group === undefined) {
      const cadence = new PollGroup(polling, this.options.slow, this.options);
      group = new RunningGroup(account, cadence, this.options, () => this.onTickEnd());
      this.groups.set(key, group);
      // A stopped loop accepts no work: the watch settles at once and is carried over.
      if (this.handedOver) group.stop();
    }
    return group;
  }

  private onTickEnd(): boolean {
    this.options.onTick?.();
    if (this.options.shouldHandOver?.() === true) this.stop();
    return this.handedOver;
  }
}

/** The loop of one group: waits, ticks and settles its watchers. */
class RunningGroup {
  watchers: Watcher[] = [];
  private running = false;
  private stopping = false;
  private changed = false;
  private ticking = false;
  /** Tasks that were nudged while a tick was in progress: its answers may be older. */
  private nudged: string[] = [];

  constructor(
    private readonly account: string,
    readonly cadence: PollGroup,
    private readonly options: PollLoopOptions,
    private readonly onTickEnd: () => boolean,
  ) {}

  add(watcher: Watcher): void {
    this.watchers.push(watcher);
    this.changed = true;
    if (this.running) return;
    this.running = true;
    // The group's loop outlives the caller's cancellation for its other watchers, and ends with the last one.
    void CancellationScope.nonCancellable(() => this.run());
  }

  remove(watcher: Watcher): void {
    this.watchers = this.watchers.filter((other) => other !== watcher);
    this.changed = true;
  }

  nudge(taskId: string): void {
    if (this.ticking) {
      this.nudged.push(taskId);
      return;
    }
    for (const watcher of this.watchers) {
      if (watcher.state.video.taskId === taskId)
        watcher.state = this.cadence.nudged(watcher.state, Date.now());
    }
    this.changed = true;
  }

  stop(): void {
    this.stopping = true;
    this.changed = true;
  }

  nextWakeAt(): number {
    return this.cadence.nextWakeAt(this.watchers.map((watcher) => watcher.state));
  }

  snapshot(): PollGroupSnapshot {
    return {
      account: this.account,
      ...this.cadence.save(),
      watches: this.watchers.map((watcher) => watcher.state),
    };
  }

  private async run(): Promise<void> {
    while (this.watchers.length > 0 && !this.stopping) {
      const now = await this.untilNextTick();
      if (this.stopping) break;
      this.settleFinished(now);
      const due = this.dueAt(now);
      if (due.size === 0) continue;
      this.ticking = true;
      await this.tick(due, now);
      this.ticking = false;
      // A suspended function keeps its local variables alive: here a second copy of every state.
      due.clear();
      this.settleFinished(Date.now());
      for (const taskId of this.nudged.splice(0)) this.nudge(taskId);
      if (this.onTickEnd()) break;
    }
    this.running = false;
    if (this.stopping) for (const watcher of this.watchers) watcher.settle({ kind: 'handover' });
  }

  private dueAt(now: number): Set<WatchState> {
    const states = this.watchers.map((watcher) => watcher.state);
    return new Set(this.cadence.beginTick(states, now, Math.random()));
  }

  /**
   * Waits until the group is due, and returns the time; a new watcher, a removed one and a stop are checked at once. A timer that
   * has fired is due whatever the clock says: a query about a workflow whose worker was killed runs its code with the
   * clock of the task before, and a second timer would be a command that no replay makes.
   */
  private async untilNextTick(): Promise<number> {
    for (;;) {
      this.changed = false;
      const at = this.nextWakeAt();
      const now = Date.now();
      const wait = at - now;
      if (this.watchers.length === 0 || this.stopping || wait <= 0) return now;
      const summary = `next poll of ${videos(this.watchers.length)}`;
      if (!(await condition(() => this.changed && this.mustWakeBefore(at), wait, { summary })))
        return Math.max(at, Date.now());
    }
  }

  /**
   * Whether a timer for this time has become too late. Otherwise a group with `keepsPace` leaves its timer alone: one
   * that is replaced within a second of its time may fire a second late, because a Temporal server reads timers that
   * far ahead.
   */
  private mustWakeBefore(at: number): boolean {
    if (this.options.keepsPace !== true) return true;
    this.changed = false;
    return this.watchers.length === 0 || this.stopping || this.nextWakeAt() < at;
  }

  private async tick(due: ReadonlySet<WatchState>, at: number): Promise<void> {
    const polled = this.watchers.filter((watcher) => due.has(watcher.state));
    const input = this.cadence.tickInput(
      this.account,
      polled.map((watcher) => watcher.state),
    );
    const ordered = input.order.map((index) => polled[index] as Watcher);
    try {
      const poll = activity(ACTIVITY.pollVideos, {
        taskQueue: this.options.taskQueue ?? queuesOf(undefined).poll,
        budgetMs: input.input.budgetMs,
        minIntervalMs: input.input.minIntervalMs,
        summary: `poll ${videos(polled.length)}`,
      });
      const { answers } = await poll(input.input);
      const byIndex = new Map<number, PollAnswer>(answers.map((answer) => [answer.index, answer]));
      ordered.forEach((watcher, index) => this.apply(watcher, byIndex.get(index), at));
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      for (const watcher of ordered) watcher.state = this.cadence.missed(watcher.state, at);
    }
  }

  private apply(watcher: Watcher, answer: PollAnswer | undefined, at: number): void {
    const { state, verdict } = this.cadence.apply(watcher.state, answer, at, Math.random(), Date.now());
    watcher.state = state;
    if (verdict !== undefined) this.finish(watcher, verdict);
  }

  private settleFinished(now: number): void {
    for (const watcher of [...this.watchers]) {
      const verdict = this.cadence.verdict(watcher.state, now);
      if (verdict !== undefined) this.finish(watcher, verdict);
    }
  }

  private finish(watcher: Watcher, verdict: WatchVerdict): void {
    this.watchers = this.watchers.filter((other) => other !== watcher);
    watcher.settle({ kind: 'verdict', verdict, state: watcher.state });
  }
}

const videos = (count: number): string => `${count} ${count === 1 ? 'video' : 'videos'}`;
