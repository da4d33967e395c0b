import { activityInfo, heartbeat } from '@temporalio/activity';
import { throwBug } from '../domain/bug';
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
import { type ResolvedCreatePolicy, resolveCreatePolicy } from '../domain/create-policy';
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
import { isUsableTaskId } from '../domain/task-id';
import { leaveToAnotherWorker } from './another-worker';
import { awaitSender } from './await-sender';
import { retryLater } from './failures';
import { journalUnavailable } from './journal-failures';
import { factsIn } from './intent-of';
import { claimTask, fence, indexCreated, isForeign, openSendAttempt, takeClaim } from './send-attempts';
import { fencedAnswer, unconfirmedAfterIntent, waitingAnswer } from './paid-answers';
import { caller, type Caller, type PaidDeps } from './paid-context';
import { adoptedAnswer, writeResolution } from './resolve-unconfirmed';
import { withSameKey } from './send-same-key';
import { standing } from './sender';
import { recordPlaceholder } from './placeholder-intent';
import { type SentCreate, type TaskRecord, type TaskRecords } from './task-records';

/**
 * The outcome of a sender that may still be alive is checked often, so that it is returned as soon as it is recorded.
 */
const SENDER = {
  message: 'A sender of this send attempt may still be alive; its outcome is awaited.',
  everyMs: 3_000,
};
const OF_ANOTHER_RUN = 'Another run has a record under this key.';

/**
 * Determines the outcome of a create that returned no value (failure model: The journal): the recorded outcome; "not
 * sent", proved by taking the fence; or unconfirmed, once no sender can be alive any more. It reads where the sender
 * was allowed to act: beyond the send attempts that ended in a proven refusal of an earlier run. Sends nothing.
 */
export function createReconcileCreate(
  deps: PaidDeps,
): (input: ReconcileCreateInput) => Promise<CreateVideoAnswer> {
  return async (input) => {
    const { journal } = deps;
    const who = caller(input);
    const { namespace, workflowId, runId } = who;
    const key: JournalKey = { namespace, creationKey: input.creationKey };
    const common = {
      sendAttempt: input.sendAttempt,
      sent: false,
      account: input.account ?? null,
      estimate: null,
    };
    if (journal === 'none') return { ...common, outcome: 'unconfirmed', evidence: evidence('no_journal') };
    // If the queue was rebound to another journal since, this one proves nothing: read the ledger again.
    const here = await standing(deps, true);
    const opened = await openSendAttempt(journal, key, input.sendAttempt, {
      fingerprint: input.fingerprint ?? null,
      workflowId,
      runId,
      now: who.now,
    }).catch((error: unknown) => {
      throw journalUnavailable(error);
    });
    const base = {
      ...common,
      sendAttempt: opened.sendAttempt,
      ...(opened.mayBeOwed && { mayBeOwed: true as const }),
    };
    const isCompared = input.fingerprint !== undefined;
    /**
     * Where only the create itself can compare earlier send attempts with its request, it starts from its first one
     * again.
     */
    const fenced = (at: typeof base): NotSent =>
      at.sendAttempt === input.sendAttempt || isCompared
        ? fencedAnswer(at)
        : { ...fencedAnswer(at), sendAttempt: input.sendAttempt, sendAttemptUsed: false };
    const reported = <Answer extends CreateVideoAnswer>(answer: Answer): Answer => {
      if (answer.outcome === 'unconfirmed')
        deps.events?.lost(input.creationKey, answer, deps.accounts.find(input.account)?.name);
      return answer;
    };
    const changed = async (at: typeof base): Promise<UnconfirmedCall> => {
      const placeholder = await recordPlaceholder(journal, key, who, {
        ...at,
        ...input.facts,
        operation: 'create_video',
        account: at.account ?? '',
        fingerprint: null,
        lastHeartbeat: input.senders.lastHeartbeat,
        cause: here.bound ? causeOfUnproved(input.senders.lastHeartbeat, here.journalId) : 'journal_changed',
      });
      return reported(placeholder);
    };
    /** This journal does not show what the senders may have sent with another journal. */
    const unproved = (at: typeof base): Promise<UnconfirmedCall> => {
      if (!here.bound)
        throw retryLater({ class: 'journal_not_bound', message: here.message, delayMs: 5_000 });
      return changed(at);
    };
    const provesIt = here.bound && provesNotSent(input.senders, { ...here, intents: opened.intents });
    /**
     * Of another run: only the create itself can compare the request, by the fingerprint. A placeholder belongs to
     * every run, because the request of its send is unknown.
     */
    const isForeign = (claim: ClaimIntent | null): boolean =>
      !isCompared && claim?.runId !== runId && !(claim !== null && isPlaceholder(claim));
    /**
     * The create starts from its first send attempt again and compares each with its request, so that nothing is bought
     * twice.
     */
    const foreign = (recorded?: RecordedAnswer): NotSent | Promise<UnconfirmedCall> =>
      provesIt || isPaid(recorded)
        ? waitingAnswer({ ...base, sendAttempt: input.sendAttempt }, RECORDED_BY_ANOTHER_RUN, OF_ANOTHER_RUN)
        : unproved(base);
    switch (opened.do) {
      case 'return': {
        const { claim } = opened;
        if (isForeign(claim)) {
          const { answer } = opened.outcome;
          if (provesIt && isRefusal(answer, Infinity)) await shutOut(journal, key, opened.sendAttempt);
          return foreign(answer);
        }
        const answer = opened.outcome.answer as CreateVideoAnswer;
        if (answer.outcome === 'unconfirmed' && claim !== null)
          return inspected(answer, claim, journal, key, input, who);
        await indexCreated(journal, key, answer, claim);
        return { ...answer, sent: true };
      }
      case 'pending':
        if (isForeign(opened.claim)) {
          if (provesIt) await shutOut(journal, key, opened.sendAttempt);
          return foreign();
        }
        awaitSender(opened.claim, who.serverTime(), SENDER);
        return reported(
          await inspected(
            unconfirmedAfterIntent(opened.claim, opened.sendAttempt),
            opened.claim,
            journal,
            key,
            input,
            who,
          ),
        );
      case 'send': {
        if (!provesIt) return unproved(base);
        await takeFence(journal, key, opened.sendAttempt);
        return fenced(base);
      }
      case 'fenced':
        return provesIt ? fenced(base) : unproved(base);
      case 'conflict':
        return foreign(opened.view.outcome?.answer);
    }
  };

  /** Checks the service's task records, if any, for a call of unknown fate. */
  async function inspected(
    unconfirmed: UnconfirmedCall,
    claim: ClaimIntent,
    journal: CreateJournal,
    key: JournalKey,
    input: ReconcileCreateInput,
    who: Caller,
  ): Promise<CreateVideoAnswer> {
    const records = deps.taskRecords;
    // A placeholder has neither the time nor the body of the send, so that no task record can be matched to it.
    const found =
      records === undefined || isPlaceholder(claim)
        ? { ...unconfirmed, sent: true }
        : await inspectRecords({
            records,
            journal,
            key,
            claim,
            unconfirmed,
            onAbsent: () => onAbsentOf(claim, input),
            now: who.serverTime(),
          });
    return found.outcome === 'unconfirmed' ? withSameKey(found, claim, who.now()) : found;
  }

  /** What the absence of a record proves is for the account to say: a worker without it must not send again. */
  function onAbsentOf(claim: ClaimIntent, input: ReconcileCreateInput): ResolvedCreatePolicy['onAbsent'] {
    const account = deps.accounts.find(claim.account);
    if (account !== undefined) return resolveCreatePolicy(deps.policy, account.policy, input.policy).onAbsent;
    leaveToAnotherWorker();
    return 'unconfirmed';
  }
}

/**
 * The create that returned no value may still continue later, and its run may have received the refusal of another run
 * by then and go past it. A fence is put where it would send.
 */
async function shutOut(journal: CreateJournal, key: JournalKey, sendAttempt: number): Promise<void> {
  for (let next = sendAttempt + 1; ; next++) {
    const { claim } = await journal.read(key, next).catch((error: unknown) => {
      throw journalUnavailable(error);
    });
    // An intent of another sender stops it or lets it pass; the fence is at the first send attempt where it could send.
    if (claim?.kind === 'intent') continue;
    return claim === null ? takeFence(journal, key, next) : undefined;
  }
}

async function takeFence(journal: CreateJournal, key: JournalKey, sendAttempt: number): Promise<void> {
  const taken = await takeClaim(journal, key, sendAttempt, fence()).catch((error: unknown) => {
    throw journalUnavailable(error);
  });
  // Another sender took the claim meanwhile: read again, its outcome decides.
  if (taken === 'lost')
    throw retryLater({
      class: 'claim_taken',
      message: 'The send attempt was taken just now.',
      delayMs: 1000,
    });
}

/** Least time between two queries that prove an absence. */
const BETWEEN_LOOKS_MS = 60_000;
/** The reconciliation waits no longer than this. */
const LONGEST_REQUEST_MS = MAX_REQUEST_SECONDS * 1000;

interface Inspection {
  readonly records: TaskRecords;
  readonly journal: CreateJournal;
  readonly key: JournalKey;
  readonly claim: ClaimIntent;
  readonly unconfirmed: UnconfirmedCall;
  /** What two looks that find nothing mean to the account. */
  readonly onAbsent: () => 'unconfirmed' | 'resend';
  /** The server's time, in milliseconds since the Unix epoch. */
  readonly now: number;
}

/**
 * Searches the service's own records for the task (failure model: The journal). A found task is adopted. Absence is
 * proved only by two queries, at least a minute apart and the second after the service's longest request time; the
 * policy then decides what follows.
 */
async function inspectRecords(inspection: Inspection): Promise<CreateVideoAnswer> {
  const { unconfirmed, onAbsent, now } = inspection;
  const seen = await look(inspection);
  if (seen.found === 'task') return adoptFound(inspection, seen.taskId);
  if (seen.found === 'unknown') return unconfirmed;
  const absentSince = firstAbsence(unconfirmed.sendAttempt) ?? now;
  const proofAt = Math.max(absentSince + BETWEEN_LOOKS_MS, recordsCompleteAt(inspection, absentSince));
  if (now < proofAt) {
    // The next attempt reads it from the heartbeat, on any worker.
    heartbeat({ absentSince, sendAttempt: unconfirmed.sendAttempt });
    throw retryLater({
      class: 'waiting_for_records',
      message: 'The records of the service show no such task yet; they are read again.',
      delayMs: proofAt - now + 100,
    });
  }
  return onAbsent() === 'resend' ? resendAbsent(inspection) : unconfirmed;
}

async function look({ records, journal, key, claim, unconfirmed }: Inspection): Promise<TaskRecord> {
  try {
    const seen = await records.find(sentOf(claim, unconfirmed));
    if (seen.found !== 'task') return seen.found === 'none' ? seen : { found: 'unknown' };
    if (!isUsableTaskId(seen.taskId)) return { found: 'unknown' };
    // A task that belongs to another key is not this one, even if the records say so.
    const owners = await journal.findTask(seen.taskId);
    return owners.some((owner) => isForeign(owner, key, claim)) ? { found: 'unknown' } : seen;
  } catch (error) {
    throwBug(error);
    return { found: 'unknown' };
  }
}

function sentOf(claim: ClaimIntent, { evidence }: UnconfirmedCall): SentCreate {
  return {
    operation: claim.operation,
    ...factsIn(claim),
    bodyHash: claim.bodyHash,
    idempotencyKey: claim.idempotencyKey,
    intentAt: claim.at,
    sendWindowEnd: evidence.sendWindowEnd ?? claim.sendWindowEnd,
    headers: evidence.headers,
  };
}

/** First absence in this send attempt: a decision between two attempts may have led to another one. */
function firstAbsence(of: number): number | undefined {
  const details = activityInfo().heartbeatDetails as
    | { absentSince?: unknown; sendAttempt?: unknown }
    | undefined;
  const { absentSince, sendAttempt = 0 } = details ?? {};
  return typeof absentSince === 'number' && sendAttempt === of ? absentSince : undefined;
}

function recordsCompleteAt({ records, claim, unconfirmed }: Inspection, absentSince: number): number {
  const windowEnd = Date.parse(unconfirmed.evidence.sendWindowEnd ?? claim.sendWindowEnd);
  // The first query comes after all sends have started; the clock of a sender may have been slow.
  const sentBy = Math.max(windowEnd, absentSince);
  return sentBy + Math.min(Math.max(0, records.longestRequestMs), LONGEST_REQUEST_MS);
}

async function adoptFound(inspection: Inspection, taskId: string): Promise<CreateVideoAnswer> {
  const { journal, key, claim, unconfirmed } = inspection;
  const answer = adoptedAnswer(claim, unconfirmed.sendAttempt, taskId, 'unknown');
  const ours = await claimTask(journal, key, claim, answer).catch((error: unknown) => {
    throw journalUnavailable(error);
  });
  // Another key with an equal body has adopted it first.
  if (!ours) return unconfirmed;
  const reason = 'found in the task records of the service';
  await decide(inspection, { decision: 'adopt', reason, answer });
  return answer;
}

async function resendAbsent(inspection: Inspection): Promise<CreateVideoAnswer> {
  const { sendAttempt, account, estimate } = inspection.unconfirmed;
  const reason = 'two looks into the task records of the service found no such task';
  await decide(inspection, { decision: 'resubmit', reason, answer: null });
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
): Promise<void> {
  const resolution: Resolution = {
    v: 1,
    by: 'task records',
    at: new Date().toISOString(),
    ...made,
  };
  await writeResolution(journal, key, { sendAttempt: unconfirmed.sendAttempt, claim, resolution });
}
