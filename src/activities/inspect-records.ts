import { activityInfo, heartbeat } from '@temporalio/activity';
import { throwBug } from '../domain/bug';
import { type CreatePolicy, type ResolvedCreatePolicy, resolveCreatePolicy } from '../domain/create-policy';
import { type DecisionEntry, type IntentEntry } from '../domain/log-entries';
import { type CreateVideoAnswer, type UnconfirmedCall } from '../domain/paid-call';
import { isUsableTaskId } from '../domain/task-id';
import { MAX_REQUEST_SECONDS } from '../domain/timeouts';
import { retryOnAnotherWorker } from './account-unavailable';
import { retryLater } from './failures';
import { claimTask, isForeign, type KeyLog, recordDecision } from './key-log';
import { type Caller, type PaidDeps } from './paid-context';
import { adoptedAnswer, factsIn } from './paid-answers';
import { isOnlyUnknown, withSameKey } from './send-same-key';
import { type SentCreate, type TaskRecord, type TaskRecords } from './task-records';

/** Least time between two queries that prove an absence. */
const BETWEEN_QUERIES_MS = 60_000;
/** The reconciliation waits no longer than this. */
const LONGEST_REQUEST_MS = MAX_REQUEST_SECONDS * 1000;

/** A send that the log calls unknown. */
interface UnknownSend {
  readonly deps: PaidDeps;
  readonly log: KeyLog;
  readonly intent: IntentEntry;
  readonly unconfirmed: UnconfirmedCall;
  readonly policy: CreatePolicy | undefined;
  readonly who: Caller;
}

interface Inspection extends UnknownSend {
  readonly records: TaskRecords;
}

/** Checks the service's task records, if any, for a call of unknown fate. */
export async function inspected(unknown: UnknownSend): Promise<CreateVideoAnswer> {
  const { deps, log, intent, unconfirmed, who } = unknown;
  const { taskRecords: records } = deps;
  const found = records === undefined ? unconfirmed : await inspectRecords({ ...unknown, records });
  return found.outcome === 'unconfirmed' && isOnlyUnknown(log.state, found.sendAttempt)
    ? withSameKey(found, intent, who.now())
    : found;
}

/**
 * Searches the service's own records for the task (failure model: The log). A found task is adopted. Absence is proved
 * only by two queries, at least a minute apart and the second after the service's longest request time; the policy then
 * decides what follows.
 */
async function inspectRecords(inspection: Inspection): Promise<CreateVideoAnswer> {
  const { unconfirmed, who } = inspection;
  const seen = await queryRecords(inspection);
  if (seen.found === 'task') return adoptFound(inspection, seen.taskId);
  if (seen.found === 'unknown') return unconfirmed;
  const now = who.serverTime();
  const absentSince = firstAbsence(unconfirmed.sendAttempt) ?? now;
  const proofAt = Math.max(absentSince + BETWEEN_QUERIES_MS, recordsCompleteAt(inspection, absentSince));
  if (now < proofAt) {
    // The next attempt reads it from the heartbeat, on any worker.
    heartbeat({ absentSince, sendAttempt: unconfirmed.sendAttempt });
    throw retryLater({
      class: 'waiting_for_records',
      message: 'The records of the service show no such task yet; they are read again.',
      delayMs: proofAt - now + 100,
    });
  }
  return onAbsent(inspection) === 'resend' ? resendAbsent(inspection) : unconfirmed;
}

/** What the absence of a record proves is for the account to say: a worker without it must not send again. */
function onAbsent({ deps, intent, policy }: Inspection): ResolvedCreatePolicy['onAbsent'] {
  const account = deps.accounts.find(intent.account);
  if (account !== undefined) return resolveCreatePolicy(deps.policy, account.policy, policy).onAbsent;
  retryOnAnotherWorker();
  return 'unconfirmed';
}

async function queryRecords({ records, deps, log, intent, unconfirmed }: Inspection): Promise<TaskRecord> {
  try {
    const seen = await records.find(sentCreate(intent, unconfirmed));
    if (seen.found !== 'task') return seen.found === 'none' ? seen : { found: 'unknown' };
    if (!isUsableTaskId(seen.taskId)) return { found: 'unknown' };
    // A task that belongs to another key is not this one, even if the records say so.
    const owners = await deps.journal.findTask(seen.taskId);
    return owners.some((owner) => isForeign(owner, log.key, intent)) ? { found: 'unknown' } : seen;
  } catch (error) {
    throwBug(error);
    return { found: 'unknown' };
  }
}

function sentCreate(intent: IntentEntry, { evidence }: UnconfirmedCall): SentCreate {
  const { operation, bodyHash, idempotencyKey, at: intentAt } = intent;
  const sendWindowEnd = evidence.sendWindowEnd ?? intent.sendWindowEnd;
  const { headers } = evidence;
  return { operation, ...factsIn(intent), bodyHash, idempotencyKey, intentAt, sendWindowEnd, headers };
}

/** First absence of this send: a decision between two attempts may have led to another one. */
function firstAbsence(of: number): number | undefined {
  const details = activityInfo().heartbeatDetails as
    | { absentSince?: unknown; sendAttempt?: unknown }
    | undefined;
  const { absentSince, sendAttempt = 0 } = details ?? {};
  return typeof absentSince === 'number' && sendAttempt === of ? absentSince : undefined;
}

function recordsCompleteAt({ records, log, intent, unconfirmed }: Inspection, absentSince: number): number {
  const { repeatedUntil } = log.state.sends[unconfirmed.sendAttempt]?.answer ?? {};
  const windowEnd = Date.parse(repeatedUntil ?? unconfirmed.evidence.sendWindowEnd ?? intent.sendWindowEnd);
  // The first query comes after all sends have started; the clock of a sender may have been slow.
  const sentBy = Math.max(windowEnd, absentSince);
  return sentBy + Math.min(Math.max(0, records.longestRequestMs), LONGEST_REQUEST_MS);
}

async function adoptFound(inspection: Inspection, taskId: string): Promise<CreateVideoAnswer> {
  const { deps, log, intent, unconfirmed } = inspection;
  const answer = adoptedAnswer(intent, unconfirmed.sendAttempt, taskId, 'unknown');
  // Another key with an equal body has adopted it first.
  if (!(await claimTask(deps.journal, log.key, intent, answer))) return unconfirmed;
  const reason = 'found in the task records of the service';
  await decideByRecords(inspection, { decision: 'adopt', reason, answer });
  return answer;
}

async function resendAbsent(inspection: Inspection): Promise<CreateVideoAnswer> {
  const { sendAttempt, account, estimate } = inspection.unconfirmed;
  const reason = 'two looks into the task records of the service found no such task';
  await decideByRecords(inspection, { decision: 'resubmit', reason, answer: null });
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

async function decideByRecords(
  { deps, log, intent, who }: Inspection,
  made: Pick<DecisionEntry, 'decision' | 'reason' | 'answer'>,
): Promise<void> {
  const decision = { about: intent.nonce, by: 'task records', ...made };
  await recordDecision(deps.journal, log, decision, who.serverTime());
}
