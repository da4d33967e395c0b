import { randomUUID } from 'node:crypto';
import { activityInfo, heartbeat } from '@temporalio/activity';
import {
  type CreateJournal,
  isPaid,
  isRefusal,
  isPlaceholder,
  type JournalKey,
  type RecordedAnswer,
  type Resolution,
  type ClaimIntent,
} from '../domain/journal';
import { resolveCreatePolicy } from '../domain/create-policy';
import {
  type CreateVideoAnswer,
  evidence,
  type NotSent,
  type ReconcileCreateInput,
  type UnconfirmedCall,
} from '../domain/paid-call';
import { causeOfUnproved, provesNotSent } from '../domain/journal-proof';
import { RECORDED_BY_ANOTHER_RUN } from '../domain/names';
import { MAX_REQUEST_SECONDS } from '../domain/timeouts';
import { isUsableTaskId } from '../domain/video-task';
import { awaitSender } from './await-sender';
import { journalUnavailable, retryLater } from './failures';
import { idempotencyKey } from './idempotency-key';
import { factsIn } from './intent-of';
import { claimTask, fence, indexCreated, isForeign, openSendAttempt, takeClaim } from './send-attempts';
import { fencedAnswer, unconfirmedAfterIntent, waitingAnswer } from './paid-answers';
import { caller, type PaidDeps } from './paid-context';
import { adoptedAnswer, writeResolution } from './resolve-unconfirmed';
import { withSameKey } from './send-same-key';
import { standing } from './sender';
import { recordPlaceholder } from './placeholder-intent';
import { type SentCreate, type TaskRecord, type TaskRecords } from './task-records';

/** A sender that may still be alive is looked at often: its outcome is wanted as soon as it is there. */
const SENDER = {
  message: 'A sender of this send attempt may still be alive; its outcome is awaited.',
  everyMs: 3_000,
};
const OF_ANOTHER_RUN = 'Another run has a record under this key.';

/**
 * Finds out what a create came to that brought no value (failure model: The journal): its recorded outcome; "not sent", proved by
 * taking the fence; or unconfirmed, once no sender can be alive any more. It looks where the sender was allowed to act:
 * beyond the send attempts that ended in a proven refusal of an earlier run. Sends nothing.
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
    const common = {
      sendAttempt: input.sendAttempt,
      sent: false,
      account: input.account ?? null,
      estimate: null,
    };
    if (journal === 'none') return { ...common, outcome: 'unconfirmed', evidence: evidence('no_journal') };
    // A queue that was given to another journal since proves nothing here: what the ledger says now counts.
    const here = await standing(deps, true);
    const opened = await openSendAttempt(journal, key, input.sendAttempt, {
      fingerprint: input.fingerprint ?? null,
      workflowId,
      runId,
      now,
    }).catch(() => {
      throw journalUnavailable();
    });
    const base = {
      ...common,
      sendAttempt: opened.sendAttempt,
      ...(opened.mayBeOwed && { mayBeOwed: true as const }),
    };
    const isCompared = input.fingerprint !== undefined;
    /** Beyond send attempts that only the create itself can compare with its request, it has to begin where it began. */
    const fenced = (at: typeof base): NotSent =>
      at.sendAttempt === input.sendAttempt || isCompared
        ? fencedAnswer(at)
        : { ...fencedAnswer(at), sendAttempt: input.sendAttempt, sendAttemptUsed: false };
    const changed = (at: typeof base): Promise<UnconfirmedCall> =>
      recordPlaceholder(journal, key, who, {
        ...at,
        ...input.facts,
        operation: 'create_video',
        account: at.account ?? '',
        fingerprint: null,
        lastHeartbeat: input.senders.lastHeartbeat,
        cause: here.bound ? causeOfUnproved(input.senders.lastHeartbeat, here.journalId) : 'journal_changed',
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
    const isForeign = (claim: ClaimIntent | null): boolean =>
      !isCompared && claim?.runId !== runId && !(claim !== null && isPlaceholder(claim));
    /** From where it began, the create compares every send attempt with its request again: nobody sends beside a purchase. */
    const foreign = (recorded?: RecordedAnswer): NotSent | Promise<UnconfirmedCall> =>
      provesIt || isPaid(recorded)
        ? waitingAnswer({ ...base, sendAttempt: input.sendAttempt }, RECORDED_BY_ANOTHER_RUN, OF_ANOTHER_RUN)
        : unproved(base);
    switch (opened.do) {
      case 'return': {
        const { claim } = opened;
        if (isForeign(claim)) {
          const { answer } = opened.outcome;
          if (provesIt && isRefusal(answer, Infinity)) await shutOut(journal, key, opened.sendAttempt, now);
          return foreign(answer);
        }
        const answer = opened.outcome.answer as CreateVideoAnswer;
        if (answer.outcome === 'unconfirmed' && claim !== null)
          return inspected(answer, claim, journal, key, input);
        await indexCreated(journal, key, answer, claim);
        return { ...answer, sent: true };
      }
      case 'pending':
        if (isForeign(opened.claim)) {
          if (provesIt) await shutOut(journal, key, opened.sendAttempt, now);
          return foreign();
        }
        awaitSender(opened.claim, now, SENDER);
        return inspected(
          unconfirmedAfterIntent(opened.claim, opened.sendAttempt),
          opened.claim,
          journal,
          key,
          input,
        );
      case 'send': {
        if (!provesIt) return unproved(base);
        await takeFence(journal, key, opened.sendAttempt, now);
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
    claim: ClaimIntent,
    journal: CreateJournal,
    key: JournalKey,
    input: ReconcileCreateInput,
  ): Promise<CreateVideoAnswer> {
    const records = deps.taskRecords;
    const { onAbsent } = resolveCreatePolicy(deps.policy, input.policy);
    // What stands in for a send has neither its time nor its body: no record of a task could be told to be of it.
    const found =
      records === undefined || isPlaceholder(claim)
        ? { ...unconfirmed, sent: true }
        : await inspectRecords({ records, journal, key, claim, unconfirmed, onAbsent });
    return found.outcome === 'unconfirmed' ? withSameKey(found, claim) : found;
  }
}

/**
 * The create that brought no value may still go on one day, and then go past the refusal of another run, which stops it
 * now or does not. Its run may have been told that refusal by then: where it would send, a fence stands.
 */
async function shutOut(
  journal: CreateJournal,
  key: JournalKey,
  sendAttempt: number,
  now: number,
): Promise<void> {
  for (let next = sendAttempt + 1; ; next++) {
    const { claim } = await journal.read(key, next).catch(() => {
      throw journalUnavailable();
    });
    // An intent of another stops it there, or lets it on: it meets a fence at the first place where it could send.
    if (claim?.kind === 'intent') continue;
    return claim === null ? takeFence(journal, key, next, now) : undefined;
  }
}

async function takeFence(
  journal: CreateJournal,
  key: JournalKey,
  sendAttempt: number,
  now: number,
): Promise<void> {
  const taken = await takeClaim(journal, key, sendAttempt, fence(now)).catch(() => {
    throw journalUnavailable();
  });
  // Somebody took the claim in between: look again, its outcome decides.
  if (taken === 'lost')
    throw retryLater({
      class: 'claim_taken',
      message: 'The send attempt was taken just now.',
      delayMs: 1000,
    });
}

/** Two looks that are not this far apart are one look. */
const BETWEEN_LOOKS_MS = 60_000;
/** The reconciliation as a whole waits no longer. */
const LONGEST_REQUEST_MS = MAX_REQUEST_SECONDS * 1000;

interface Inspection {
  readonly records: TaskRecords;
  readonly journal: CreateJournal;
  readonly key: JournalKey;
  readonly claim: ClaimIntent;
  readonly unconfirmed: UnconfirmedCall;
  readonly onAbsent: 'unconfirmed' | 'resend';
}

/**
 * Looks for the task in the service's own records (failure model: The journal). Found: adopted. Absent: only two looks, at least a
 * minute apart and the second after the service's longest request time, prove anything, and what follows is the policy's.
 */
async function inspectRecords(inspection: Inspection): Promise<CreateVideoAnswer> {
  const { unconfirmed, onAbsent } = inspection;
  const now = Date.now();
  const seen = await look(inspection);
  if (seen.found === 'task') return adoptFound(inspection, seen.taskId, now);
  if (seen.found === 'unknown') return unconfirmed;
  const absentSince = firstAbsence(unconfirmed.sendAttempt) ?? now;
  const proofAt = Math.max(absentSince + BETWEEN_LOOKS_MS, recordsCompleteAt(inspection, absentSince));
  if (now < proofAt) {
    // The next attempt reads it from here, whichever worker makes it.
    heartbeat({ absentSince, sendAttempt: unconfirmed.sendAttempt });
    throw retryLater({
      class: 'waiting_for_records',
      message: 'The records of the service show no such task yet; they are looked at again.',
      delayMs: proofAt - now + 100,
    });
  }
  return onAbsent === 'resend' ? resendAbsent(inspection, now) : unconfirmed;
}

async function look({ records, journal, key, claim, unconfirmed }: Inspection): Promise<TaskRecord> {
  try {
    const seen = await records.find(sentOf(key, claim, unconfirmed));
    if (seen.found !== 'task') return seen.found === 'none' ? seen : { found: 'unknown' };
    if (!isUsableTaskId(seen.taskId)) return { found: 'unknown' };
    // A task that belongs to another key is not this one, whatever the records say.
    const owners = await journal.findTask(seen.taskId);
    return owners.some((owner) => isForeign(owner, key, claim)) ? { found: 'unknown' } : seen;
  } catch {
    return { found: 'unknown' };
  }
}

function sentOf(key: JournalKey, claim: ClaimIntent, { sendAttempt, evidence }: UnconfirmedCall): SentCreate {
  return {
    operation: claim.operation,
    ...factsIn(claim),
    bodyHash: claim.bodyHash,
    idempotencyKey: idempotencyKey(key, sendAttempt),
    intentAt: claim.at,
    sendWindowEnd: evidence.sendWindowEnd ?? claim.sendWindowEnd,
    headers: evidence.headers,
  };
}

/** Of this very send attempt: between two attempts a decision may have led to another one. */
function firstAbsence(of: number): number | undefined {
  const details = activityInfo().heartbeatDetails as
    { absentSince?: unknown; sendAttempt?: unknown } | undefined;
  const { absentSince, sendAttempt = 0 } = details ?? {};
  return typeof absentSince === 'number' && sendAttempt === of ? absentSince : undefined;
}

function recordsCompleteAt({ records, claim, unconfirmed }: Inspection, absentSince: number): number {
  const windowEnd = Date.parse(unconfirmed.evidence.sendWindowEnd ?? claim.sendWindowEnd);
  // Sends under the same key leave no window of their own. The look comes after all of them have started.
  const sentBy = claim.idempotency === undefined ? windowEnd : Math.max(windowEnd, absentSince);
  return sentBy + Math.min(Math.max(0, records.longestRequestMs), LONGEST_REQUEST_MS);
}

async function adoptFound(inspection: Inspection, taskId: string, now: number): Promise<CreateVideoAnswer> {
  const { journal, key, claim, unconfirmed } = inspection;
  const answer = adoptedAnswer(claim, unconfirmed.sendAttempt, taskId, 'unknown');
  const ours = await claimTask(journal, key, claim, answer).catch(() => {
    throw journalUnavailable();
  });
  // Another key with an equal body was faster.
  if (!ours) return unconfirmed;
  const reason = 'found in the task records of the service';
  await decide(inspection, { decision: 'adopt', reason, answer }, now);
  return answer;
}

async function resendAbsent(inspection: Inspection, now: number): Promise<CreateVideoAnswer> {
  const { sendAttempt, account, estimate } = inspection.unconfirmed;
  const reason = 'two looks into the task records of the service found no such task';
  await decide(inspection, { decision: 'resubmit', reason, answer: null }, now);
  return {
    outcome: 'not_sent',
    sendAttempt,
    sent: true,
    account,
    estimate,
    cause: 'absent_from_records',
    sendAttemptUsed: true,
    permanent: false,
    message: 'The task records of the service show that nothing was accepted.',
  };
}

async function decide(
  { journal, key, claim, unconfirmed }: Inspection,
  made: Pick<Resolution, 'decision' | 'reason' | 'answer'>,
  now: number,
): Promise<void> {
  const resolution: Resolution = {
    v: 1,
    decisionId: randomUUID(),
    by: 'task records',
    at: new Date(now).toISOString(),
    ...made,
  };
  await writeResolution(journal, key, { sendAttempt: unconfirmed.sendAttempt, claim, resolution });
}
