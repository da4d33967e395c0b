import {
  isPaid,
  isRefusal,
  isStandIn,
  type CreateJournal,
  type JournalKey,
  type RecordedAnswer,
  type SlotIntent,
} from '../domain/create-journal';
import { evidence } from '../domain/evidence';
import { causeOfUnproved, provesNotSent } from '../domain/journal-proof';
import { RECORDED_BY_ANOTHER_RUN } from '../domain/names';
import { resolveCreatePolicy } from '../domain/create-policy';
import {
  type CreateVideoAnswer,
  type NotSent,
  type ReconcileCreateInput,
  type UnconfirmedCall,
} from '../domain/paid-call';
import { awaitSender } from './await-sender';
import { fence, openEpoch, takeSlot } from './epochs';
import { journalUnavailable, retryLater } from './failures';
import { indexCreated } from './index-created';
import { inspectRecords } from './inspect-records';
import { fencedAnswer, waitingAnswer } from './paid-answers';
import { caller, type PaidDeps } from './paid-context';
import { withSameKey } from './send-same-key';
import { standing } from './sender';
import { standIn } from './stand-in';
import { unconfirmedAfterIntent } from './unconfirmed-after-intent';

/** A sender that may still be alive is looked at often: its outcome is wanted as soon as it is there. */
const SENDER = {
  message: 'A sender of this epoch may still be alive; its outcome is awaited.',
  everyMs: 3_000,
};
const OF_ANOTHER_RUN = 'Another run has a record under this key.';

/**
 * Finds out what a create came to that brought no value (failure model: The journal): its recorded outcome; "not sent", proved by
 * taking the fence; or unconfirmed, once no sender can be alive any more. It looks where the sender was allowed to act:
 * beyond the epochs that ended in a proven refusal of an earlier run. Sends nothing.
 */
export function createReconcileCreate(
  deps: PaidDeps,
): (input: ReconcileCreateInput) => Promise<CreateVideoAnswer> {
  return async (input) => {
    const { journal } = deps;
    const now = Date.now();
    const who = caller(now);
    const { namespace, workflowId, runId } = who;
    const key: JournalKey = { namespace, creationKey: input.creationKey };
    const common = { epoch: input.epoch, sent: false, account: input.account ?? null, estimate: null };
    if (journal === 'none') return { ...common, outcome: 'unconfirmed', evidence: evidence('no_journal') };
    // A queue that was given to another journal since proves nothing here: what the ledger says now counts.
    const here = await standing(deps, true);
    const opened = await openEpoch(journal, key, input.epoch, {
      fingerprint: input.fingerprint ?? null,
      workflowId,
      runId,
      now,
    }).catch(() => {
      throw journalUnavailable();
    });
    const base = { ...common, epoch: opened.epoch, ...(opened.mayBeOwed && { mayBeOwed: true as const }) };
    const isCompared = input.fingerprint !== undefined;
    /** Beyond epochs that only the create itself can compare with its request, it has to begin where it began. */
    const fenced = (at: typeof base): NotSent =>
      at.epoch === input.epoch || isCompared
        ? fencedAnswer(at)
        : { ...fencedAnswer(at), epoch: input.epoch, epochUsed: false };
    const changed = (at: typeof base): Promise<UnconfirmedCall> =>
      standIn(journal, key, who, {
        ...at,
        ...input.facts,
        operation: 'create_video',
        account: at.account ?? '',
        fingerprint: null,
        heard: input.senders.heard,
        cause: here.bound ? causeOfUnproved(input.senders.heard, here.journalId) : 'journal_changed',
      });
    /** Nothing here says what became of what its senders may have sent with another journal. */
    const unproved = (at: typeof base): Promise<UnconfirmedCall> => {
      if (!here.bound)
        throw retryLater({ class: 'journal_not_bound', message: here.message, delayMs: 5_000 });
      return changed(at);
    };
    const provesIt = here.bound && provesNotSent(input.senders, { ...here, intents: opened.intents });
    /**
     * Somebody else's: whether it was the same request only the create itself can tell, by the fingerprint. What stands in
     * for a send that cannot be told from others is of all of them.
     */
    const isForeign = (slot: SlotIntent | null): boolean =>
      !isCompared && slot?.runId !== runId && !(slot !== null && isStandIn(slot));
    /** From where it began, the create compares every epoch with its request again: nobody sends beside a purchase. */
    const foreign = (recorded?: RecordedAnswer): NotSent | Promise<UnconfirmedCall> =>
      provesIt || isPaid(recorded)
        ? waitingAnswer({ ...base, epoch: input.epoch }, RECORDED_BY_ANOTHER_RUN, OF_ANOTHER_RUN)
        : unproved(base);
    switch (opened.do) {
      case 'return': {
        const { slot } = opened;
        if (isForeign(slot)) {
          const { answer } = opened.outcome;
          if (provesIt && isRefusal(answer, Infinity)) await shutOut(journal, key, opened.epoch, now);
          return foreign(answer);
        }
        const answer = opened.outcome.answer as CreateVideoAnswer;
        if (answer.outcome === 'unconfirmed' && slot !== null)
          return inspected(answer, slot, journal, key, input);
        await indexCreated(journal, key, answer, slot);
        return { ...answer, sent: true };
      }
      case 'pending':
        if (isForeign(opened.slot)) {
          if (provesIt) await shutOut(journal, key, opened.epoch, now);
          return foreign();
        }
        awaitSender(opened.slot, now, SENDER);
        return inspected(unconfirmedAfterIntent(opened.slot, opened.epoch), opened.slot, journal, key, input);
      case 'send': {
        if (!provesIt) return unproved(base);
        await takeFence(journal, key, opened.epoch, now);
        return fenced(base);
      }
      case 'fenced':
        return provesIt ? fenced(base) : unproved(base);
      case 'conflict':
        return foreign(opened.view.outcome?.answer);
    }
  };

  /** Of unknown fate: the service's records may know, where there are such. */
  async function inspected(
    unconfirmed: UnconfirmedCall,
    slot: SlotIntent,
    journal: CreateJournal,
    key: JournalKey,
    input: ReconcileCreateInput,
  ): Promise<CreateVideoAnswer> {
    const records = deps.taskRecords;
    const { onAbsent } = resolveCreatePolicy(deps.policy, input.policy);
    // What stands in for a send has neither its time nor its body: no record of a task could be told to be of it.
    const found =
      records === undefined || isStandIn(slot)
        ? { ...unconfirmed, sent: true }
        : await inspectRecords({ records, journal, key, slot, unconfirmed, onAbsent });
    return found.outcome === 'unconfirmed' ? withSameKey(found, slot) : found;
  }
}

/**
 * The create that brought no value may still go on one day, and then go past the refusal of another run, which stops it
 * now or does not. Its run may have been told that refusal by then: where it would send, a fence stands.
 */
async function shutOut(journal: CreateJournal, key: JournalKey, epoch: number, now: number): Promise<void> {
  for (let next = epoch + 1; ; next++) {
    const { slot } = await journal.read(key, next).catch(() => {
      throw journalUnavailable();
    });
    // An intent of another stops it there, or lets it on: it meets a fence at the first place where it could send.
    if (slot?.kind === 'intent') continue;
    return slot === null ? takeFence(journal, key, next, now) : undefined;
  }
}

async function takeFence(journal: CreateJournal, key: JournalKey, epoch: number, now: number): Promise<void> {
  const taken = await takeSlot(journal, key, epoch, fence(now)).catch(() => {
    throw journalUnavailable();
  });
  // Somebody took the slot in between: look again, its outcome decides.
  if (taken === 'lost')
    throw retryLater({ class: 'slot_taken', message: 'The epoch was taken just now.', delayMs: 1000 });
}
