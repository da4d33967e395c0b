import { type IntentEntry } from '../domain/log-entries';
import { type KeyState } from '../domain/paid-log';
import { retryLater } from './failures';

type Window = Pick<IntentEntry, 'at' | 'sendWindowEnd'>;

/**
 * Milliseconds that the sender of an open intent still has to record its answer; 0 or less when its time is over. Never
 * more than its whole window, whatever the clocks of two workers say.
 */
export function timeLeft({ at, sendWindowEnd }: Window, now: number): number {
  const end = Date.parse(sendWindowEnd);
  return Math.min(end - now, end - Date.parse(at));
}

/** The same of the open send of a key; 0 where there is none. Only an intent is ever open. */
function timeLeftOpen({ sends, open }: KeyState, now: number): number {
  return open === null ? 0 : timeLeft(sends[open]?.sent as IntentEntry, now);
}

/** Whether the sender of the open intent still has time. */
export function mayBeAlive(state: KeyState, now: number): boolean {
  return timeLeftOpen(state, now) > 0;
}

/** Throws while the sender of the open intent may still be alive and record its answer. */
export function awaitSender(
  state: KeyState,
  now: number,
  { message, everyMs }: { readonly message: string; readonly everyMs: number },
): void {
  const left = timeLeftOpen(state, now);
  if (left <= 0) return;
  throw retryLater({ class: 'waiting_for_sender', message, delayMs: Math.min(everyMs, left + 100) });
}
