import { notOfTheFuture } from './answer-times';
import { isTemporary } from './failure-table';
import { type CampaignLog, type CampaignRecord } from './campaign/budget-book';
import { isValidated } from './make-outcome';
import {
  type CompletedImages,
  type CreatedVideo,
  type CreateVideoAnswer,
  type ImageCallAnswer,
  type RejectedCall,
} from './paid-call';
import { type Money } from './price';
import { type PaidRequest } from './request';
import { type HonouredKey } from './same-key';
import { type UnconfirmedDecision } from './unconfirmed-decision';
import { type VideoTask } from './video-task';

/** Identifies a creation. Equal keys of different namespaces are distinct. */
export interface JournalKey {
  /** Of Temporal, in which the workflow runs. */
  readonly namespace: string;
  /** As callers know it; stores name records by its hash. */
  readonly creationKey: string;
}

/**
 * Written before the send: from then on a request of this send attempt may be in flight (failure model: The journal).
 * No prompt, key or address.
 */
export interface ClaimIntent {
  readonly v: 1;
  readonly kind: 'intent';
  /** Random; distinguishes one sender from another. */
  readonly nonce: string;
  /** What is bought. */
  readonly operation: PaidRequest['operation'];
  /** Of Temporal, in which the workflow runs. */
  readonly namespace: string;
  /** The authorisation of this call. */
  readonly creationKey: string;
  /** Null for a call outside of a workflow. */
  readonly workflowId: string | null;
  /** Null for a call outside of a workflow. */
  readonly runId: string | null;
  /** Workflows that may ask for this key again when the workflow has long ended: its parent and its root. */
  readonly ancestors?: readonly string[];
  /** Distinguishes calls of one workflow. */
  readonly activityId: string;
  /** ISO 8601 time at which the server scheduled this attempt of the activity; a reset of it makes another one. */
  readonly attemptAt?: string;
  /** Null where only another journal had it: any request then counts as the same. */
  readonly fingerprint: string | null;
  /** SHA-256 of the request body; empty for a placeholder of a send that this journal did not see. */
  readonly bodyHash: string;
  /** Credential name and digest of the base address. */
  readonly account: string;
  /** Public model id. */
  readonly model: string;
  /** Null where the request names none. */
  readonly durationSeconds: number | null;
  /** Null where the request names none. */
  readonly resolution: string | null;
  /** `none`, or kinds with counts; null for an image. */
  readonly referenceMode: string | null;
  /** By the price rules of that moment; null means unknown, never free. */
  readonly estimate: Money | null;
  /** The campaign batch that pays for it. */
  readonly payer?: string;
  /** The value that every send under this intent carries, where its policy names a header; empty for a placeholder. */
  readonly idempotencyKey: string;
  /** Set where the operator vouches for that key. */
  readonly idempotency?: HonouredKey;
  /** ISO 8601. */
  readonly at: string;
  /** ISO 8601 time after which this sender is certainly done: the time that its request may take, plus a margin. */
  readonly sendWindowEnd: string;
}

/** Written instead of an intent: nothing can ever be sent in this send attempt, which proves "not sent". */
export interface ClaimFence {
  readonly v: 1;
  readonly kind: 'fence';
  /** Random; distinguishes one fence from another. */
  readonly nonce: string;
  /** ISO 8601. */
  readonly at: string;
}

/** The first record of a send attempt: an intent to send, or a fence after which nothing is sent in it. */
export type Claim = ClaimIntent | ClaimFence;

/** Whether an intent is a placeholder for a send that this journal did not see: it has no body hash. */
export function isPlaceholder({ bodyHash }: ClaimIntent): boolean {
  return bodyHash === '';
}

/** An answer that is recorded: the result of one send. */
export type RecordedAnswer = Exclude<CreateVideoAnswer | ImageCallAnswer, { outcome: 'pending' }>;

/** The recorded answer of a send, with the nonce of the intent that it belongs to. */
export interface OutcomeRecord {
  readonly v: 1;
  /** That of the intent which was sent. */
  readonly nonce: string;
  /** ISO 8601. */
  readonly at: string;
  /** What the send resulted in. */
  readonly answer: RecordedAnswer;
}

/**
 * The decision about a send attempt of unknown fate: durable, one per send attempt, never taken back. Lost images
 * that are fetched after all are adopted by the worker itself.
 */
export interface Resolution {
  readonly v: 1;
  /** What was decided. */
  readonly decision: UnconfirmedDecision;
  /** Who decided: a person, the inspector of task records, or a worker that has fetched lost images after all. */
  readonly by: string;
  /** Why, in the words of whoever decided. */
  readonly reason: string;
  /** ISO 8601. */
  readonly at: string;
  /** The result of the send attempt by this decision; null after `resubmit`, which opens the next send attempt. */
  readonly answer: CreatedVideo | CompletedImages | RejectedCall | null;
}

/** The records of one send attempt; null for a record that does not exist. */
export interface SendAttemptView {
  /** Null while nobody has begun it. */
  readonly claim: Claim | null;
  /** Null while its fate is unknown. */
  readonly outcome: OutcomeRecord | null;
  /** Null or absent while nobody has decided about it. */
  readonly resolution?: Resolution | null;
}

/** Origin of a task id. */
export interface TaskIndexEntry {
  readonly v: 1;
  /** Of Temporal, in which the workflow ran. */
  readonly namespace: string;
  /** The call that created the task. */
  readonly creationKey: string;
  /** The send that created it, from 0. */
  readonly sendAttempt: number;
  /** Null for a call outside of a workflow. */
  readonly workflowId: string | null;
  /** Null for a call outside of a workflow. */
  readonly runId: string | null;
  /** The facts that are kept of the task. */
  readonly video: VideoTask;
}

/** One send attempt in a journal. */
export interface SendAttemptKey extends JournalKey {
  /** From 0; the next one opens only after a proof or a decision. */
  readonly sendAttempt: number;
}

/** Creation keys of one page of a scan, each with its send attempts. */
export interface JournalPage {
  /** In the order of their names; each with its send attempts. */
  readonly keys: readonly {
    readonly sendAttempts: readonly (SendAttemptView & { readonly sendAttempt: number })[];
  }[];
  /** Null after the last page. */
  readonly next: string | null;
}

/** Identity of a journal, for the binding of a create task queue (architecture: Create). */
export interface JournalIdentity {
  /** Made when the journal is first opened. */
  readonly journalId: string;
  /** The one host that may use it; null when it is shared by design (S3). */
  readonly hostId: string | null;
}

/**
 * The record of paid sends. Every `put` is create-if-absent and durable when it returns (assumptions A1, A2).
 * Implementations throw when they cannot read or cannot write; the caller then fails closed before a send.
 */
export interface CreateJournal {
  /** The kind of store, for messages: `file`, `s3`, `postgres`, or another word. */
  readonly kind: string;
  /** The id of this journal, the same for ever and in every process, and its host where only one may use it. */
  identity(): Promise<JournalIdentity>;
  /** The 32 random bytes that encrypt secrets stored in the journal. Created with its id, and never disclosed. */
  sealingKey(): Promise<Uint8Array>;
  /** Stores a mark permanently. A journal that lacks a mark of its ledger was restored from an older copy. */
  putMark(mark: string): Promise<void>;
  /** Whether any process has put this mark. Never `false` once a `putMark` for it has returned, in any process. */
  hasMark(mark: string): Promise<boolean>;
  /** The records of one send attempt, as of now: a record whose `put` has returned is never missing. */
  read(key: JournalKey, sendAttempt: number): Promise<SendAttemptView>;
  /** Throws for a later send attempt when the previous one has no claim: the key was pruned since it was read. */
  putClaim(key: JournalKey, sendAttempt: number, claim: Claim): Promise<'won' | 'lost'>;
  /** Records the answer of a send. `lost`: there is one already, which stays. */
  putOutcome(key: JournalKey, sendAttempt: number, outcome: OutcomeRecord): Promise<'won' | 'lost'>;
  /** Records the decision about a send attempt. `lost`: there is one already, which stays. */
  putResolution(key: JournalKey, sendAttempt: number, resolution: Resolution): Promise<'won' | 'lost'>;
  /**
   * All creation keys, page by page in a stable order. Records written meanwhile may be left out.
   * `after` is the `next` of the previous page, null for the first.
   */
  scan(after: string | null, limit: number): Promise<JournalPage>;
  /** Send attempts with an intent for this body that may still be open. A hint: the caller reads each one. */
  findOpenByBody(bodyHash: string): Promise<readonly SendAttemptKey[]>;
  /** The fate of a send attempt is known: `findOpenByBody` need not return it any more. Best effort. */
  forgetOpen(place: SendAttemptKey, bodyHash: string): Promise<void>;
  /** Makes the origin of a task id known to {@link findTask}. */
  indexTask(entry: TaskIndexEntry): Promise<void>;
  /** Entries for a task id: one per account that has had a task of this id. */
  findTask(taskId: string): Promise<readonly TaskIndexEntry[]>;
  /** Campaign records are stored beside the creation keys: neither `scan` nor a prune touches them. */
  readRecord(log: CampaignLog, n: number): Promise<CampaignRecord | null>;
  /** Appends entry `n` of a log. `lost`: there is one already, which stays. */
  putRecord(log: CampaignLog, n: number, record: CampaignRecord): Promise<'won' | 'lost'>;
  /** Rejects when nothing can be recorded now, so that a send can be refused before it costs money. */
  checkWritable(): Promise<void>;
}

/**
 * The caller: the run that recorded an answer gets it back unchanged; a later run may continue after a proven
 * refusal.
 */
export interface SendAttemptAsker {
  readonly fingerprint: string | null;
  readonly runId: string | null;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /**
   * Whether even the run that recorded a proven refusal may continue after it: image activities retry by themselves.
   */
  readonly reopenOwn?: boolean;
  /** A person wants this very request sent again after any refusal that another run received. */
  readonly again?: boolean;
  /**
   * The calling attempt: a stalled attempt never continues past the answer that a later attempt of its activity
   * received.
   */
  readonly attempt?: Pick<ClaimIntent, 'activityId' | 'attemptAt'>;
}

export type SendAttemptDecision =
  | { readonly do: 'send' }
  | { readonly do: 'return'; readonly outcome: OutcomeRecord; readonly claim: ClaimIntent | null }
  /** A proven refusal, or a decision to send again: this send attempt is over and the next one may open. */
  | { readonly do: 'next_send_attempt' }
  | { readonly do: 'fenced' }
  | { readonly do: 'pending'; readonly claim: ClaimIntent }
  /** Another request, which was or may have been accepted, holds the key; `view` contains its records. */
  | { readonly do: 'conflict'; readonly view: SendAttemptView };

/** What the records of one send attempt mean for a caller that wants to send in it. Pure: the proof of create-once walks it. */
export function decideSendAttempt(view: SendAttemptView, asker: SendAttemptAsker): SendAttemptDecision {
  const { claim } = view;
  const outcome = view.outcome && notOfTheFuture(view.outcome, asker.now);
  if (claim?.kind === 'fence') return { do: 'fenced' };
  // A file that can no longer be read has no hash: nothing is sent anyway, and the first outcome is worth more.
  const [held, asked] = [claim?.fingerprint ?? null, asker.fingerprint];
  const isOther = held !== null && asked !== null && held !== asked;
  const isOver = outcome !== null && mayGoPast(claim, outcome, asker, isOther);
  // A decision about the other request does not apply to this one.
  if (isOther) return isOver && !view.resolution ? { do: 'next_send_attempt' } : { do: 'conflict', view };
  if (claim !== null && view.resolution && !isPaid(outcome?.answer)) {
    const { answer, at } = view.resolution;
    return answer === null
      ? { do: 'next_send_attempt' }
      : { do: 'return', outcome: { v: 1, nonce: claim.nonce, at, answer }, claim };
  }
  if (outcome !== null) return isOver ? { do: 'next_send_attempt' } : { do: 'return', outcome, claim };
  return claim === null ? { do: 'send' } : { do: 'pending', claim };
}

/**
 * Whether the caller may continue past an answer. A corrected request continues past any refusal; the same request
 * only past those that may end by themselves, or when a person wants it. The run that got the refusal stays at it.
 */
function mayGoPast(
  claim: ClaimIntent | null,
  { answer }: OutcomeRecord,
  asker: SendAttemptAsker,
  isOther: boolean,
): boolean {
  const isOwn = claim !== null && claim.runId === asker.runId;
  const mayReopen =
    asker.reopenOwn === true ? !(isOwn && isOvertaken(claim, asker)) : claim !== null && !isOwn;
  const isPassable = isOther || (asker.again === true && !isOwn) ? isRefusal : isReopenable;
  return mayReopen && isPassable(answer, asker.now);
}

/** Whether a later attempt of the same activity has sent: its answer may have ended the call. */
function isOvertaken({ activityId, attemptAt }: ClaimIntent, { attempt }: SendAttemptAsker): boolean {
  // A missing time is never later.
  const sentAt = (time: string | undefined) => new Date(time ?? NaN).getTime();
  return activityId === attempt?.activityId && sentAt(attemptAt) > sentAt(attempt.attemptAt);
}

/**
 * Whether a caller that may not continue past this send attempt by itself may follow one that did. A sender with an
 * intent beyond it knew that nothing was accepted here, although the record of that was lost; or its clock says that
 * a Retry-After is over; or a person wanted the refused request, or one after another request of unknown fate, sent
 * again.
 */
export function mayFollow(view: SendAttemptView, asker: SendAttemptAsker): boolean {
  if (view.resolution?.decision === 'resubmit' && !isPaid(view.outcome?.answer)) return true;
  const inTime = decideSendAttempt(view, { ...asker, now: Infinity, again: true }).do;
  return inTime === 'next_send_attempt' || inTime === 'pending';
}

/**
 * Whether this send attempt is over for a workflow that begins in a later one. A record of another workflow may be news, in
 * a journal that lacks what this one was told: its Retry-After is waited for (C8.7), unless a clock is wrong.
 */
export function isBehind(
  { claim, outcome, resolution }: SendAttemptView,
  { workflowId, now }: { readonly workflowId: string | null; readonly now: number },
): boolean {
  if (claim === null || claim.kind === 'fence') return true;
  if (resolution) return resolution.decision === 'resubmit';
  const isOwn = claim.workflowId === workflowId;
  if (outcome === null) return isOwn && !isPlaceholder(claim);
  return isRefusal(outcome.answer, isOwn || Date.parse(outcome.at) > now ? Infinity : now);
}

/**
 * Whether an answer is a purchase. A known purchase overrides every decision: a late id is never given up for another
 * purchase. A late refusal does not: it would hide what was adopted, or bought in the next send attempt, since the
 * decision.
 */
export function isPaid(answer: RecordedAnswer | undefined): boolean {
  return answer?.outcome === 'created' || answer?.outcome === 'completed';
}

/**
 * Whether this send attempt may have cost something: it was bought, or its fate is unknown and it was not declared lost.
 * A decision to send again leaves its fate unknown.
 */
export function mayHaveCost(view: SendAttemptView): boolean {
  if (isPaid(view.outcome?.answer)) return true;
  if (!isOpenFate(view)) return false;
  const { resolution } = view;
  return !resolution || resolution.decision === 'resubmit' || isPaid(resolution.answer ?? undefined);
}

/**
 * Whether the payer of this send attempt was charged for it: it was bought, its fate was open, or the service
 * validated its request and refused it, whatever was decided since.
 */
export function wasCharged(view: SendAttemptView): boolean {
  return isPaid(view.outcome?.answer) || isOpenFate(view) || isValidatedRefusal(view);
}

/**
 * Whether money may be owed for this send attempt: {@link mayHaveCost}, or the service validated its request and
 * refused it (C7.10).
 */
export function mayBeOwed(view: SendAttemptView): boolean {
  return mayHaveCost(view) || isValidatedRefusal(view);
}

function isValidatedRefusal({ outcome }: SendAttemptView): boolean {
  return outcome?.answer.outcome === 'rejected' && isValidated(outcome.answer);
}

/** Whether a person may decide: a send of this send attempt may have been accepted, or what was paid for is lost. */
export function isOpenFate({ claim, outcome }: SendAttemptView): boolean {
  return claim?.kind === 'intent' && (outcome === null || isOpenAnswer(outcome.answer));
}

/** Whether the fate is open and not decided. */
export function isUndecided(view: SendAttemptView): boolean {
  return isOpenFate(view) && !view.resolution;
}

/** Whether a recorded answer needs a person's decision. */
export function isOpenAnswer(answer: RecordedAnswer): boolean {
  return answer.outcome === 'unconfirmed' || answer.outcome === 'results_lost';
}

/** Whether a recorded answer proves that nothing was accepted, and no Retry-After is pending (C8.7). */
export function isRefusal(answer: RecordedAnswer, now: number): boolean {
  switch (answer.outcome) {
    case 'not_sent':
      return true;
    case 'refused_for_now':
    case 'rejected':
      return (answer.notBefore ?? null) === null || Date.parse(answer.notBefore as string) <= now;
    default:
      return false;
  }
}

/** Whether the same request can succeed after a refusal: a person mends credentials and quota (C7.1). */
export function isReopenable(answer: RecordedAnswer, now: number): boolean {
  if (!isRefusal(answer, now)) return false;
  return answer.outcome !== 'rejected' || isTemporary(answer.reason);
}
