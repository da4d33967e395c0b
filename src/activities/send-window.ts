import { type IntentEntry, type Send } from '../domain/log-entries';
import { type KeyState } from '../domain/paid-log';
import { CREATE_TIMEOUTS } from '../domain/timeouts';
import { type Caller } from './paid-context';

/** The time by which one send must start and the time by which it must end, in milliseconds of `performance.now`. */
export interface SendWindow {
  /** Maximum duration of the entire exchange, in milliseconds. */
  readonly budgetMs: number;
  readonly sendBy: number;
  /** Includes everything that follows the reply. */
  readonly endsAt: number;
  /** When the window began, according to both `performance.now` and the wall clock. */
  readonly began: { readonly at: number; readonly wall: number };
}

/**
 * Returns the window for a send whose intent is being written now. It is based on the model's time budget, and never
 * exceeds the activity's timeout.
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
 * Whether it is too late to start a send by either clock: setting the wall clock back must not extend the window, and
 * the other clock stops while the machine is suspended.
 */
export function isTooLate({ sendBy, began }: SendWindow): boolean {
  // oxlint-disable-next-line house/no-wall-clock-durations -- counts while the machine is suspended
  return performance.now() > sendBy || Date.now() > inWallTime(sendBy, began);
}

/** Returns the time after which no sender in this window can still be running. */
export function certainlyOverAt({ endsAt }: SendWindow): number {
  return endsAt + CREATE_TIMEOUTS.zombieMarginMs;
}

/** Returns {@link certainlyOverAt} as wall clock time, for other workers, in milliseconds since the Unix epoch. */
export function recordedEnd(window: SendWindow): number {
  return inWallTime(certainlyOverAt(window), window.began);
}

function inWallTime(time: number, { at, wall }: SendWindow['began']): number {
  return wall + time - at;
}

/**
 * Returns the milliseconds left for an open send's sender to record its answer; 0 or less if its time has expired or
 * its process has ended. Only an intent can be open.
 */
export function timeLeft({ sent, senderEnded }: Pick<Send, 'sent' | 'senderEnded'>, now: number): number {
  return senderEnded === true ? -Infinity : within(sent.at, (sent as IntentEntry).sendWindowEnd, now);
}

/** Never more than the entire window, because two workers' clocks differ. */
function within(at: string, windowEnd: string, now: number): number {
  const end = Date.parse(windowEnd);
  return Math.min(end - now, end - Date.parse(at));
}

/** Returns {@link timeLeft} for a key's open send; 0 if there is none. */
export function timeLeftOpen({ sends, open }: KeyState, now: number): number {
  const send = open === null ? undefined : sends[open];
  return send === undefined ? 0 : timeLeft(send, now);
}

/**
 * Returns the milliseconds left for an unconfirmed send that is being repeated under its key; 0 if it is not being
 * repeated.
 */
export function timeLeftRepeated({ answer }: Send, now: number): number {
  if (answer?.repeatedUntil === undefined) return 0;
  return within(answer.at, answer.repeatedUntil, now);
}

/** Whether the open intent's sender still has time left. */
export function mayBeAlive(state: KeyState, now: number): boolean {
  return timeLeftOpen(state, now) > 0;
}
