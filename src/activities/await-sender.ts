import { type SlotIntent } from '../domain/journal';
import { retryLater } from './failures';

/** Milliseconds that the sender of a slot without an outcome still has to say itself what it came to; none are left at 0. */
export function timeLeft({ sendWindowEnd }: Pick<SlotIntent, 'sendWindowEnd'>, now: number): number {
  return Date.parse(sendWindowEnd) - now;
}

/** Whether the sender of a slot without an outcome still has time. */
export function mayBeAlive(slot: Pick<SlotIntent, 'sendWindowEnd'>, now: number): boolean {
  return timeLeft(slot, now) > 0;
}

/** Throws while the sender of a slot without an outcome may still be alive: it is about to say itself what it came to. */
export function awaitSender(
  slot: SlotIntent,
  now: number,
  { message, everyMs }: { readonly message: string; readonly everyMs: number },
): void {
  const left = timeLeft(slot, now);
  if (left <= 0) return;
  throw retryLater({ class: 'waiting_for_sender', message, delayMs: Math.min(everyMs, left + 100) });
}
