import { type ClaimIntent } from '../domain/journal';
import { retryLater } from './failures';

type Window = Pick<ClaimIntent, 'at' | 'sendWindowEnd'>;

/**
 * Milliseconds that the sender of a claim without an outcome still has to record it; 0 or less when its time is over.
 * Never more than its whole window, whatever the clocks of two workers say.
 */
export function timeLeft({ at, sendWindowEnd }: Window, now: number): number {
  const end = Date.parse(sendWindowEnd);
  return Math.min(end - now, end - Date.parse(at));
}

/** Whether the sender of a claim without an outcome still has time. */
export function mayBeAlive(claim: Window, now: number): boolean {
  return timeLeft(claim, now) > 0;
}

/** Throws while the sender of a claim without an outcome may still be alive and record it. */
export function awaitSender(
  claim: ClaimIntent,
  now: number,
  { message, everyMs }: { readonly message: string; readonly everyMs: number },
): void {
  const left = timeLeft(claim, now);
  if (left <= 0) return;
  throw retryLater({ class: 'waiting_for_sender', message, delayMs: Math.min(everyMs, left + 100) });
}
