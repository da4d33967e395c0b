import { randomUUID } from 'node:crypto';
import {
  type CreateJournal,
  decideEpoch,
  type EpochAsker,
  type EpochDecision,
  type EpochView,
  isBehind,
  isOpenFate,
  type JournalKey,
  mayFollow,
  type OutcomeRecord,
  type RecordedAnswer,
  type Slot,
  type SlotFence,
  type SlotIntent,
  type TaskIndexEntry,
} from '../domain/journal';
import { type CreatedVideo, type CreateVideoAnswer } from '../domain/paid-call';

/** Where a caller stands: the epoch it may act in, and what that epoch's records say. */
export type OpenedEpoch = {
  readonly epoch: number;
  /** On the way there lies a send of unknown fate that was sent again by decision. */
  readonly mayBeOwed?: true;
  /** Nonces of the intents from the epoch in which it began up to here. */
  readonly intents: readonly string[];
} & Exclude<EpochDecision, { do: 'next_epoch' }>;

/**
 * Goes forward over epochs that ended in a proven refusal; never over one that may have been accepted.
 * @param from the first epoch of which the workflow that asks was not told that it is over
 */
export async function openEpoch(
  journal: CreateJournal | 'none',
  key: JournalKey,
  from: number,
  asker: EpochAsker & { readonly workflowId: string | null; readonly recordedOnly?: boolean },
): Promise<OpenedEpoch> {
  if (journal === 'none') return { epoch: from, do: 'send', intents: [] };
  const intents: string[] = [];
  let owed: { mayBeOwed?: true } = {};
  for (let epoch = 0; ; epoch++) {
    const view = await readBelow(journal, key, epoch, from);
    if (epoch < from && isBehind(view, asker.workflowId)) continue;
    if (view.slot?.kind === 'intent') intents.push(view.slot.nonce);
    const decision = decideEpoch(view, asker);
    if (decision.do === 'next_epoch') {
      if (view.resolution && isOpenFate(view)) owed = { mayBeOwed: true };
      continue;
    }
    // A fence says nothing of what was sent after it: whoever wants what is recorded looks there too.
    if (decision.do === 'fenced' && asker.recordedOnly === true) continue;
    if (mayFollow(view, asker) && (await isPassed(journal, key, epoch, asker.fingerprint))) continue;
    return { epoch, ...owed, intents, ...decision };
  }
}

/**
 * An epoch as it is recorded. One before `from` is over; where this journal does not have it (it was pruned, or it is another
 * one by now), a fence is written first: whoever was told less would send there beside whoever asks.
 */
async function readBelow(
  journal: CreateJournal,
  key: JournalKey,
  epoch: number,
  from: number,
): Promise<EpochView> {
  const view = await journal.read(key, epoch);
  if (epoch >= from || view.slot !== null) return view;
  await journal.putSlot(key, epoch, fence(Date.now()));
  return journal.read(key, epoch);
}

/**
 * Whether somebody took an epoch beyond this one for a send, of this very request where one is named. A fence shuts out a
 * sender and opens no way.
 */
export async function isPassed(
  journal: CreateJournal,
  key: JournalKey,
  epoch: number,
  fingerprint: string | null = null,
): Promise<boolean> {
  for (let next = epoch + 1; ; next++) {
    const { slot } = await journal.read(key, next);
    if (slot === null) return false;
    if (slot.kind === 'fence') continue;
    if (fingerprint === null || (slot.fingerprint ?? fingerprint) === fingerprint) return true;
  }
}

/**
 * Takes the epoch for one send. `lost` means that somebody else has it; `unsure` that the slot holds our intent although
 * the journal failed, so that it may not be durable: nothing may be sent on it. Throws when nothing can be known.
 */
export async function claimEpoch(
  journal: CreateJournal | 'none',
  key: JournalKey,
  epoch: number,
  intent: SlotIntent,
): Promise<'won' | 'lost' | 'unsure'> {
  if (journal === 'none') return 'won';
  const claim = await takeSlot(journal, key, epoch, intent).catch((error: unknown) => ({ error }));
  if (claim === 'won') return claim;
  // An ambiguous write is read back: the nonce tells our own intent from another's (failure model: The journal).
  const { slot } = await journal.read(key, epoch);
  if (slot?.nonce === intent.nonce) return claim === 'lost' ? 'won' : 'unsure';
  if (claim === 'lost') return claim;
  throw claim.error;
}

/**
 * Writes a slot where none is. Whoever asks for a later epoch was told that those before it are over; a journal that does
 * not have them (it was pruned meanwhile, or it is another one by now) gets fences for them, because a later epoch that
 * stood alone would be taken for a key that was never used.
 */
export async function takeSlot(
  journal: CreateJournal,
  key: JournalKey,
  epoch: number,
  slot: Slot,
): Promise<'won' | 'lost'> {
  if (epoch > 0 && (await journal.read(key, epoch - 1)).slot === null)
    await takeSlot(journal, key, epoch - 1, fence(Date.now()));
  return journal.putSlot(key, epoch, slot);
}

/** Shuts every sender out of an epoch in which nobody has begun. */
export function fence(now: number): SlotFence {
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
      if ((await journal.putOutcome(key, answer.epoch, record)) === 'won')
        return { recorded: true, standing: answer };
      const { outcome } = await journal.read(key, answer.epoch);
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
export function isForeign(owner: TaskIndexEntry, key: JournalKey, { account }: SlotIntent): boolean {
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
  slot: SlotIntent,
  { epoch, video }: CreatedVideo,
): Promise<boolean> {
  const { workflowId, runId } = slot;
  await journal.indexTask({ v: 1, ...key, epoch, workflowId, runId, video });
  const owners = await journal.findTask(video.taskId);
  return !owners.some((owner) => isForeign(owner, key, slot));
}

/** Makes a created task findable by its id alone. Done again whenever a recorded creation is read: a kill may have come between. */
export async function indexCreated(
  journal: CreateJournal | 'none',
  key: JournalKey,
  answer: CreateVideoAnswer | RecordedAnswer,
  slot: SlotIntent | null,
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
      epoch: answer.epoch,
      workflowId: slot?.workflowId ?? null,
      runId: slot?.runId ?? null,
      video: answer.video,
    })
    // The index only shortens a search; the outcome itself is recorded.
    .catch(() => undefined);
}
