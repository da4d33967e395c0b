import { ActivityFailure, CancellationScope, condition } from '@temporalio/workflow';
import { verdictWithoutRecord, type WatchEnd, type WatchVerdict } from '../domain/end-of-wait';
import { ACTIVITY } from '../domain/names';
import { type PollAnswer } from '../domain/poll-answers';
import { type LastTick, NO_TICK, PollGroup, type PollPace, type SlowPolling } from '../domain/poll-cadence';
import { bandKey } from '../domain/video-task';
import { onMissedTick, onNudge, type Watch, type WatchState } from '../domain/watch-state';
import { queuesOf } from './handlers';
import { activity } from './proxies';

/** How a watch ended: with a verdict, or because the loop stopped so that its workflow can continue as new. */
export type PollEnd = WatchEnd | { readonly kind: 'handover' };

/** Options of a {@link PollLoop}. */
export interface PollLoopOptions<Watched extends Watch = Watch> {
  /** The polling pace for this kind of poller. @default `PACE.own` */
  readonly pace?: PollPace;
  /**
   * Called once for each watch, after it has ended. All watches share this function, because a separate function for
   * each watch would use more memory (ADR 11).
   */
  readonly onEnd: (watch: Watched, end: PollEnd) => void;
  /** Task queue of `media.pollVideos`. @default the poll queue for the workflow's own queue */
  readonly taskQueue?: string | undefined;
  /** Reduces the polling rate of a long wait. @default a long wait is polled as often as a short one */
  readonly slow?: SlowPolling | undefined;
  /** The last tick of an earlier run. @default none: every group starts fresh */
  readonly lastTick?: LastTick | undefined;
  /** Called after every tick, once the states and `nextTickAt` are updated. */
  readonly onTick?: () => void;
  /** Called after every tick. If it returns true, the loop stops and every open watch ends as `handover`. */
  readonly shouldHandOver?: () => boolean;
}

/**
 * Polls any number of tasks with one timer and one activity per group (architecture: Wait). A group contains the tasks
 * of one account and one cadence band. The domain's `PollGroup` makes the decisions; this class only issues the
 * commands.
 */
export class PollLoop<Watched extends Watch = Watch> {
  private readonly groups = new Map<string, RunningGroup<Watched>>();
  private handedOver = false;

  constructor(private readonly options: PollLoopOptions<Watched>) {}

  /**
   * Watches one task until its verdict or a handover, regardless of cancellation. Uses no promise, because the SDK
   * keeps a formatted stack for every open promise, about 10 kB per watched task (docs/adr/0011).
   */
  add(watch: Watched): void {
    const key = keyOf(watch);
    let group = this.groups.get(key);
    if (group === undefined) {
      group = new RunningGroup(watch.state, this.options, () => this.onTickEnd());
      this.groups.set(key, group);
      // A stopped loop accepts no work, so the watch ends immediately and is carried over.
      if (this.handedOver) group.stop();
    }
    group.add(watch);
  }

  /** Ends a watch that {@link add} started, without a result. */
  remove(watch: Watched): void {
    this.groups.get(keyOf(watch))?.remove(watch);
  }

  /** Makes a task's next poll run earlier, as far as its cadence and Retry-After allow. */
  nudge(watch: Watched): void {
    this.groups.get(keyOf(watch))?.nudge(watch);
  }

  /** Ends every open watch as `handover`, at the end of the current tick or immediately if none is in progress. */
  stop(): void {
    if (this.handedOver) return;
    this.handedOver = true;
    for (const group of this.groups.values()) group.stop();
  }

  /** Returns the current state of every open watch. */
  states(): WatchState[] {
    return [...this.groups.values()].flatMap((group) => group.watches.map(({ state }) => state));
  }

  /** Returns when an open watch's next tick is due, in workflow time. */
  nextTickAt(watch: Watched): number {
    const group = this.groups.get(keyOf(watch));
    return group === undefined ? Infinity : group.cadence.nextWakeAt(group.watches);
  }

  /**
   * Returns the groups' newest tick. A workflow that continues as new has one group, and passes this to its next run.
   */
  lastTick(): LastTick {
    const ticks = [...this.groups.values()].map(({ cadence }) => cadence.last);
    return ticks.reduce((a, b) => (b.lastTickAt > a.lastTickAt ? b : a), NO_TICK);
  }

  private onTickEnd(): boolean {
    this.options.onTick?.();
    if (this.options.shouldHandOver?.() === true) this.stop();
    return this.handedOver;
  }
}

function keyOf({ state: { video } }: Watch): string {
  return `${video.account} ${bandKey(video.polling)}`;
}

class RunningGroup<Watched extends Watch> {
  readonly cadence: PollGroup;
  watches: Watched[] = [];
  private readonly account: string;
  private running = false;
  private stopping = false;
  private changed = false;
  private ticking = false;
  /** Tasks that were nudged while a tick was in progress. The tick's answers may be older than the nudge. */
  private nudged: Watched[] = [];

  constructor(
    { video }: WatchState,
    private readonly options: PollLoopOptions<Watched>,
    private readonly onTickEnd: () => boolean,
  ) {
    this.account = video.account;
    this.cadence = new PollGroup(video.polling, options.slow, options.pace, options.lastTick);
  }

  add(watch: Watched): void {
    this.watches.push(watch);
    this.changed = true;
    if (this.running) return;
    this.running = true;
    // For the other watches, the group's loop keeps running after the caller is canceled. It ends with the last watch.
    void CancellationScope.nonCancellable(() => this.run());
  }

  remove(watch: Watched): void {
    this.watches = this.watches.filter((other) => other !== watch);
    this.changed = true;
  }

  nudge(watch: Watched): void {
    if (this.ticking) {
      this.nudged.push(watch);
      return;
    }
    watch.state = onNudge(watch.state, Date.now(), this.cadence.minIntervalMs);
    this.changed = true;
  }

  stop(): void {
    this.stopping = true;
    this.changed = true;
  }

  private async run(): Promise<void> {
    while (this.watches.length > 0 && !this.stopping) {
      const now = await this.untilNextTick();
      if (this.stopping) break;
      this.endFinished(now);
      const due = this.cadence.beginTick(this.watches, now, Math.random());
      if (due.length === 0) continue;
      this.ticking = true;
      await this.tick(due, now);
      this.ticking = false;
      this.endFinished(Date.now());
      for (const watch of this.nudged.splice(0)) this.nudge(watch);
      if (this.onTickEnd()) break;
    }
    this.running = false;
    if (this.stopping) for (const watch of this.watches) this.options.onEnd(watch, { kind: 'handover' });
  }

  /**
   * Waits until the group is due, and returns the time. Reacts immediately to a new watch, a removed watch and a stop.
   * Once the timer has fired, the group is due no matter what the clock says. After a worker was killed, a query runs
   * the workflow's code with the previous task's clock, and a second timer would be a command that does not exist in a
   * replay.
   */
  private async untilNextTick(): Promise<number> {
    for (;;) {
      this.changed = false;
      const at = this.cadence.nextWakeAt(this.watches);
      const now = Date.now();
      const wait = at - now;
      if (this.watches.length === 0 || this.stopping || wait <= 0) return now;
      const summary = `next poll of ${videos(this.watches.length)}`;
      if (!(await condition(() => this.changed && this.mustWakeBefore(at), wait, { summary })))
        return Math.max(at, Date.now());
    }
  }

  /**
   * Whether a timer for this time would now fire too late. If not, a group that keeps its pace leaves its timer
   * unchanged. A timer that is replaced less than a second before it is due may fire a second late, because the
   * Temporal server reads timers one second ahead.
   */
  private mustWakeBefore(at: number): boolean {
    if (!this.cadence.pace.keepsPace) return true;
    this.changed = false;
    return this.watches.length === 0 || this.stopping || this.cadence.nextWakeAt(this.watches) < at;
  }

  private async tick(due: readonly Watched[], at: number): Promise<void> {
    const { input, ordered } = this.cadence.tickInput(this.account, due);
    try {
      const poll = activity(ACTIVITY.pollVideos, {
        taskQueue: this.options.taskQueue ?? queuesOf(undefined).poll,
        budgetMs: input.budgetMs,
        minIntervalMs: input.minIntervalMs,
        summary: `poll ${videos(due.length)}`,
      });
      const { answers } = await poll(input);
      const byIndex = new Map<number, PollAnswer>(answers.map((answer) => [answer.index, answer]));
      for (const [index, watch] of ordered.entries()) {
        const answer = byIndex.get(index);
        const { state, verdict } = this.cadence.apply(watch.state, answer, at, Math.random(), Date.now());
        watch.state = state;
        if (verdict !== undefined) this.end(watch, verdict);
      }
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      for (const watch of ordered) watch.state = onMissedTick(watch.state, at);
    }
  }

  private endFinished(now: number): void {
    for (const watch of [...this.watches]) {
      const verdict = verdictWithoutRecord(watch.state, now);
      if (verdict !== undefined) this.end(watch, verdict);
    }
  }

  private end(watch: Watched, verdict: WatchVerdict): void {
    this.remove(watch);
    this.options.onEnd(watch, { kind: 'verdict', verdict, state: watch.state });
  }
}

const videos = (count: number): string => `${count} ${count === 1 ? 'video' : 'videos'}`;
