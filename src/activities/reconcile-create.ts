import { activityInfo, heartbeat } from '@temporalio/activity';
import { throwBug } from '../domain/bug';
import { type CreatePolicy, resolveCreatePolicy, type ResolvedCreatePolicy } from '../domain/create-policy';
import { type BindingStatus, keepsNothing } from '../domain/journal';
import {
  type DecisionEntry,
  type IntentEntry,
  isNamed,
  isOpenAnswer,
  type JournalKey,
  purchaseOf,
  type Send,
} from '../domain/log-entries';
import { RECORDED_BY_ANOTHER_RUN } from '../domain/names';
import {
  type CreateVideoAnswer,
  evidence,
  type ReconcileCreateInput,
  type UnconfirmedCall,
} from '../domain/paid-call';
import { decide, indexOfSend, type Licence, answeringSend } from '../domain/paid-log';
import { MAX_REQUEST_SECONDS } from '../domain/timeouts';
import { isUsableTaskId } from '../domain/video-task';
import { retryLater, retryOnAnotherWorker } from './failures';
import { fenceOf, sentBy } from './intent';
import {
  afterSender,
  appendOrRetry,
  claimTask,
  indexCreated,
  isForeign,
  type KeyLog,
  openLog,
  orRetry,
  recordDecision,
  recordOrRetry,
} from './key-log';
import {
  adoptedAnswer,
  type AnswerBase,
  factsIn,
  fencedAnswer,
  nextSend,
  recordedAnswer,
  unreadBase,
  unsentAnswer,
} from './paid-answers';
import {
  caller,
  type Caller,
  type PaidDeps,
  type SentCreate,
  type TaskRecord,
  type TaskRecords,
} from './paid-context';
import { mayBeAlive } from './send-window';
import {
  isDecided,
  isOnlyUnknown,
  isUnseen,
  mayHaveUsedAnother,
  recordLostSend,
  withSameKey,
} from './unknown-sends';

/** Minimum time between the two queries that prove absence. */
const BETWEEN_QUERIES_MS = 60_000;
/** Maximum time that reconciliation waits for one request. */
const LONGEST_REQUEST_MS = MAX_REQUEST_SECONDS * 1000;

/** A send whose outcome is unknown according to the log. */
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

/** Checks the service's task records, if there are any, for a call with an unknown outcome. */
async function inspected(unknown: UnknownSend): Promise<CreateVideoAnswer> {
  const { deps, log, intent, unconfirmed, who } = unknown;
  const { taskRecords: records } = deps;
  const found = records === undefined ? unconfirmed : await inspectRecords({ ...unknown, records });
  return found.outcome === 'unconfirmed' && isOnlyUnknown(log.state, found.sendAttempt)
    ? withSameKey(found, intent, who.now())
    : found;
}

/**
 * Searches the service's own records for the task (failure model: The log). A task that is found is adopted. Absence is
 * proven only by two queries at least a minute apart, the second of which must run after the service's longest request
 * time. The policy then decides what to do.
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
    // The next attempt reads this from the heartbeat, on any worker.
    heartbeat({ absentSince, sendAttempt: unconfirmed.sendAttempt });
    throw retryLater({
      class: 'waiting_for_records',
      message: "The service's records do not show this task yet. They will be read again.",
      delayMs: proofAt - now + 100,
    });
  }
  return onAbsent(inspection) === 'resend' ? resendAbsent(inspection) : unconfirmed;
}

/** The account's policy decides what a missing record proves, so a worker without the account must not send again. */
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
    // A task that belongs to another key is not this call's task, even if the records name it.
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

/**
 * Returns the time at which this exact send was first found to be absent. A decision between two attempts may have led
 * to another send.
 */
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
  // The first query runs after all possible sends. A sender's clock may be slow.
  const sentBy = Math.max(windowEnd, absentSince);
  return sentBy + Math.min(Math.max(0, records.longestRequestMs), LONGEST_REQUEST_MS);
}

async function adoptFound(inspection: Inspection, taskId: string): Promise<CreateVideoAnswer> {
  const { deps, log, intent, unconfirmed } = inspection;
  const answer = adoptedAnswer(intent, unconfirmed.sendAttempt, taskId, 'unknown');
  // Another key whose request has the same body has already adopted this task.
  if (!(await claimTask(deps.journal, log.key, intent, answer))) return unconfirmed;
  const reason = "found in the service's task records";
  await decideByRecords(inspection, { decision: 'adopt', reason, answer });
  return answer;
}

async function resendAbsent(inspection: Inspection): Promise<CreateVideoAnswer> {
  const { sendAttempt, account, estimate } = inspection.unconfirmed;
  const reason = "two searches of the service's task records did not find this task";
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
    message: "The service's task records show that nothing was accepted.",
  };
}

async function decideByRecords(
  { deps, log, intent, who }: Inspection,
  made: Pick<DecisionEntry, 'decision' | 'reason' | 'answer'>,
): Promise<void> {
  const decision = { about: intent.nonce, by: 'task records', ...made };
  await recordDecision(deps.journal, log, decision, who.serverTime());
}

/**
 * The log is checked often while a sender may still be running, so that the sender's answer is returned as soon as it
 * is recorded.
 */
const SENDER = {
  message: 'A sender for this call may still be running. Waiting for its outcome.',
  everyMs: 3_000,
};
const OF_ANOTHER_RUN = 'Another run has a record under this key.';
const DECIDED = 'A person has decided about the unconfirmed send. The call follows that decision.';

/** A create activity that returned no answer, with the log of its key. */
interface Unanswered {
  readonly deps: PaidDeps;
  readonly input: ReconcileCreateInput;
  readonly who: Caller;
  readonly binding: Extract<BindingStatus, { bound: true }>;
  readonly log: KeyLog;
  readonly base: AnswerBase;
}

/**
 * Determines the outcome of a create that returned no value (failure model: The log). The result is the recorded
 * outcome; or "not sent", proven by a fence that permanently excludes the sender; or "unconfirmed", once no sender can
 * still be running. Sends nothing.
 */
export function createReconcileCreate(
  deps: PaidDeps,
): (input: ReconcileCreateInput) => Promise<CreateVideoAnswer> {
  return async (input) => {
    const { journal } = deps;
    const { creationKey, account, trace, unrecorded } = input;
    const named = unreadBase(account);
    if (keepsNothing(journal)) return { ...named, outcome: 'unconfirmed', evidence: evidence('no_journal') };
    const who = { ...caller(input), sender: trace.sender };
    // If the queue has since been rebound to another journal, this journal proves nothing, so the binding is read
    // again.
    const binding = await deps.checkBinding({ fresh: true });
    if (!binding.bound)
      throw retryLater({ class: 'journal_not_bound', message: binding.message, delayMs: 5_000 });
    const key: JournalKey = { namespace: who.namespace, creationKey };
    const read = await openLog(journal, key).catch(orRetry);
    const isMissing = unrecorded !== undefined && isOpen(read, unrecorded.nonce);
    const withUnrecorded = isMissing
      ? await recordOrRetry(journal, read, unrecorded.nonce, unrecorded.answer)
      : read;
    const call = { deps, input, who, binding };
    const log = await withTaskOfHeartbeat({ ...call, log: withUnrecorded });
    const base = { ...named, ...nextSend(log.state) };
    const answer = await answerOf({ ...call, log, base });
    if (answer.outcome === 'unconfirmed')
      deps.events?.lost(creationKey, answer, deps.accounts.find(account)?.name);
    return answer;
  };
}

function isOpen({ state: { sends, open } }: KeyLog, nonce: string): boolean {
  return open !== null && sends[open]?.sent.nonce === nonce;
}

async function answerOf(call: Unanswered): Promise<CreateVideoAnswer> {
  const { log, input, who } = call;
  const { sends, bought } = log.state;
  const own = sends.findLastIndex(({ sent }) => sent.sender === who.sender);
  if (bought === null && isUnseen(log, input.trace)) return unseen(call);
  if (own !== -1) return ofOwnSend(call, own);
  const { runId, sender } = who;
  const fingerprint = input.fingerprint ?? null;
  const licence = decide(log.state, { sender, runId, fingerprint, attemptAt: who.attemptAt, now: who.now() });
  return 'at' in licence ? ofAnotherSend(call, licence) : notSent(call);
}

/** Returns the outcome of one of this activity's own sends. Only the send's own answer may say "not sent". */
async function ofOwnSend(call: Unanswered, at: number): Promise<CreateVideoAnswer> {
  const { log, base, who, deps } = call;
  const { sends, open, bought } = log.state;
  const { sent, decision } = sends[at] as Send;
  // What a corrected request bought is not the result of the request that was refused. If the log does not contain this
  // activity's request, only a create can compare the two.
  if (bought !== null && (sent.fingerprint !== null || bought === at || isCompared(call, bought)))
    return recorded(call, answeringSend(log.state, at));
  if (open === at) {
    // Another request may have bought something in the meantime.
    return answerOf({ ...call, log: await afterSender(deps.journal, log, who.serverTime(), SENDER) });
  }
  // A decision allowed another send: the key is free, or another send has it.
  return decision?.decision === 'resubmit' ? unsentAnswer(base, 'decided', DECIDED) : recorded(call, at);
}

/** Handles a key that belongs to another sender: this activity did not send, and never will. */
async function ofAnotherSend(
  call: Unanswered,
  { do: verdict, at }: Extract<Licence, { at: number }>,
): Promise<CreateVideoAnswer> {
  const { deps, log, input, who, base, binding } = call;
  const send = log.state.sends[at] as Send;
  const isSame = isCompared(call, at);
  const now = who.serverTime();
  // A refusal frees the key for others. No comparison is needed to give up on a sender that can no longer be running.
  if (verdict === 'pending' && (isSame || !mayBeAlive(log.state, now)))
    return answerOf({ ...call, log: await afterSender(deps.journal, log, now, SENDER) });
  if (verdict === 'return' && isSame) return log.state.refused === at ? notSent(call) : recorded(call, at);
  // Only a create can compare the two requests, so another create activity makes the call again.
  if (purchaseOf(send) === undefined && mayHaveUsedAnother(input.trace.scheduledAt, binding.boundSince))
    return unseen(call);
  await fenceOff(call);
  return unsentAnswer(base, RECORDED_BY_ANOTHER_RUN, OF_ANOTHER_RUN);
}

/** Whether the request is known to match a send's request, or cannot be shown to differ from it. */
function isCompared({ input, log, who }: Unanswered, at: number): boolean {
  const { sent } = log.state.sends[at] as Send;
  return input.fingerprint !== undefined || sent.runId === who.runId || sent.kind === 'lost';
}

/**
 * Handles a log without a send from this activity. A fence proves that none will follow, unless another journal may
 * contain one.
 */
async function notSent(call: Unanswered): Promise<CreateVideoAnswer> {
  const { input, binding, base } = call;
  if (mayHaveUsedAnother(input.trace.scheduledAt, binding.boundSince)) return unseen(call);
  await fenceOff(call);
  return fencedAnswer(base);
}

async function fenceOff({ deps, log, who }: Unanswered): Promise<void> {
  if (!log.state.fenced.includes(who.sender)) await appendOrRetry(deps.journal, log, fenceOf(who));
}

/** Handles a send that this journal does not show, because the activity may have made it with another journal. */
async function unseen(call: Unanswered): Promise<CreateVideoAnswer> {
  if (isDecided(call.log, call.input.trace)) return unsentAnswer(call.base, 'decided', DECIDED);
  return (await noted(call)).answer as CreateVideoAnswer;
}

function noted({ deps, log, input, who }: Omit<Unanswered, 'base'>): ReturnType<typeof recordLostSend> {
  const { trace, facts, account } = input;
  const { sender, announced } = trace;
  const known = { operation: 'create_video', ...facts, account: account ?? '', fingerprint: null } as const;
  return recordLostSend(deps.journal, log, { ...sentBy(who), ...known, sender, announced });
}

/**
 * Returns the log, including the task named by the last heartbeat. The task ID proves that the reply was read. The
 * sender either could not record the ID or will record the same one, so there is no need to wait for the sender.
 */
async function withTaskOfHeartbeat(call: Omit<Unanswered, 'base'>): Promise<KeyLog> {
  const { deps, input, log: read } = call;
  const { announced, taskId } = input.trace;
  if (announced === null || !isUsableTaskId(taskId)) return read;
  const isMissing = indexOfSend(read.state, announced) === -1 && isUnseen(read, input.trace);
  const log = isMissing ? (await noted(call)).log : read;
  const at = indexOfSend(log.state, announced);
  const send = log.state.sends[at];
  if (send === undefined || purchaseOf(send) !== undefined) return log;
  const { sent, answer: known } = send;
  // A purchase takes effect even after a decision.
  if (known !== null && !isOpenAnswer(known.answer)) return log;
  // The entry for a lost intent might not contain its account.
  const account =
    sent.kind === 'intent' ? sent.account : deps.accounts.find(sent.account || input.account)?.name;
  if (account === undefined) return log;
  const own = { ...sent, account };
  const answer = { ...adoptedAnswer(own, at, taskId, 'unknown'), warnings: [FROM_HEARTBEAT] };
  if (!(await claimTask(deps.journal, log.key, own, answer))) return log;
  return recordOrRetry(deps.journal, log, announced, answer);
}

const FROM_HEARTBEAT =
  "The task was identified from its create's last heartbeat: the worker that read the reply did not record it.";

/** Returns a send's recorded answer. If its outcome is unknown, checks the service's task records, if there are any. */
async function recorded(call: Unanswered, at: number): Promise<CreateVideoAnswer> {
  const { deps, log, input, who } = call;
  // A prune must know which workflows rely on another workflow's send.
  if (!isNamed(log.entries, who))
    return answerOf({ ...call, log: await appendOrRetry(deps.journal, log, fenceOf(who)) });
  const { sent } = log.state.sends[at] as Send;
  const answer = { ...(recordedAnswer(log.state, at, who.now()) as CreateVideoAnswer), sent: true };
  await indexCreated(deps.journal, log.key, answer, sent);
  if (answer.outcome !== 'unconfirmed' || sent.kind === 'lost') return answer;
  return inspected({ deps, log, intent: sent, unconfirmed: answer, policy: input.policy, who });
}
