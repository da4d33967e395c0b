import { type IntentEntry, type Send } from '../domain/log-entries';
import { type KeyState } from '../domain/paid-log';
import { CREATE_TIMEOUTS } from '../domain/timeouts';
import { type Caller } from './paid-context';

/** When one send may start, and when it must have ended, in milliseconds of `performance.now`. */
export interface SendWindow {
  /** Time of the whole exchange, in milliseconds. */
  readonly budgetMs: number;
  readonly sendBy: number;
  /** Includes everything that follows the reply. */
  readonly endsAt: number;
  /** When it began, by the clock of its times and by the wall clock. */
  readonly began: { readonly at: number; readonly wall: number };
}

/**
 * Returns the window of a send whose intent is written now. It follows from the time budget of the model, and never
 * exceeds the timeout of the activity.
 * @param afterMs time between the reply and the write of the outcome
 */
export function sendWindow(
  { startedAt, startToCloseMs, now }: Pick<Caller, 'startedAt' | 'startToCloseMs' | 'now'>,
  { budgetMs, afterMs }: { readonly budgetMs: number; readonly afterMs: number },
  began = { at: performance.now(), wall: now() },
): SendWindow {
  const closesAt = startedAt + startToCloseMs;
  const sendBy = Math.min(began.at + CREATE_TIMEOUTS.sendWithinMs, closesAt - budgetMs);
  return { budgetMs, sendBy, endsAt: Math.min(sendBy + budgetMs + afterMs, closesAt), began };
}

/**
 * Whether a send may no longer start, by either clock: a step back of the wall clock must not extend the window, and
 * the other clock stops while the machine is suspended.
 */
export function isTooLate({ sendBy, began }: SendWindow): boolean {
  // oxlint-disable-next-line house/no-wall-clock-durations -- counts while the machine is suspended
  return performance.now() > sendBy || Date.now() > inWallTime(sendBy, began);
}

/** The time after which no sender of this window is alive. */
export function certainlyOverAt({ endsAt }: SendWindow): number {
  return endsAt + CREATE_TIMEOUTS.zombieMarginMs;
}

/** {@link certainlyOverAt} by the wall clock, for other workers: in milliseconds since the Unix epoch. */
export function recordedEnd(window: SendWindow): number {
  return inWallTime(certainlyOverAt(window), window.began);
}

function inWallTime(time: number, { at, wall }: SendWindow['began']): number {
  return wall + time - at;
}

type Window = Pick<IntentEntry, 'at' | 'sendWindowEnd'>;

/**
 * Milliseconds in which the sender of an open intent may still record its answer; 0 or less when they have expired.
 * Never more than its whole window, because the clocks of two workers differ.
 */
export function timeLeft({ at, sendWindowEnd }: Window, now: number): number {
  const end = Date.parse(sendWindowEnd);
  return Math.min(end - now, end - Date.parse(at));
}

/** {@link timeLeft} of the open send of a key; 0 if there is none. Only an intent can be open. */
export function timeLeftOpen({ sends, open }: KeyState, now: number): number {
  return open === null ? 0 : timeLeft(sends[open]?.sent as IntentEntry, now);
}

/** {@link timeLeft} of a send of unknown fate that is sent once more under its key; 0 if it is not. */
export function timeLeftRepeated({ answer }: Send, now: number): number {
  if (answer?.repeatedUntil === undefined) return 0;
  return timeLeft({ at: answer.at, sendWindowEnd: answer.repeatedUntil }, now);
}

/** Whether the sender of the open intent still has time. */
export function mayBeAlive(state: KeyState, now: number): boolean {
  return timeLeftOpen(state, now) > 0;
}
