import {
  type PollAnswer,
  type PollBatch,
  type PollSpread,
  type PollVideosInput,
  shortSeen,
} from './poll-answers';
import { type WatchVerdict, verdictOfRecord, verdictWithoutRecord } from './end-of-wait';
import {
  BUDGET_MARGIN_MS,
  type Cadence,
  isPollable,
  nextIntervalMs,
  type PollPace,
  type SlowPolling,
  slowPollAt,
  wakeAt,
} from './poll-delays';
import {
  onMissedTick,
  onNoAnswer,
  onNudge,
  onPollError,
  onRecord,
  onUnchanged,
  type WatchState,
} from './watch-state';
import { type PollingProfile } from './polling-profile';

/** Milliseconds that each task of a tick adds to the time over which its GETs are spread. */
const SPREAD_MS = 4;

/**
 * Cadence of one group, from tick start to tick start: pure decisions over its tasks' states, driven in virtual time
 * by tests and by the PollLoop in workflows.
 */
export class PollGroup {
  private lastTickAt = 0;
  private intervalMs: number;
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;

  constructor(
    profile: PollingProfile,
    private readonly slow?: SlowPolling,
    private readonly pace: PollPace = {},
  ) {
    this.minIntervalMs = profile.minSeconds * 1000;
    this.maxIntervalMs = Math.max(profile.maxSeconds * 1000, this.minIntervalMs);
    this.intervalMs = (this.minIntervalMs + this.maxIntervalMs) / 2;
  }

  restore(saved: { readonly lastTickAt: number; readonly intervalMs: number }): void {
    this.lastTickAt = saved.lastTickAt;
    this.intervalMs = saved.intervalMs;
  }

  save(): { lastTickAt: number; intervalMs: number } {
    return { lastTickAt: this.lastTickAt, intervalMs: this.intervalMs };
  }

  nextWakeAt(states: readonly WatchState[]): number {
    return states.reduce((soonest, state) => Math.min(soonest, wakeAt(state, this.cadence())), Infinity);
  }

  /** The tasks of a tick that starts now; none when nothing is due. Jitter is chosen per tick, never per task. */
  beginTick(states: readonly WatchState[], now: number, random: number): WatchState[] {
    const awake = states.some((state) => wakeAt(state, this.cadence()) <= now);
    const due = awake ? states.filter((state) => isPollable(state, now)) : [];
    if (due.length === 0) return due;
    this.intervalMs = nextIntervalMs(this, this.pace, this.lateness(now), random);
    this.lastTickAt = now;
    return due;
  }

  private lateness(now: number): number {
    return this.lastTickAt === 0 ? 0 : Math.max(0, now - this.lastTickAt - this.intervalMs);
  }

  /**
   * Input of the tick's one activity, with tasks grouped by model. `order[i]` is the index in `states` of the i-th
   * id.
   */
  tickInput(account: string, states: readonly WatchState[]): { input: PollVideosInput; order: number[] } {
    const byModel = new Map<string | null, number[]>();
    states.forEach((state, index) => {
      const model = state.video.model;
      const indexes = byModel.get(model);
      if (indexes === undefined) byModel.set(model, [index]);
      else indexes.push(index);
    });
    const batches = [...byModel].map(([model, indexes]): PollBatch => ({
      model,
      ids: indexes.map((index) => (states[index] as WatchState).video.taskId),
      ...shortSeen(indexes.map((index) => (states[index] as WatchState).seen)),
    }));
    const budgetMs = this.intervalMs - BUDGET_MARGIN_MS;
    const input: PollVideosInput = {
      account,
      budgetMs,
      minIntervalMs: this.minIntervalMs,
      ...(this.pace.keepsPace === true && { spread: this.spread(states.length, budgetMs) }),
      byModel: batches,
    };
    return { input, order: [...byModel.values()].flat() };
  }

  private spread(tasks: number, budgetMs: number): PollSpread {
    return {
      everyMs: Math.round((this.minIntervalMs + this.maxIntervalMs) / 2),
      overMs: Math.min(tasks * SPREAD_MS, Math.max(0, Math.floor(budgetMs / 2))),
    };
  }

  /**
   * Applies one task's answer in the tick that started at `at` and ended at `answeredAt`; no answer means unchanged.
   */
  apply(
    state: WatchState,
    answer: PollAnswer | undefined,
    at: number,
    random: number,
    answeredAt: number = at,
  ): { state: WatchState; verdict?: WatchVerdict } {
    const askedAt = at - (answer?.askedMsAgo ?? 0);
    const verdict = answer !== undefined && 'record' in answer ? verdictOfRecord(answer.record) : undefined;
    // With several workers, an older answer may arrive after a newer one.
    if (askedAt < at && askedAt <= (state.lastPollAt ?? 0) && verdict === undefined)
      return { state: onNoAnswer(state, at) };
    if (answer === undefined || 'unchanged' in answer)
      return { state: this.slowed(onUnchanged(state, askedAt, at)) };
    if ('error' in answer)
      return { state: onPollError(state, answer, at, this.minIntervalMs, random, answeredAt) };
    const isNew = answer.digest !== state.seen;
    const next = this.slowed(
      isNew ? onRecord(state, answer.record, answer.digest, askedAt, at) : onUnchanged(state, askedAt, at),
    );
    return verdict === undefined ? { state: next } : { state: next, verdict };
  }

  nudged(state: WatchState, now: number): WatchState {
    return onNudge(state, now, this.minIntervalMs);
  }

  missed(state: WatchState, at: number): WatchState {
    return onMissedTick(state, at);
  }

  verdict(state: WatchState, now: number): WatchVerdict | undefined {
    return verdictWithoutRecord(state, now);
  }

  private slowed(state: WatchState): WatchState {
    const dueAt = slowPollAt(this.slow, state, this.minIntervalMs);
    return dueAt === undefined ? state : { ...state, dueAt };
  }

  private cadence(): Cadence {
    return { lastTickAt: this.lastTickAt, intervalMs: this.intervalMs, minIntervalMs: this.minIntervalMs };
  }
}

/** State of a PollLoop between two ticks: everything that continue-as-new must carry (architecture: Poll). */
export interface PollLoopSnapshot {
  readonly v: 1;
  /** One for each account and band of intervals. */
  readonly groups: readonly PollGroupSnapshot[];
}

export interface PollGroupSnapshot {
  readonly account: string;
  /** Start of the last tick in workflow time, milliseconds; 0 before the first. */
  readonly lastTickAt: number;
  readonly intervalMs: number;
  readonly watches: readonly WatchState[];
}
