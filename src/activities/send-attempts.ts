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

/** Where a caller stands: the send attempt it may act in, and what that send attempt's records say. */
export type OpenedSendAttempt = {
  readonly sendAttempt: number;
  /** On the way there lies a send of unknown fate that was sent again by decision. */
  readonly mayBeOwed?: true;
  /** Nonces of the intents from the send attempt in which it began up to here. */
  readonly intents: readonly string[];
} & Exclude<SendAttemptDecision, { do: 'next_send_attempt' }>;

/**
 * Goes forward over send attempts that ended in a proven refusal; never over one that may have been accepted.
 * @param from the first send attempt of which the workflow that asks was not told that it is over
 */
export async function openSendAttempt(
  journal: CreateJournal | 'none',
  key: JournalKey,
  from: number,
  asker: SendAttemptAsker & { readonly workflowId: string | null; readonly recordedOnly?: boolean },
): Promise<OpenedSendAttempt> {
  if (journal === 'none') return { sendAttempt: from, do: 'send', intents: [] };
  const intents: string[] = [];
  let owed: { mayBeOwed?: true } = {};
  for (let sendAttempt = 0; ; sendAttempt++) {
    const view = await readBelow(journal, key, sendAttempt, from);
    if (sendAttempt < from && isBehind(view, asker.workflowId)) continue;
    if (view.claim?.kind === 'intent') intents.push(view.claim.nonce);
    const decision = decideSendAttempt(view, asker);
    if (decision.do === 'next_send_attempt') {
      if (view.resolution && isOpenFate(view)) owed = { mayBeOwed: true };
      continue;
    }
    // A fence says nothing of what was sent after it: whoever wants what is recorded looks there too.
    if (decision.do === 'fenced' && asker.recordedOnly === true) continue;
    if (mayFollow(view, asker) && (await isPassed(journal, key, sendAttempt, asker.fingerprint))) continue;
    return { sendAttempt, ...owed, intents, ...decision };
  }
}

/**
 * A send attempt as it is recorded. One before `from` is over; where this journal does not have it (it was pruned, or it is another
 * one by now), a fence is written first: whoever was told less would send there beside whoever asks.
 */
async function readBelow(
  journal: CreateJournal,
  key: JournalKey,
  sendAttempt: number,
  from: number,
): Promise<SendAttemptView> {
  const view = await journal.read(key, sendAttempt);
  if (sendAttempt >= from || view.claim !== null) return view;
  await journal.putClaim(key, sendAttempt, fence(Date.now()));
  return journal.read(key, sendAttempt);
}

/**
 * Whether somebody took a send attempt beyond this one for a send, of this very request where one is named. A fence shuts out a
 * sender and opens no way.
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
 * Takes the send attempt for one send. `lost` means that somebody else has it; `unsure` that the claim holds our intent although
 * the journal failed, so that it may not be durable: nothing may be sent on it. Throws when nothing can be known.
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
  // An ambiguous write is read back: the nonce tells our own intent from another's (failure model: The journal).
  const { claim } = await journal.read(key, sendAttempt);
  if (claim?.nonce === intent.nonce) return claimed === 'lost' ? 'won' : 'unsure';
  if (claimed === 'lost') return claimed;
  throw claimed.error;
}

/**
 * Writes a claim where none is. Whoever asks for a later send attempt was told that those before it are over; a journal that does
 * not have them (it was pruned meanwhile, or it is another one by now) gets fences for them, because a later send attempt that
 * stood alone would be taken for a key that was never used.
 */
export async function takeClaim(
  journal: CreateJournal,
  key: JournalKey,
  sendAttempt: number,
  claim: Claim,
): Promise<'won' | 'lost'> {
  if (sendAttempt > 0 && (await journal.read(key, sendAttempt - 1)).claim === null)
    await takeClaim(journal, key, sendAttempt - 1, fence(Date.now()));
  return journal.putClaim(key, sendAttempt, claim);
}

/** Shuts every sender out of a send attempt in which nobody has started. */
export function fence(now: number): ClaimFence {
  return { v: 1, kind: 'fence', nonce: randomUUID(), at: new Date(now).toISOString() };
}

const RECORD_TRIES = 4;

/**
 * Records what a send came to, before anybody else is told. A journal that fails now cannot undo the send: the answer
 * still goes to the workflow, and `recorded: false` lets the caller say so.
 */
export async function recordOutcome(
  journal: CreateJournal | 'none',
  key: JournalKey,
  nonce: string,
  answer: RecordedAnswer,
): Promise<{ readonly recorded: boolean; readonly standing: RecordedAnswer }> {
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
    } catch {
      if (attempt >= RECORD_TRIES) return { recorded: false, standing: answer };
      await new Promise((resolve) => setTimeout(resolve, 50 * 2 ** attempt));
    }
  }
}

/** The service's own words may echo a prompt, and a journal is a diagnostic (C5.4c): kind, code and our message stay. */
function withoutForeignText(answer: RecordedAnswer): RecordedAnswer {
  if (!('error' in answer) || answer.error === undefined) return answer;
  return { ...answer, error: { ...answer.error, message: null } };
}

/** Whether a task of the same account belongs to another creation key; the same key in two namespaces is two keys. */
export function isForeign(owner: TaskIndexEntry, key: JournalKey, { account }: ClaimIntent): boolean {
  const same = owner.creationKey === key.creationKey && owner.namespace === key.namespace;
  return !same && owner.video.account === account;
}

/**
 * Takes a task for a creation key before it is adopted: two keys that look for their task at the same time, or two people,
 * never get the same one. False when another key has it. Throws when the journal cannot tell.
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

/** Makes a created task findable by its id alone. Done again whenever a recorded creation is read: a kill may have come between. */
export async function indexCreated(
  journal: CreateJournal | 'none',
  key: JournalKey,
  answer: CreateVideoAnswer | RecordedAnswer,
  claim: ClaimIntent | null,
): Promise<void> {
  if (journal === 'none' || answer.outcome !== 'created') return;
  const { taskId, account } = answer.video;
  // Read from a record: mostly it was done then, and to try it would be a draft and two waits for the disk.
  if (!answer.sent) {
    const known = await journal.findTask(taskId).catch(() => []);
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
    .catch(() => undefined);
}
