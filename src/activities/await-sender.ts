import { type SlotIntent } from '../domain/create-journal';
import { retryLater } from './failures';

/** Throws while the sender of a slot without an outcome may still be alive: it is about to say itself what it came to. */
export function awaitSender(
  { sendWindowEnd }: SlotIntent,
  now: number,
  { message, everyMs }: { readonly message: string; readonly everyMs: number },
): void {
  const left = Date.parse(sendWindowEnd) - now;
  if (left <= 0) return;
  throw retryLater({ class: 'waiting_for_sender', message, delayMs: Math.min(everyMs, left + 100) });
}
