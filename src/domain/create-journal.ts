import { type Money } from './billing';
import { type CreateVideoAnswer, type ImageCallAnswer } from './paid-call';
import { type PaidRequest } from './request';
import { type VideoTask } from './video-task';

/** Whose epoch it is. Keys of different namespaces never meet. */
export interface JournalKey {
  readonly namespace: string;
  readonly creationKey: string;
}

/** Written before the send: from here on a request of this epoch may be on its way (failure-model 2.5). No prompt, key or address. */
export interface SlotIntent {
  readonly v: 1;
  readonly kind: 'intent';
  /** Random; tells one sender from another. */
  readonly nonce: string;
  readonly operation: PaidRequest['operation'];
  readonly workflowId: string | null;
  readonly runId: string | null;
  readonly activityId: string;
  readonly fingerprint: string;
  readonly bodyHash: string;
  readonly account: string;
  readonly model: string;
  readonly durationSeconds: number | null;
  readonly resolution: string | null;
  readonly referenceMode: string | null;
  readonly estimate: Money | null;
  /** ISO 8601. */
  readonly at: string;
  /** ISO 8601 time after which this sender is certainly done: its start-to-close timeout plus a margin. */
  readonly sendWindowEnd: string;
}

/** Taken instead of an intent: nobody can ever send in this epoch, which proves "not sent". */
export interface SlotFence {
  readonly v: 1;
  readonly kind: 'fence';
  readonly nonce: string;
  readonly at: string;
}

export type Slot = SlotIntent | SlotFence;

/** An answer that is worth recording: what one send came to. */
export type RecordedAnswer = Exclude<CreateVideoAnswer | ImageCallAnswer, { outcome: 'pending' }>;

export interface OutcomeRecord {
  readonly v: 1;
  readonly nonce: string;
  readonly at: string;
  readonly answer: RecordedAnswer;
}

export interface EpochView {
  readonly slot: Slot | null;
  readonly outcome: OutcomeRecord | null;
}

/** Where a task id came from. */
export interface TaskIndexEntry {
  readonly v: 1;
  readonly namespace: string;
  readonly creationKey: string;
  readonly epoch: number;
  readonly workflowId: string | null;
  readonly runId: string | null;
  readonly video: VideoTask;
}

/** Which journal this is, for the binding of a create task queue (design 4.3). */
export interface JournalIdentity {
  readonly journalId: string;
  /** The one host that may use it; null when it is shared by design (S3). */
  readonly hostId: string | null;
}

/**
 * The record of paid sends. Every `put` is create-if-absent and durable when it returns (assumptions A1, A2).
 * Implementations throw when they cannot tell or cannot write; the caller then fails closed before a send.
 */
export interface CreateJournal {
  readonly kind: 'file' | 's3';
  identity(): Promise<JournalIdentity>;
  read(key: JournalKey, epoch: number): Promise<EpochView>;
  putSlot(key: JournalKey, epoch: number, slot: Slot): Promise<'won' | 'lost'>;
  putOutcome(key: JournalKey, epoch: number, outcome: OutcomeRecord): Promise<'won' | 'lost'>;
  indexTask(entry: TaskIndexEntry): Promise<void>;
  /** Entries for a task id: one per account that has had a task of this id. */
  findTask(taskId: string): Promise<readonly TaskIndexEntry[]>;
  checkWritable(): Promise<void>;
}

/** Who asks: the same run that recorded an answer gets it back as it is; a later run may go on after a proven refusal. */
export interface EpochAsker {
  readonly fingerprint: string | null;
  readonly runId: string | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Whether even the run that recorded a proven refusal may go on after it: image activities retry by themselves. */
  readonly reopenOwn?: boolean;
}

export type EpochDecision =
  | { readonly do: 'send' }
  | { readonly do: 'return'; readonly outcome: OutcomeRecord; readonly slot: SlotIntent | null }
  /** A proven refusal of an earlier run: this epoch is over and the next one may open. */
  | { readonly do: 'next_epoch' }
  | { readonly do: 'fenced' }
  | { readonly do: 'pending'; readonly slot: SlotIntent }
  | { readonly do: 'conflict' };

/** What one epoch's records mean for somebody who wants to send in it. Pure: the proof of create-once walks it. */
export function decideEpoch(view: EpochView, asker: EpochAsker): EpochDecision {
  const { slot, outcome } = view;
  if (slot?.kind === 'fence') return { do: 'fenced' };
  // An unreadable file cannot be hashed any more: nothing is sent anyway, and the first outcome is worth more.
  if (slot !== null && asker.fingerprint !== null && slot.fingerprint !== asker.fingerprint)
    return { do: 'conflict' };
  if (outcome !== null) {
    const mayReopen = asker.reopenOwn === true || (slot !== null && slot.runId !== asker.runId);
    return mayReopen && isReopenable(outcome.answer, asker.now)
      ? { do: 'next_epoch' }
      : { do: 'return', outcome, slot };
  }
  return slot === null ? { do: 'send' } : { do: 'pending', slot };
}

/** Whether a recorded answer proves that nothing was accepted, and asking again can help. */
export function isReopenable(answer: RecordedAnswer, now: number): boolean {
  switch (answer.outcome) {
    case 'not_sent':
      return true;
    case 'refused_for_now':
      return answer.notBefore === null || Date.parse(answer.notBefore) <= now;
    case 'rejected':
      // A person mends credentials and quota and then starts the same id again; a wrong request stays wrong (C7.1).
      return (
        answer.reason === 'credentials' ||
        answer.reason === 'quota' ||
        answer.reason === 'capacity' ||
        answer.reason === 'not_sent'
      );
    default:
      return false;
  }
}
