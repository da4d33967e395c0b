import {
  type ClaimIntent,
  type CreateJournal,
  isUndecided,
  type JournalKey,
  type SendAttemptKey,
  type SendAttemptView,
} from '../domain/journal';
import { retryLater } from './failures';
import { isPassed } from './send-attempts';

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

/** Whether a paid call waits for a decision: its fate is unknown, and no sender of it can be alive any more. */
export function awaitsDecision(view: SendAttemptView, now: number): boolean {
  if (view.claim?.kind !== 'intent' || !isUndecided(view)) return false;
  return view.outcome !== null || !mayBeAlive(view.claim, now);
}

/** Finds a call of unknown fate with the same body to the same account, under another key of the namespace. */
export async function otherOpenCall(
  journal: CreateJournal | 'none',
  key: JournalKey,
  call: Pick<ClaimIntent, 'bodyHash' | 'account'>,
  now: number,
): Promise<SendAttemptKey | undefined> {
  if (journal === 'none') return undefined;
  for (const place of await journal.findOpenByBody(call.bodyHash)) {
    if (place.creationKey === key.creationKey || place.namespace !== key.namespace) continue;
    const view = await journal.read(place, place.sendAttempt);
    const same =
      view.claim?.kind === 'intent' &&
      view.claim.bodyHash === call.bodyHash &&
      view.claim.account === call.account;
    if (!same || !awaitsDecision(view, now)) continue;
    if (view.outcome !== null || !(await isPassed(journal, place, place.sendAttempt))) return place;
  }
  return undefined;
}
