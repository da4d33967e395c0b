import { type SlotIntent } from '../domain/create-journal';
import { retryLater } from './failures';

/** Whether the sender of a slot without an outcome still has time to say itself what it came to. */
export function mayBeAlive({ sendWindowEnd }: Pick<SlotIntent, 'sendWindowEnd'>, now: number): boolean {
  return Date.parse(sendWindowEnd) > now;
}

/** Throws while the sender of a slot without an outcome may still be alive: it is about to say itself what it came to. */
export function awaitSender(
  { sendWindowEnd }: SlotIntent,
  now: number,
  { message, everyMs }: { readonly message: string; readonly everyMs: number },
): void {
  if (!mayBeAlive({ sendWindowEnd }, now)) return;
  const left = Date.parse(sendWindowEnd) - now;
  throw retryLater({ class: 'waiting_for_sender', message, delayMs: Math.min(everyMs, left + 100) });
}
