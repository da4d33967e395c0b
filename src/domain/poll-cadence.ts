import { type WatchVerdict, verdictOfRecord } from './end-of-wait';
import { type PollAnswer, type PollSpread, type PollVideosInput, shortSeen } from './poll-answers';
import { type PollingProfile } from './video-task';
import { onNoAnswer, onPollError, onRecord, onUnchanged, type Watch, type WatchState } from './watch-state';

/** How a group chooses its intervals. */
export interface PollPace {
  /**
   * Margin at each end of the band, as a fraction of the band (less than 0.5). A larger margin makes intervals
   * steadier.
   */
  readonly bandMargin: number;
  /**
   * Whether a late tick shortens the next interval by its delay, down to the band's shortest interval. If false, every
   * timer delay lengthens the gap between two polls. If true, the GETs of a tick with many tasks are also spread over
   * its first half, so that each task keeps its own schedule.
   */
  readonly keepsPace: boolean;
}

/**
 * The pace of each kind of poller (architecture: Wait). A single video's workflow draws its intervals from nearly the
 * whole band, with a margin so that timer noise does not push them outside. In the band of 3 to 5 s, watchers and
 * batches poll every 4 s ± 0.2 s. That is enough jitter to keep them out of step, and no video waits the full 5 s.
 */
export const PACE = {
  own: { bandMargin: 0.1, keepsPace: false },
  watcher: { bandMargin: 0.4, keepsPace: true },
  batch: { bandMargin: 0.4, keepsPace: true },
} as const satisfies { readonly [poller: string]: PollPace };

/** When polling slows down during a long wait, and to what interval, in milliseconds. */
export interface SlowPolling {
  /** Time after which polling slows down, in milliseconds. */
  readonly afterMs: number;
  /** Time between two polls from then on, in milliseconds. */
  readonly intervalMs: number;
}

/** A tick's soft budget ends this long before the next tick is due (architecture: Wait). */
const BUDGET_MARGIN_MS = 1000;
/** Milliseconds that each task adds to the time over which a tick's GETs are spread. */
const SPREAD_MS = 4;

/** A group's last tick, from which its next run continues. */
export interface LastTick {
  /** Start of the tick in workflow time, in milliseconds; 0 before the first tick. */
  readonly lastTickAt: number;
  /** Milliseconds from this tick to the next one. */
  readonly intervalMs: number;
}

export const NO_TICK: LastTick = { lastTickAt: 0, intervalMs: 0 };

/**
 * Controls how often one group is polled, from the start of one tick to the start of the next. Its decisions are pure
 * and depend only on its tasks' states. Tests drive it in virtual time, and the PollLoop drives it in workflows.
 */
export class PollGroup {
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;

  constructor(
    profile: PollingProfile,
    private readonly slow?: SlowPolling,
    readonly pace: PollPace = PACE.own,
    public last: LastTick = NO_TICK,
  ) {
    this.minIntervalMs = profile.minSeconds * 1000;
    this.maxIntervalMs = Math.max(profile.maxSeconds * 1000, this.minIntervalMs);
  }

  /** Returns when the first of these watches needs attention, or `Infinity` if none does. */
  nextWakeAt(watches: readonly Watch[]): number {
    const cadence = { ...this.last, minIntervalMs: this.minIntervalMs };
    return watches.reduce((soonest, { state }) => Math.min(soonest, wakeAt(state, cadence)), Infinity);
  }

  /**
   * Returns the watches of a tick that starts now, or an empty list if nothing is due. Jitter is chosen per tick, never
   * per task.
   */
  beginTick<Watched extends Watch>(watches: readonly Watched[], now: number, random: number): Watched[] {
    const due = this.nextWakeAt(watches) <= now ? watches.filter(({ state }) => isPollable(state, now)) : [];
    if (due.length === 0) return due;
    const { lastTickAt, intervalMs } = this.last;
    const lateMs = lastTickAt === 0 ? 0 : Math.max(0, now - lastTickAt - intervalMs);
    this.last = { lastTickAt: now, intervalMs: nextIntervalMs(this, this.pace, lateMs, random) };
    return due;
  }

  /**
   * Returns the input of the tick's only activity, with tasks grouped by model, and the watches in the same order as
   * the input's ids.
   */
  tickInput<Watched extends Watch>(
    account: string,
    watches: readonly Watched[],
  ): { readonly input: PollVideosInput; readonly ordered: readonly Watched[] } {
    const byModel = new Map<string | null, Watched[]>();
    for (const watch of watches) {
      const { model } = watch.state.video;
      const others = byModel.get(model);
      if (others === undefined) byModel.set(model, [watch]);
      else others.push(watch);
    }
    const budgetMs = this.last.intervalMs - BUDGET_MARGIN_MS;
    const input: PollVideosInput = {
      account,
      budgetMs,
      minIntervalMs: this.minIntervalMs,
      ...(this.pace.keepsPace && { spread: this.spread(watches.length, budgetMs) }),
      byModel: [...byModel].map(([model, polled]) => ({
        model,
        ids: polled.map(({ state }) => state.video.taskId),
        ...shortSeen(polled.map(({ state }) => state.seen)),
      })),
    };
    return { input, ordered: [...byModel.values()].flat() };
  }

  private spread(tasks: number, budgetMs: number): PollSpread {
    return {
      everyMs: Math.round((this.minIntervalMs + this.maxIntervalMs) / 2),
      overMs: Math.min(tasks * SPREAD_MS, Math.max(0, Math.floor(budgetMs / 2))),
    };
  }

  /**
   * Applies a task's answer from the tick that started at `at` and ended at `answeredAt`. No answer means unchanged.
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

  /**
   * Applies slow polling to a task that has been waiting for a long time. Its interval is never shorter than its
   * band's.
   */
  private slowed(state: WatchState): WatchState {
    const { startedAt, lastPollAt } = state;
    if (this.slow === undefined || lastPollAt === null || lastPollAt - startedAt < this.slow.afterMs)
      return state;
    return { ...state, dueAt: lastPollAt + Math.max(this.slow.intervalMs, this.minIntervalMs) };
  }
}

/** Returns the time from the start of a tick to the start of the next one, in milliseconds. */
export function tickIntervalMs({ budgetMs }: PollVideosInput): number {
  return budgetMs + BUDGET_MARGIN_MS;
}

/** Returns a group's next interval, in milliseconds: random within its band, minus this tick's delay. */
function nextIntervalMs(
  { minIntervalMs, maxIntervalMs }: { readonly minIntervalMs: number; readonly maxIntervalMs: number },
  { bandMargin, keepsPace }: PollPace,
  lateMs: number,
  random: number,
): number {
  const band = maxIntervalMs - minIntervalMs;
  // Never more than the margin, so that the interval stays within the service's band.
  const late = keepsPace ? Math.min(lateMs, band * bandMargin) : 0;
  return Math.round(minIntervalMs + band * (bandMargin + random * (1 - 2 * bandMargin)) - late);
}

interface Cadence extends LastTick {
  readonly minIntervalMs: number;
}

/** What determines when a task is polled, in milliseconds of workflow time. */
interface Pollable {
  readonly dueAt: number;
  readonly notBefore: number;
  readonly deadlineAt: number;
}

/** Returns when this task next needs attention: an ordinary poll, the last poll of its wait, or the end of the wait. */
export function wakeAt(state: Pollable, cadence: Cadence): number {
  const { lastTickAt, intervalMs, minIntervalMs } = cadence;
  const soonest = lastTickAt === 0 ? 0 : lastTickAt + minIntervalMs;
  const ordinary = Math.max(state.dueAt, state.notBefore, lastTickAt === 0 ? 0 : lastTickAt + intervalMs);
  // At the deadline, one more poll is due. If Retry-After forbids it, the wait ends without it (architecture: Wait).
  return Math.min(ordinary, Math.max(state.deadlineAt, soonest));
}

/** Whether the task is part of a tick that starts at `at`. */
export function isPollable(state: Pollable, at: number): boolean {
  return state.notBefore <= at && (state.dueAt <= at || at >= state.deadlineAt);
}
