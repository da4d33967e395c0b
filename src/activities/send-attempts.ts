import { randomUUID } from 'node:crypto';
import {
  type CreateJournal,
  decideSendAttempt,
  type SendAttemptAsker,
  type SendAttemptDecision,
  type SendAttemptView,
  isBehind,
  isOpenFate,
  type JournalKey,
  mayFollow,
  type OutcomeRecord,
  type RecordedAnswer,
  type Claim,
  type ClaimFence,
  type ClaimIntent,
  type TaskIndexEntry,
} from '../domain/journal';
import { type CreatedVideo, type CreateVideoAnswer } from '../domain/paid-call';
import { reported } from './mistakes';

/** The send attempt that a caller may act in, and the decision that follows from its records. */
export type OpenedSendAttempt = {
  readonly sendAttempt: number;
  /** An earlier send attempt of unknown fate was sent again by decision. */
  readonly mayBeOwed?: true;
  /** Nonces of the intents up to here, without those of send attempts that the caller knows to be over. */
  readonly intents: readonly string[];
} & Exclude<SendAttemptDecision, { do: 'next_send_attempt' }>;

/** Who asks, with the clock by which a Retry-After is over. */
export interface SendAttemptCaller extends Omit<SendAttemptAsker, 'now'> {
  readonly workflowId: string | null;
  readonly recordedOnly?: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
}

/**
 * Advances past send attempts that ended in a proven refusal; never past one that may have been accepted.
 * @param from the first send attempt that the calling workflow does not know to be over
 */
export async function openSendAttempt(
  journal: CreateJournal | 'none',
  key: JournalKey,
  from: number,
  caller: SendAttemptCaller,
): Promise<OpenedSendAttempt> {
  if (journal === 'none') return { sendAttempt: from, do: 'send', intents: [] };
  const intents: string[] = [];
  let owed: { mayBeOwed?: true } = {};
  for (let sendAttempt = 0; ; sendAttempt++) {
    const view = await readBelow(journal, key, sendAttempt, from);
    // Only now: another sender may have written while it was read.
    const asker = { ...caller, now: caller.now() };
    if (sendAttempt < from && isBehind(view, asker)) continue;
    if (view.claim?.kind === 'intent') intents.push(view.claim.nonce);
    const decision = decideSendAttempt(view, asker);
    if (decision.do === 'next_send_attempt') {
      if (view.resolution && isOpenFate(view)) owed = { mayBeOwed: true };
      continue;
    }
    // A fence does not exclude later sends: a caller that wants what is recorded reads on.
    if (decision.do === 'fenced' && asker.recordedOnly === true) continue;
    if (mayFollow(view, asker) && (await isPassed(journal, key, sendAttempt, asker.fingerprint))) continue;
    return { sendAttempt, ...owed, intents, ...decision };
  }
}

/**
 * Reads a send attempt. One before `from` is over; where this journal lacks it (it was pruned, or the journal was
 * replaced), a fence is written first: a caller that does not know this would send there in addition to the present
 * one.
 */
async function readBelow(
  journal: CreateJournal,
  key: JournalKey,
  sendAttempt: number,
  from: number,
): Promise<SendAttemptView> {
  const view = await journal.read(key, sendAttempt);
  if (sendAttempt >= from || view.claim !== null) return view;
  await journal.putClaim(key, sendAttempt, fence());
  return journal.read(key, sendAttempt);
}

/**
 * Whether a later send attempt was claimed for a send, of this request where a fingerprint is given. A fence excludes
 * senders and does not count.
 */
export async function isPassed(
  journal: CreateJournal,
  key: JournalKey,
  sendAttempt: number,
  fingerprint: string | null = null,
): Promise<boolean> {
  for (let next = sendAttempt + 1; ; next++) {
    const { claim } = await journal.read(key, next);
    if (claim === null) return false;
    if (claim.kind === 'fence') continue;
    if (fingerprint === null || (claim.fingerprint ?? fingerprint) === fingerprint) return true;
  }
}

/**
 * Claims the send attempt for one send. `lost`: another sender has it. `unsure`: the claim holds our intent although
 * the journal failed, so that it may not be durable and nothing may be sent on it. Throws when the state is unknown.
 */
export async function claimSendAttempt(
  journal: CreateJournal | 'none',
  key: JournalKey,
  sendAttempt: number,
  intent: ClaimIntent,
): Promise<'won' | 'lost' | 'unsure'> {
  if (journal === 'none') return 'won';
  const claimed = await takeClaim(journal, key, sendAttempt, intent).catch((error: unknown) => ({ error }));
  if (claimed === 'won') return claimed;
  // An ambiguous write is read back: the nonce identifies our own intent (failure model: The journal).
  const { claim } = await journal.read(key, sendAttempt);
  if (claim?.nonce === intent.nonce) return claimed === 'lost' ? 'won' : 'unsure';
  if (claimed === 'lost') return claimed;
  throw claimed.error;
}

/**
 * Writes a claim where there is none. A caller of a later send attempt knows that those before it are over; a journal
 * that lacks them (it was pruned meanwhile, or replaced) gets fences for them, because a key without its first send
 * attempts looks as if it was never used.
 */
export async function takeClaim(
  journal: CreateJournal,
  key: JournalKey,
  sendAttempt: number,
  claim: Claim,
): Promise<'won' | 'lost'> {
  if (sendAttempt > 0 && (await journal.read(key, sendAttempt - 1)).claim === null)
    await takeClaim(journal, key, sendAttempt - 1, fence());
  return journal.putClaim(key, sendAttempt, claim);
}

/** Excludes every sender from a send attempt in which none has started. */
export function fence(): ClaimFence {
  return { v: 1, kind: 'fence', nonce: randomUUID(), at: new Date().toISOString() };
}

const RECORD_TRIES = 4;

/**
 * Records the outcome of a send before it is returned. A failure of the journal cannot undo the send: the answer still
 * goes to the workflow, and `recorded: false` lets the caller say so.
 */
export async function recordOutcome(
  journal: CreateJournal | 'none',
  key: JournalKey,
  nonce: string,
  answer: RecordedAnswer,
): Promise<{ readonly recorded: boolean; readonly standing: RecordedAnswer; readonly fault?: unknown }> {
  if (journal === 'none') return { recorded: false, standing: answer };
  const record: OutcomeRecord = {
    v: 1,
    nonce,
    at: new Date().toISOString(),
    answer: withoutForeignText(answer),
  };
  for (let attempt = 1; ; attempt++) {
    try {
      if ((await journal.putOutcome(key, answer.sendAttempt, record)) === 'won')
        return { recorded: true, standing: answer };
      const { outcome } = await journal.read(key, answer.sendAttempt);
      return { recorded: true, standing: outcome?.answer ?? answer };
    } catch (fault) {
      if (attempt >= RECORD_TRIES) return { recorded: false, standing: answer, fault };
      await new Promise((resolve) => setTimeout(resolve, 50 * 2 ** attempt));
    }
  }
}

/**
 * Removes the service's own text, which may echo a prompt: a journal is a diagnostic (C5.4c). Kind, code and our
 * message stay.
 */
function withoutForeignText(answer: RecordedAnswer): RecordedAnswer {
  if (!('error' in answer) || answer.error === undefined) return answer;
  return { ...answer, error: { ...answer.error, message: null } };
}

/** Whether a task of the same account belongs to another creation key; equal keys in two namespaces are different. */
export function isForeign(owner: TaskIndexEntry, key: JournalKey, { account }: ClaimIntent): boolean {
  const same = owner.creationKey === key.creationKey && owner.namespace === key.namespace;
  return !same && owner.video.account === account;
}

/**
 * Claims a task for a creation key before it is adopted: two keys, or two people, that search for their task at the
 * same time never get the same one. False when another key has it. Throws when the journal fails.
 */
export async function claimTask(
  journal: CreateJournal,
  key: JournalKey,
  claim: ClaimIntent,
  { sendAttempt, video }: CreatedVideo,
): Promise<boolean> {
  const { workflowId, runId } = claim;
  await journal.indexTask({ v: 1, ...key, sendAttempt, workflowId, runId, video });
  const owners = await journal.findTask(video.taskId);
  return !owners.some((owner) => isForeign(owner, key, claim));
}

/**
 * Makes a created task findable by its id alone. Repeated whenever a recorded creation is read: a kill may have
 * prevented it.
 */
export async function indexCreated(
  journal: CreateJournal | 'none',
  key: JournalKey,
  answer: CreateVideoAnswer | RecordedAnswer,
  claim: ClaimIntent | null,
): Promise<void> {
  if (journal === 'none' || answer.outcome !== 'created') return;
  const { taskId, account } = answer.video;
  // A recorded answer is usually indexed already, and another try would cost a draft file and two disk syncs.
  if (!answer.sent) {
    const known = await journal.findTask(taskId).catch(reported([]));
    if (known.some(({ video }) => video.account === account)) return;
  }
  await journal
    .indexTask({
      v: 1,
      namespace: key.namespace,
      creationKey: key.creationKey,
      sendAttempt: answer.sendAttempt,
      workflowId: claim?.workflowId ?? null,
      runId: claim?.runId ?? null,
      video: answer.video,
    })
    // The index only shortens a search; the outcome itself is recorded.
    .catch(reported(undefined));
}
