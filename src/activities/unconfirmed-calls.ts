import { ApplicationFailure } from '@temporalio/common';
import { type CreateJournal, keepsNothing } from '../domain/journal';
import {
  billedFor,
  type DecisionEntry,
  type JournalKey,
  type LogEntry,
  purchaseOf,
  type Send,
} from '../domain/log-entries';
import { type VideoModel } from '../domain/model-config';
import { type CreatedVideo, type CreateVideoAnswer, type RejectedCall } from '../domain/paid-call';
import { isUnknown, type KeyState, stateOf } from '../domain/paid-log';
import {
  type CreatedEntry,
  type DecidedEntry,
  decisionIssue,
  type ResolveUnconfirmedCall,
  type ResolveUnconfirmedResult,
  type ReviewJournalInput,
  type ReviewJournalPage,
  type DecisionInForce,
  type UnconfirmedEntry,
  type UnresolvedReason,
} from '../domain/unconfirmed-decision';
import { isUsableTaskId } from '../domain/video-task';
import { JournalRecordError } from '../stores/journal/records';
import { clearOf, FAILURE, redactorsOf, retryOnAnotherWorker } from './failures';
import {
  afterSender,
  claimTask,
  followDecision,
  isForeign,
  type KeyLog,
  openLog,
  orRetry,
  recordDecision,
} from './key-log';
import { adoptedAnswer, recordedAnswer, rejectedAnswer, unconfirmedBySend } from './paid-answers';
import { caller, type PaidDeps } from './paid-context';
import { mayBeAlive } from './send-window';

/** Creation keys per scan of the journal. The activity may stop between two scans. */
const BATCH = 100;
/** A page ends after this many entries or this much time. */
const PAGE_ENTRIES = 200;
const PAGE_MS = 15_000;

/** Lists one page of the unconfirmed calls, tasks or decisions in the caller's namespace. Changes nothing. */
export function createReviewJournal(deps: {
  readonly journal: CreateJournal;
}): (input: ReviewJournalInput) => Promise<ReviewJournalPage> {
  return async (input) => {
    const { journal } = deps;
    const { namespace, startedAt, now } = caller();
    const unconfirmed: UnconfirmedEntry[] = [];
    const created: CreatedEntry[] = [];
    const decided: DecidedEntry[] = [];
    let scanned = 0;
    const take = (log: readonly LogEntry[]): void => {
      scanned += 1;
      const state = stateOf(log);
      const isMeant = ({ sent }: Send): boolean =>
        sent.namespace === namespace &&
        !(input.since !== undefined && Date.parse(sent.at) < Date.parse(input.since)) &&
        (input.creationKey === undefined || sent.creationKey === input.creationKey);
      for (const [at, send] of state.sends.entries()) {
        if (!isMeant(send)) continue;
        if (input.list === 'unconfirmed') unconfirmed.push(...unconfirmedEntry(state, at, now()));
        else if (input.list === 'decided') decided.push(...decidedEntry(send, at));
        else created.push(...createdEntry(send, at));
      }
    };
    try {
      if (input.creationKey !== undefined) {
        const log = await journal.read({ namespace, creationKey: input.creationKey });
        if (log.length > 0) take(log);
        return { unconfirmed, created, decided, scanned, next: null };
      }
      let next = input.after ?? null;
      do {
        const page = await journal.scan(next, BATCH);
        for (const log of page.logs) take(log);
        ({ next } = page);
      } while (
        next !== null &&
        unconfirmed.length + created.length + decided.length < PAGE_ENTRIES &&
        performance.now() < startedAt + PAGE_MS
      );
      return { unconfirmed, created, decided, scanned, next };
    } catch (error) {
      // A retry cannot read an unreadable record either, so the failure is final and names the kind of record.
      if (error instanceof JournalRecordError)
        throw ApplicationFailure.nonRetryable(error.message, FAILURE.journalUnavailable);
      return orRetry(error);
    }
  };
}

/** Returns an entry if this send waits for a decision or may be in flight. */
function unconfirmedEntry(state: KeyState, at: number, now: number): readonly UnconfirmedEntry[] {
  const send = state.sends[at] as Send;
  if (!isUnknown(send) && state.open !== at) return [];
  const { sent } = send;
  const answer = recordedAnswer(state, at);
  const isLost = answer.outcome === 'results_lost';
  const { evidence } =
    answer.outcome === 'unconfirmed' ? answer : unconfirmedBySend(send, at, answer.outcome);
  const { creationKey, operation, workflowId, runId } = sent;
  return [
    {
      creationKey,
      sendAttempt: at,
      operation,
      state: isLost
        ? 'results_lost'
        : isUnknown(send) || !mayBeAlive(state, now)
          ? 'unconfirmed'
          : 'in_flight',
      evidence,
      estimate: sent.kind === 'intent' ? sent.estimate : null,
      actual: billedFor(send),
      workflowId,
      runId,
      fetchable: isLost && answer.sealedLinks !== undefined,
    },
  ];
}

/** Returns the entry for a task that this send created, including an adopted one. */
function createdEntry(send: Send, sendAttempt: number): readonly CreatedEntry[] {
  const answer = purchaseOf(send);
  if (answer?.outcome !== 'created') return [];
  const { taskId, account, model, createdAt } = answer.video;
  const { creationKey, workflowId, runId, activityId } = send.sent;
  return [{ creationKey, sendAttempt, taskId, account, model, createdAt, workflowId, runId, activityId }];
}

function decidedEntry({ sent, decision }: Send, sendAttempt: number): readonly DecidedEntry[] {
  if (decision === null) return [];
  const { by, reason, at, answer } = decision;
  const taskId = answer?.outcome === 'created' ? answer.video.taskId : null;
  const { creationKey, nonce: sendId } = sent;
  return [{ creationKey, sendAttempt, sendId, decision: decision.decision, by, reason, at, taskId }];
}

/**
 * Records a person's decision about an unconfirmed paid call in the journal (failure model: The log). Makes no paid
 * request: an adoption reads the task's record from the service once, and a resubmission only frees the key for the
 * next start with the same ID. A decision authorizes only one send, even if it is repeated.
 */
export function createResolveUnconfirmed(
  deps: PaidDeps,
): (input: ResolveUnconfirmedCall) => Promise<ResolveUnconfirmedResult> {
  return async (input) => {
    const { creationKey } = input;
    const words = await said(input, deps);
    const done = await decided({ ...input, ...words }, deps);
    if ('resolved' in done) return { ...done, creationKey };
    const { sendAttempt, answer } = done;
    const { decision } = input;
    return { resolved: true, decision, creationKey, sendAttempt, answer, message: MESSAGES[decision] };
  };
}

/** The reason a decision is not applied. */
type Refusal = Omit<Extract<ResolveUnconfirmedResult, { resolved: false }>, 'creationKey'>;

function refused(
  reason: UnresolvedReason,
  message: string,
  answer: CreateVideoAnswer | null = null,
  earlier?: DecisionInForce,
): Refusal {
  return { resolved: false, reason, answer, ...(earlier !== undefined && { stands: earlier }), message };
}

interface Done {
  readonly sendAttempt: number;
  readonly answer: CreateVideoAnswer | null;
}

async function decided(call: ResolveUnconfirmedCall, deps: PaidDeps): Promise<Done | Refusal> {
  const issue = decisionIssue(call);
  if (issue !== undefined) return refused('invalid_decision', issue);
  const { journal } = deps;
  if (keepsNothing(journal))
    return refused('no_journal', 'This worker has no journal to record a decision in.');
  const who = caller();
  const key: JournalKey = { namespace: who.namespace, creationKey: call.creationKey };
  const log = await openLog(journal, key).catch(orRetry);
  const found = findNamed(log, call);
  if ('resolved' in found) return found;
  const { at, repeated } = found;
  if (repeated !== undefined) {
    // An attempt may have died right after it wrote the entry, so the remaining steps are repeated.
    await followDecision(journal, log, repeated);
    return { sendAttempt: at, answer: videoAnswer(repeated) };
  }
  const isOpen = log.state.open === at;
  const closed = isOpen ? await afterSender(journal, log, who.serverTime(), SENDER) : log;
  const send = closed.state.sends[at] as Send;
  if (!isUnknown(send)) return refused('already_known', KNOWN);
  const made = await answerOf(call, { send, at, key }, deps);
  if (made !== null && 'resolved' in made) return made;
  const { decision, by, reason } = call;
  const about = send.sent.nonce;
  await recordDecision(journal, closed, { about, decision, by, reason, answer: made }, who.serverTime());
  return { sendAttempt: at, answer: made };
}

/**
 * Returns the named send if it waits for a decision, or if this exact decision is already recorded. Otherwise returns
 * the reason for refusing.
 */
function findNamed(
  { state }: KeyLog,
  call: ResolveUnconfirmedCall,
): { readonly at: number; readonly repeated?: DecisionEntry } | Refusal {
  const { sends, bought } = state;
  const isNamed = ({ sent }: Send) => sent.nonce === call.sendId;
  const isWaiting = (send: Send, at: number) => isUnknown(send) || state.open === at;
  const at = sends.findIndex((send, index) => isNamed(send) && isWaiting(send, index));
  if (at !== -1) return { at };
  // A late reply is more certain than an earlier decision.
  const reply = bought === null ? undefined : sends[bought]?.answer?.answer;
  if (bought !== null && reply?.outcome === 'created')
    return refused('already_known', KNOWN, recordedAnswer(state, bought) as CreateVideoAnswer);
  const named = decisionIn(sends, isNamed);
  if (named !== undefined && isRepeated(named.decision, call))
    return { at: named.at, repeated: named.decision };
  if (named === undefined && sends.some(isWaiting)) return refused('already_decided', ANOTHER);
  const earlier = named ?? decisionIn(sends, () => true);
  return earlier === undefined ? refused('nothing_unconfirmed', NOTHING) : decidedBefore(earlier);
}

interface Decided {
  readonly at: number;
  readonly decision: DecisionEntry;
}

/**
 * Finds the newest decision about one of these sends. Images that were fetched later do not count as a person's
 * decision.
 */
function decisionIn(sends: readonly Send[], isMeant: (send: Send) => boolean): Decided | undefined {
  const at = sends.findLastIndex(
    (send) => isMeant(send) && send.decision !== null && send.decision.answer?.outcome !== 'completed',
  );
  return at === -1 ? undefined : { at, decision: sends[at]?.decision as DecisionEntry };
}

const videoAnswer = ({ answer }: DecisionEntry): CreatedVideo | RejectedCall | null =>
  answer?.outcome === 'completed' ? null : answer;

/** Whether this exact decision is already recorded, because the attempt that wrote it died or a reset repeats it. */
function isRepeated({ decision, by, reason, answer }: DecisionEntry, call: ResolveUnconfirmedCall): boolean {
  if (decision !== call.decision || by !== call.by || reason !== call.reason) return false;
  return decision !== 'adopt' || (answer?.outcome === 'created' && answer.video.taskId === call.taskId);
}

function decidedBefore({ at: sendAttempt, decision }: Decided): Refusal {
  const { about: sendId, by, at } = decision;
  const message = `${by} decided ${decision.decision} at ${at}. A decision is final.`;
  const earlier = { sendId, sendAttempt, decision: decision.decision, by, at };
  return refused('already_decided', message, videoAnswer(decision), earlier);
}

const SENDER = {
  message:
    'A sender for this call may still be running. Nothing can be decided until it has certainly ended.',
  everyMs: 5_000,
};

/** The answer that results from a valid decision. */
type Made = CreatedVideo | RejectedCall | null;

interface Named {
  readonly send: Send;
  readonly at: number;
  readonly key: JournalKey;
}

async function answerOf(
  input: ResolveUnconfirmedCall,
  named: Named,
  deps: PaidDeps,
): Promise<Made | Refusal> {
  if (input.decision === 'resubmit') return null;
  if (input.decision === 'adopt') return adoption(input.taskId ?? '', named, deps);
  const { sent, answer } = named.send;
  const estimate = sent.kind === 'intent' ? sent.estimate : null;
  const base = { sendAttempt: named.at, sent: true, account: sent.account, estimate };
  // Lost results prove that the call was paid for, which no decision can undo.
  if (answer?.answer.outcome === 'results_lost') {
    const message = `The call was paid for, but its results were lost. ${input.by} declared that nothing more will be done about it.`;
    return rejectedAnswer({ ...base, mayBeOwed: true }, 'declared_lost', message);
  }
  const message = `The outcome of the call was unknown. ${input.by} declared that nothing was accepted.`;
  return rejectedAnswer(base, 'declared_lost', message);
}

/**
 * Checks that the service knows the task and that no other key owns it. A mistyped ID would be polled indefinitely, and
 * the paid task would be lost.
 */
async function adoption(
  taskId: string,
  { send: { sent }, at, key }: Named,
  deps: PaidDeps,
): Promise<CreatedVideo | Refusal> {
  const { journal } = deps;
  if (sent.operation !== 'create_video')
    return refused(
      'no_task_to_adopt',
      'An image call does not create a task. Declare it lost, or resubmit it.',
    );
  if (!isUsableTaskId(taskId)) return refused('invalid_decision', 'taskId is not a valid task ID.');
  const account = deps.accounts.find(sent.account);
  if (account === undefined) {
    retryOnAnotherWorker();
    return refused(
      'account_not_configured',
      `This worker does not have account ${sent.account}, which sent the create.`,
    );
  }
  const owners = await journal.findTask(taskId).catch(orRetry);
  if (owners.some((owner) => isForeign(owner, key, sent))) return refused('task_of_another_key', FOREIGN);
  const seen = await account.client.getVideo(taskId);
  if (seen.kind === 'error') {
    const status = seen.httpStatus === undefined ? '' : ` (HTTP ${seen.httpStatus})`;
    return seen.error === 'not_found' || seen.error === 'bad_request'
      ? refused(
          'task_unknown',
          `The service does not recognize this task ID${status}. Check the ID and the account.`,
        )
      : refused(
          'service_unavailable',
          `The task could not be read from the service: ${seen.error}${status}. Try again.`,
        );
  }
  const { reported, status } = seen.record;
  if (sent.model !== '' && reported?.model !== undefined && reported.model !== sent.model)
    return refused(
      'task_of_another_key',
      'The service reports a different model for this task than the create requested.',
    );
  const lookup =
    sent.model === '' ? undefined : await (account.models ?? deps.models).lookup(sent.model, 'video');
  const polling = lookup?.found === 'entry' ? (lookup.entry as VideoModel).polling : undefined;
  const answer = adoptedAnswer(sent, at, taskId, status, polling);
  const ours = await claimTask(journal, key, sent, answer);
  return ours ? answer : refused('task_of_another_key', FOREIGN);
}

const MESSAGES = {
  adopt:
    'The task was adopted. Start the same ID again, or resume the task, to get its video. Nothing is created again.',
  declareLost: 'Declared lost: nothing more is sent under this ID. Use a new ID to buy it.',
  resubmit: 'Authorized: the next start with the same ID sends once more, which may cost a second time.',
} as const;
const FOREIGN = 'The journal lists this task under another ID: it is the result of another create.';
const ANOTHER = 'A different send is now unconfirmed. Read its evidence, then decide about that one.';
const KNOWN = 'The journal already contains the outcome of this call, so there is nothing to decide.';
const NOTHING = 'No paid call under this key is unconfirmed. Check the key and the namespace.';

/**
 * Sanitizes the name and reason in a decision before they are written to the journal, because people paste URLs and the
 * journal is used for diagnostics.
 */
async function said(
  { by, reason }: ResolveUnconfirmedCall,
  { accounts }: PaidDeps,
): Promise<Pick<DecisionEntry, 'by' | 'reason'>> {
  const issue = decisionIssue({ sendId: 'any', decision: 'declareLost', by, reason });
  // The caller reports the issue with the text as it was typed.
  if (issue !== undefined) return { by, reason };
  const clear = clearOf(await redactorsOf(accounts));
  const clean = (text: string): string => clear(printable(text), 1000);
  return { by: clean(by).trim(), reason: clean(reason).trim() };
}

/** Removes control characters and bidirectional controls, which could forge lines in a list. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}]+/gu, ' ').trim();
}
