import { randomUUID } from 'node:crypto';
import { type CreateJournal, type JournalKey, type SlotIntent } from '../domain/create-journal';
import { evidence } from '../domain/evidence';
import { type CreateVideoAnswer, type ReconcileCreateInput } from '../domain/paid-call';
import { journalUnavailable, retryLater } from './failures';
import { indexCreated } from './index-created';
import { fencedAnswer } from './paid-answers';
import { caller, type PaidDeps } from './paid-context';
import { unconfirmedAfterIntent } from './unconfirmed-after-intent';

/** How often a sender that may still be alive is looked at: its outcome is wanted as soon as it is there. */
const LOOK_EVERY_MS = 3_000;

/**
 * Finds out what one epoch came to (failure-model 2.5): its recorded outcome; "not sent", proved by taking the
 * fence; or unconfirmed, once no sender can be alive any more. Sends nothing.
 */
export function createReconcileCreate(
  deps: PaidDeps,
): (input: ReconcileCreateInput) => Promise<CreateVideoAnswer> {
  return async (input) => {
    const { journal } = deps;
    const now = Date.now();
    const key: JournalKey = { namespace: caller(now).namespace, creationKey: input.creationKey };
    const common = { epoch: input.epoch, sent: false, account: input.account ?? null, estimate: null };
    if (journal === 'none') return { ...common, outcome: 'unconfirmed', evidence: evidence('no_journal') };
    const view = await readEpoch(journal, key, input.epoch);
    if (view.outcome !== null) {
      const answer = view.outcome.answer as CreateVideoAnswer;
      await indexCreated(journal, key, answer, view.slot?.kind === 'intent' ? view.slot : null);
      return { ...answer, sent: true };
    }
    if (view.slot?.kind === 'intent') return afterIntent(view.slot, input.epoch, now);
    if (view.slot === null) {
      if (!deps.journalBound())
        return { ...common, outcome: 'unconfirmed', evidence: evidence('journal_not_bound') };
      const fence = { v: 1, kind: 'fence', nonce: randomUUID(), at: new Date(now).toISOString() } as const;
      const taken = await journal.putSlot(key, input.epoch, fence).catch(() => {
        throw journalUnavailable();
      });
      // Somebody took the slot in between: look again, its outcome decides.
      if (taken === 'lost')
        throw retryLater({ class: 'slot_taken', message: 'The epoch was taken just now.', delayMs: 1000 });
    }
    return fencedAnswer(common);
  };
}

function readEpoch(
  journal: CreateJournal,
  key: JournalKey,
  epoch: number,
): ReturnType<CreateJournal['read']> {
  return journal.read(key, epoch).catch(() => {
    throw journalUnavailable();
  });
}

function afterIntent(slot: SlotIntent, epoch: number, now: number): CreateVideoAnswer {
  const left = Date.parse(slot.sendWindowEnd) - now;
  if (left > 0) {
    throw retryLater({
      class: 'waiting_for_sender',
      message: 'A sender of this epoch may still be alive; its outcome is awaited.',
      delayMs: Math.min(LOOK_EVERY_MS, left + 100),
    });
  }
  return unconfirmedAfterIntent(slot, epoch);
}
