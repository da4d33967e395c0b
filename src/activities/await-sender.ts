import { type ClaimIntent } from '../domain/journal';
import { retryLater } from './failures';

/**
 * Milliseconds that the sender of a claim without an outcome still has to record it; 0 or less when its time is over.
 */
export function timeLeft({ sendWindowEnd }: Pick<ClaimIntent, 'sendWindowEnd'>, now: number): number {
  return Date.parse(sendWindowEnd) - now;
}

/** Whether the sender of a claim without an outcome still has time. */
export function mayBeAlive(claim: Pick<ClaimIntent, 'sendWindowEnd'>, now: number): boolean {
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
