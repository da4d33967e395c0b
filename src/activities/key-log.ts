import { Context, log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { type CreateJournal, type TaskIndexEntry, isSameEntry } from '../domain/journal';
import { given } from '../domain/json';
import {
  type DecisionEntry,
  type IntentEntry,
  isOpenAnswer,
  type JournalKey,
  type LogEntry,
  type LostEntry,
  type RecordedAnswer,
} from '../domain/log-entries';
import { type CreatedVideo, type CreateVideoAnswer, type NotSent } from '../domain/paid-call';
import { apply, indexOfSend, isUnknown, type KeyState, stateOf } from '../domain/paid-log';
import { hasEnded } from '../stores/files/this-machine';
import { journalFault, JournalRecordError } from '../stores/journal/records';
import { clearOf, FAILURE, reported, reportIfMistake, retryLater } from './failures';
import { type AnswerBase, factsIn, unconfirmedBySend, unsentAnswer } from './paid-answers';
import { timeLeftOpen, timeLeftRepeated } from './send-window';

const UNUSABLE = 'The create journal cannot be read or written, and nothing is sent without it.';

/** The error for an entry that exists although its write failed. */
export const UNSURE = new JournalRecordError(
  'A record might not survive a power loss: it can be read, but its write failed.',
);

/** Returns a retryable failure with the cause. The SDK logs it once per attempt. */
export function journalUnavailable(error: unknown): ApplicationFailure {
  reportIfMistake(error);
  return ApplicationFailure.create({
    type: FAILURE.journalUnavailable,
    message: `${UNUSABLE} ${causeOf(error)}`,
    nonRetryable: false,
  });
}

/** A `catch` handler that makes the server retry the activity. */
export function orRetry(error: unknown): never {
  throw journalUnavailable(error);
}

/**
 * Creates a `catch` handler that returns the answer for a call that is not sent because of a journal failure. The
 * handler logs the cause, because the SDK does not log returned values.
 */
export const journalDown =
  (base: AnswerBase) =>
  (error: unknown): NotSent => {
    const cause = causeOf(error);
    warnOnce(error, cause);
    return unsentAnswer(base, 'journal_unavailable', `${UNUSABLE} ${cause}`);
  };

/** Warns operators that the journal lacks the outcome of a send. */
export function warnUnrecorded(creationKey: string, fault: unknown): void {
  log.warn('The outcome of a paid call could not be written to the journal', {
    creationKey,
    cause: journalFault(fault),
  });
}

/** Attempts that have already logged their warning: hundreds of one activity's calls may fail for the same reason. */
const WARNED = new WeakSet<Context>();

function warnOnce(error: unknown, cause: string): void {
  const context = Context.current();
  if (WARNED.has(context)) return;
  WARNED.add(context);
  // The journal may be the user's own code. A bug in it is reported, and the call waits as for any other fault.
  reportIfMistake(error);
  log.warn('The create journal cannot be read or written', { cause });
}

function causeOf(error: unknown): string {
  return clearOf([])(journalFault(error));
}

/** The log of one creation key, as it was read. */
export interface KeyLog {
  readonly key: JournalKey;
  readonly entries: readonly LogEntry[];
  readonly state: KeyState;
}

/** Reads the log of a key. @throws when the journal fails */
export async function openLog(journal: CreateJournal, key: JournalKey): Promise<KeyLog> {
  const entries = await journal.read(key);
  return { key, entries, state: await withProvenEnd(stateOf(entries)) };
}

/** Marks the open send if its process has certainly ended, so that nobody waits for its answer. */
async function withProvenEnd(state: KeyState): Promise<KeyState> {
  const sent = state.open === null ? undefined : state.sends[state.open]?.sent;
  if (sent?.kind !== 'intent' || sent.process === undefined || !(await hasEnded(sent.process))) return state;
  const sends = state.sends.map((send) =>
    send.sent === sent ? { ...send, senderEnded: true as const } : send,
  );
  return { ...state, sends };
}

/**
 * The result of an append. `lost`: another writer created that entry. `unsure`: our entry was created, but might not be
 * durable.
 */
interface Appended {
  readonly is: 'won' | 'lost' | 'unsure';
  /** The log with the new entry; after `lost`, the log in its current state. */
  readonly log: KeyLog;
}

/**
 * Appends an entry after those that were read. An ambiguous write is read back: our entry may have been created
 * although the journal failed, and might not be durable.
 * @throws when it is unknown which entry was created
 */
export async function append(journal: CreateJournal, log: KeyLog, entry: LogEntry): Promise<Appended> {
  const { key, entries, state } = log;
  const longer = { key, entries: [...entries, entry], state: apply(state, entry) };
  const end = await journal.append(key, entries.length, entry).catch((error: unknown) => ({ error }));
  if (end === 'won') return { is: 'won', log: longer };
  const now = await openLog(journal, key);
  const existing = now.entries[entries.length];
  if (existing !== undefined && isSameEntry(existing, entry))
    return { is: end === 'lost' ? 'won' : 'unsure', log: longer };
  if (end === 'lost') return { is: 'lost', log: now };
  throw end.error;
}

/** Like {@link append}, for an activity that is retried: after an error, the next attempt reads the log again. */
export async function appendOrRetry(journal: CreateJournal, log: KeyLog, entry: LogEntry): Promise<KeyLog> {
  const appended = await append(journal, log, entry).catch(orRetry);
  if (appended.is === 'unsure') orRetry(UNSURE);
  if (appended.is === 'lost')
    throw retryLater({
      class: 'overtaken',
      message: 'Another entry was written at the same time.',
      delayMs: 100,
    });
  return appended.log;
}

const RECORD_TRIES = 4;

/**
 * Records a send's result before it is reported. A journal failure cannot undo the send, so the caller reports that
 * failure if `recorded` is false. If the journal has lost the intent in the meantime, the send is recorded first,
 * because an answer alone proves nothing.
 */
export async function recordAnswer(
  journal: CreateJournal,
  log: KeyLog,
  nonce: string,
  answer: RecordedAnswer,
): Promise<{ readonly recorded: boolean; readonly log: KeyLog; readonly fault?: unknown }> {
  const at = new Date().toISOString();
  const entry: LogEntry = { v: 1, kind: 'answer', nonce, at, answer: withoutForeignText(answer) };
  const sent = sentOf(log, nonce);
  let now = log;
  for (let faults = 0; ;) {
    try {
      const isLost = sent !== null && sentOf(now, nonce) === null;
      const appended = await append(journal, now, isLost ? lostEntryOf(sent, at) : entry);
      if (appended.is === 'won' && !isLost) {
        await forgetSettled(journal, appended.log, nonce);
        return { recorded: true, log: appended.log };
      }
      // An unsure entry is read again, because it may be gone.
      now = appended.is === 'unsure' ? await openLog(journal, log.key) : appended.log;
      // The write succeeded, but its reply was lost.
      if (now.entries.some((other) => isSameEntry(other, entry))) return { recorded: true, log: now };
    } catch (fault) {
      faults += 1;
      if (faults >= RECORD_TRIES) return { recorded: false, log: now, fault };
      await new Promise((resolve) => setTimeout(resolve, 50 * 2 ** faults));
    }
  }
}

/** Returns the entry for a send whose intent this journal has lost. */
function lostEntryOf(sent: IntentEntry | LostEntry, at: string): LostEntry {
  const { v, nonce, namespace, creationKey, sender, operation, workflowId, runId, ancestors } = sent;
  const { activityId, attemptAt, fingerprint } = sent;
  const who = { sender, workflowId, runId, ...given({ ancestors }), activityId, attemptAt };
  const facts = { operation, fingerprint, ...factsIn(sent) };
  return { v, kind: 'lost', nonce, namespace, creationKey, ...who, ...facts, cause: 'journal_changed', at };
}

/** Like {@link recordAnswer}, for an activity that is retried when the journal fails. */
export async function recordOrRetry(
  journal: CreateJournal,
  log: KeyLog,
  nonce: string,
  answer: RecordedAnswer,
): Promise<KeyLog> {
  const { recorded, log: longer, fault } = await recordAnswer(journal, log, nonce, answer);
  return recorded ? longer : orRetry(fault);
}

/**
 * Runs {@link giveUpOpen} once the open intent's sender can no longer be running. That sender may just have recorded
 * its answer, so the caller decides based on the returned log.
 * @throws as long as that sender may still record its answer
 */
export async function afterSender(
  journal: CreateJournal,
  log: KeyLog,
  now: number,
  { message, everyMs }: { readonly message: string; readonly everyMs: number },
): Promise<KeyLog> {
  waitForSender(timeLeftOpen(log.state, now), { message, everyMs });
  return giveUpOpen(journal, log);
}

function waitForSender(left: number, { message, everyMs }: { message: string; everyMs: number }): void {
  if (left <= 0) return;
  throw retryLater({ class: 'waiting_for_sender', message, delayMs: Math.min(everyMs, left + 100) });
}

/** Records that the open intent's sender can no longer be running and its outcome is unknown. */
export function giveUpOpen(journal: CreateJournal, log: KeyLog): Promise<KeyLog> {
  const { sends, open } = log.state;
  const send = open === null ? undefined : sends[open];
  if (send === undefined) return Promise.resolve(log);
  return recordOrRetry(journal, log, send.sent.nonce, unconfirmedBySend(send, open as number));
}

const REPEATED = {
  message: 'The same request may be in flight again under its idempotency key. Waiting for its outcome.',
  everyMs: 3_000,
};

/**
 * Records a decision and applies it.
 * @param now milliseconds since the Unix epoch
 * @throws as long as the request may be in flight again, because the decision would hide what that request buys
 */
export async function recordDecision(
  journal: CreateJournal,
  log: KeyLog,
  decision: Omit<DecisionEntry, 'v' | 'kind' | 'at'>,
  now: number,
): Promise<KeyLog> {
  const send = log.state.sends[indexOfSend(log.state, decision.about)];
  waitForSender(send === undefined ? 0 : timeLeftRepeated(send, now), REPEATED);
  const at = new Date().toISOString();
  const longer = await appendOrRetry(journal, log, { v: 1, kind: 'decision', at, ...decision });
  await followDecision(journal, longer, decision);
  return longer;
}

/** Applies a decision. Runs again each time the decision is repeated. */
export async function followDecision(
  journal: CreateJournal,
  log: KeyLog,
  { about, answer }: Pick<DecisionEntry, 'about' | 'answer'>,
): Promise<void> {
  await forgetSettled(journal, log, about);
  if (answer !== null) await indexCreated(journal, log.key, answer, sentOf(log, about));
}

/** Marks a send's outcome as known, so that other calls with the same body no longer need to check it. */
async function forgetSettled(
  journal: CreateJournal,
  { key, entries, state }: KeyLog,
  nonce: string,
): Promise<void> {
  const send = state.sends[indexOfSend(state, nonce)];
  if (send?.sent.kind !== 'intent' || isUnknown(send)) return;
  const n = entries.findIndex((entry) => entry.kind === 'intent' && entry.nonce === nonce);
  await journal.forgetOpen({ ...key, n }, send.sent.bodyHash);
}

export function sentOf({ state }: KeyLog, nonce: string): IntentEntry | LostEntry | null {
  return state.sends[indexOfSend(state, nonce)]?.sent ?? null;
}

/**
 * Removes the service's own text, because it may repeat a prompt and the journal is used for diagnostics. The kind, the
 * code and our message stay.
 */
function withoutForeignText(answer: RecordedAnswer): RecordedAnswer {
  if (!('error' in answer) || answer.error === undefined || isOpenAnswer(answer)) return answer;
  return { ...answer, error: { ...answer.error, message: null } };
}

/**
 * Whether a task in the same account belongs to another creation key. Equal keys in two namespaces are different keys.
 */
export function isForeign(
  owner: TaskIndexEntry,
  key: JournalKey,
  { account }: { readonly account: string },
): boolean {
  const same = owner.creationKey === key.creationKey && owner.namespace === key.namespace;
  return !same && owner.video.account === account;
}

/**
 * Claims a task for a creation key before it is adopted, so that two concurrent searches never adopt the same task.
 * Returns false if another key owns it.
 */
export async function claimTask(
  journal: CreateJournal,
  key: JournalKey,
  sent: IntentEntry | LostEntry,
  { sendAttempt, video }: CreatedVideo,
): Promise<boolean> {
  const { workflowId, runId } = sent;
  await journal.indexTask({ v: 1, ...key, sendAttempt, workflowId, runId, video }).catch(orRetry);
  const owners = await journal.findTask(video.taskId).catch(orRetry);
  return !owners.some((owner) => isForeign(owner, key, sent));
}

/**
 * Indexes a created task by its ID. Repeated whenever the creation is read, because a process may have been killed
 * before it did so.
 */
export async function indexCreated(
  journal: CreateJournal,
  { namespace, creationKey }: JournalKey,
  answer: CreateVideoAnswer | RecordedAnswer,
  sent: IntentEntry | LostEntry | null,
): Promise<void> {
  if (answer.outcome !== 'created') return;
  const { taskId, account } = answer.video;
  // A recorded answer is usually indexed already, and another write would cost a draft file and two disk syncs.
  if (!answer.sent) {
    const known = await journal.findTask(taskId).catch(reported([]));
    if (known.some(({ video }) => video.account === account)) return;
  }
  const { sendAttempt, video } = answer;
  const run = { workflowId: sent?.workflowId ?? null, runId: sent?.runId ?? null };
  await journal
    .indexTask({ v: 1, namespace, creationKey, sendAttempt, ...run, video })
    // The index only shortens a search. The outcome itself is recorded.
    .catch(reported(undefined));
}
