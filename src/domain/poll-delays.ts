import { type PollErrorClass, type PollVideosInput } from './poll-answers';

/** The soft budget of a tick ends this long before the next one is due (architecture: Poll). */
export const BUDGET_MARGIN_MS = 1000;
/**
 * Margin at both ends of a band, as a share of it, so that scheduling noise does not push an interval out of the
 * band.
 */
const BAND_MARGIN = 0.1;

/** One try a minute while credentials are refused (C7.3). */
export const CREDENTIALS_RETRY_MS = 60_000;
/** Longest backoff of our own; Retry-After may be longer (C8.6). */
export const MAX_BACKOFF_MS = 60_000;
/** Milliseconds from the start of a tick to the next one. */
export function tickIntervalMs({ budgetMs }: PollVideosInput): number {
  return budgetMs + BUDGET_MARGIN_MS;
}

/** How a group chooses its intervals. */
export interface PollPace {
  /**
   * Margin at both ends of the band, as a share of it, below 0.5; a larger one makes intervals steadier. @default 0.1
   */
  readonly bandMargin?: number | undefined;
  /**
   * Whether a late tick shortens the next interval by its delay, down to the band's shortest; otherwise every delay
   * of a timer is added to the gap between two polls. The GETs of a tick with many tasks are spread over its first
   * half, so that each task keeps its own schedule. @default false
   */
  readonly keepsPace?: boolean | undefined;
}

/** From when on, after the start of a wait, and how often a long wait is polled, in milliseconds. */
export interface SlowPolling {
  /** Milliseconds since the start of the wait. */
  readonly afterMs: number;
  /** Milliseconds between two polls from then on. */
  readonly intervalMs: number;
}

/** When a task of a long wait is polled next, never below its band; undefined while the interval of its group holds. */
export function slowPollAt(
  slow: SlowPolling | undefined,
  { startedAt, lastPollAt }: { readonly startedAt: number; readonly lastPollAt: number | null },
  minIntervalMs: number,
): number | undefined {
  if (slow === undefined || lastPollAt === null || lastPollAt - startedAt < slow.afterMs) return undefined;
  return lastPollAt + Math.max(slow.intervalMs, minIntervalMs);
}

/** The next interval of a group, in milliseconds: random within its band, shorter by what this tick came late. */
export function nextIntervalMs(
  { minIntervalMs, maxIntervalMs }: { readonly minIntervalMs: number; readonly maxIntervalMs: number },
  { bandMargin = BAND_MARGIN, keepsPace = false }: PollPace,
  lateMs: number,
  random: number,
): number {
  const band = maxIntervalMs - minIntervalMs;
  // Never more than the margin: the service sets the shortest interval.
  const late = keepsPace ? Math.min(lateMs, band * bandMargin) : 0;
  return Math.round(minIntervalMs + band * (bandMargin + random * (1 - 2 * bandMargin)) - late);
}

/** Delay after a poll that returned no record, in milliseconds. `errors` are the consecutive ones before it. */
export function errorDelayMs(
  { errors, isKnown }: { readonly errors: number; readonly isKnown: boolean },
  error: PollErrorClass,
  minIntervalMs: number,
  random: number,
): number {
  if (error === 'credentials') return CREDENTIALS_RETRY_MS;
  // The grace window counts answers and seconds: the ordinary cadence suits both.
  if (isUnknownAnswer(error) && !isKnown) return 0;
  const ceiling = Math.min(MAX_BACKOFF_MS, minIntervalMs * 2 ** Math.min(errors + 1, 10));
  return Math.max(minIntervalMs, Math.round(ceiling * (0.5 + random / 2)));
}

/** The service answers that it has no such task. */
export function isUnknownAnswer(error: PollErrorClass): boolean {
  return error === 'not_found' || error === 'bad_request';
}

/** Cadence of the group at one moment: its last tick and its current interval. */
export interface Cadence {
  /** Start of the last tick; 0 before the first. */
  readonly lastTickAt: number;
  readonly intervalMs: number;
  readonly minIntervalMs: number;
}

/** What decides when a task is polled, in milliseconds of workflow time. */
export interface Pollable {
  readonly dueAt: number;
  readonly notBefore: number;
  readonly deadlineAt: number;
}

/** When this task next needs attention: an ordinary poll, the last poll of its wait, or its end. */
export function wakeAt(state: Pollable, cadence: Cadence): number {
  const soonest = cadence.lastTickAt === 0 ? 0 : cadence.lastTickAt + cadence.minIntervalMs;
  const ordinary = Math.max(
    state.dueAt,
    state.notBefore,
    cadence.lastTickAt === 0 ? 0 : cadence.lastTickAt + cadence.intervalMs,
  );
  // At the deadline one more poll is due, unless Retry-After forbids it: then the wait ends there
  // (architecture: Wait).
  return Math.min(ordinary, Math.max(state.deadlineAt, soonest));
}

/** Whether the task is part of a tick that starts at `at`. */
export function isPollable(state: Pollable, at: number): boolean {
  return state.notBefore <= at && (state.dueAt <= at || at >= state.deadlineAt);
}
