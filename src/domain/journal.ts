import { type CampaignLog, type CampaignRecord } from './campaign/book';
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

/** Whose send attempt it is. Keys of different namespaces never meet. */
export interface JournalKey {
  readonly namespace: string;
  readonly creationKey: string;
}

/** Written before the send: from here on a request of this send attempt may be on its way (failure model: The journal). No prompt, key or address. */
export interface ClaimIntent {
  readonly v: 1;
  readonly kind: 'intent';
  /** Random; tells one sender from another. */
  readonly nonce: string;
  readonly operation: PaidRequest['operation'];
  readonly namespace: string;
  readonly creationKey: string;
  readonly workflowId: string | null;
  readonly runId: string | null;
  readonly activityId: string;
  /** When the server scheduled this attempt of the activity, ISO 8601: tells attempts apart over a reset of the activity too. */
  readonly attemptAt?: string;
  /** Null where only another journal knew it: any request is then taken for the same. */
  readonly fingerprint: string | null;
  readonly bodyHash: string;
  readonly account: string;
  readonly model: string;
  readonly durationSeconds: number | null;
  readonly resolution: string | null;
  readonly referenceMode: string | null;
  readonly estimate: Money | null;
  /** The batch of a campaign out of whose money it is paid. */
  readonly payer?: string;
  /** Set where the call carries a key that its service is vouched to honour. */
  readonly idempotency?: HonouredKey;
  /** ISO 8601. */
  readonly at: string;
  /** ISO 8601 time after which this sender is certainly done: the time that its request may take, plus a margin. */
  readonly sendWindowEnd: string;
}

/** Taken instead of an intent: nobody can ever send in this send attempt, which proves "not sent". */
export interface ClaimFence {
  readonly v: 1;
  readonly kind: 'fence';
  readonly nonce: string;
  readonly at: string;
}

export type Claim = ClaimIntent | ClaimFence;

/** Whether an intent speaks of a send that it did not see: no body was hashed for it. */
export function isPlaceholder({ bodyHash }: ClaimIntent): boolean {
  return bodyHash === '';
}

/** An answer that is worth recording: what one send came to. */
export type RecordedAnswer = Exclude<CreateVideoAnswer | ImageCallAnswer, { outcome: 'pending' }>;

export interface OutcomeRecord {
  readonly v: 1;
  readonly nonce: string;
  readonly at: string;
  readonly answer: RecordedAnswer;
}

/**
 * What somebody decided about a send attempt whose fate was unknown: durable, one per send attempt, never taken back. Images that were
 * lost and are fetched after all are adopted by the worker itself.
 */
export interface Resolution {
  readonly v: 1;
  readonly decision: UnconfirmedDecision;
  /** Tells a repetition of one decision from a second decision. */
  readonly decisionId: string;
  /** Who decided: a person, the inspector of task records, or a worker that has fetched lost images after all. */
  readonly by: string;
  readonly reason: string;
  /** ISO 8601. */
  readonly at: string;
  /** What the send attempt came to by this decision; null after `resubmit`, which opens the next send attempt. */
  readonly answer: CreatedVideo | CompletedImages | RejectedCall | null;
}

export interface SendAttemptView {
  readonly claim: Claim | null;
  readonly outcome: OutcomeRecord | null;
  readonly resolution?: Resolution | null;
}

/** Where a task id came from. */
export interface TaskIndexEntry {
  readonly v: 1;
  readonly namespace: string;
  readonly creationKey: string;
  readonly sendAttempt: number;
  readonly workflowId: string | null;
  readonly runId: string | null;
  readonly video: VideoTask;
}

/** One send attempt in a journal. */
export interface SendAttemptKey extends JournalKey {
  readonly sendAttempt: number;
}

export interface JournalPage {
  readonly keys: readonly {
    readonly sendAttempts: readonly (SendAttemptView & { readonly sendAttempt: number })[];
  }[];
  /** Null after the last page. */
  readonly next: string | null;
}

/** Which journal this is, for the binding of a create task queue (architecture: Create). */
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
  /** The 32 random bytes that seal what may rest in it for nobody else to read. As old as its name, and never told. */
  sealingKey(): Promise<Uint8Array>;
  /** Keeps a mark for ever. A ledger that knows a mark which its journal lacks knows that the journal was set back. */
  putMark(mark: string): Promise<void>;
  /** Whether this mark was put, by whomever. Never `false` for one whose `putMark` has returned anywhere. */
  hasMark(mark: string): Promise<boolean>;
  read(key: JournalKey, sendAttempt: number): Promise<SendAttemptView>;
  /** Throws for a later send attempt where the one before it has no claim: the key was pruned since it was read. */
  putClaim(key: JournalKey, sendAttempt: number, claim: Claim): Promise<'won' | 'lost'>;
  putOutcome(key: JournalKey, sendAttempt: number, outcome: OutcomeRecord): Promise<'won' | 'lost'>;
  putResolution(key: JournalKey, sendAttempt: number, resolution: Resolution): Promise<'won' | 'lost'>;
  /**
   * Every creation key, page by page in a stable order. What is written meanwhile may be left out.
   * `after` is the `next` of the page before, null for the first.
   */
  scan(after: string | null, limit: number): Promise<JournalPage>;
  /** Send attempts with an intent for this very body that may still be open. A hint: what it names is read again. */
  findOpenByBody(bodyHash: string): Promise<readonly SendAttemptKey[]>;
  /** The fate of a send attempt is known: `findOpenByBody` need not name it any more. Best effort. */
  forgetOpen(place: SendAttemptKey, bodyHash: string): Promise<void>;
  indexTask(entry: TaskIndexEntry): Promise<void>;
  /** Entries for a task id: one per account that has had a task of this id. */
  findTask(taskId: string): Promise<readonly TaskIndexEntry[]>;
  /** Records of campaigns stand beside the creation keys: neither `scan` nor a prune meets them. */
  readRecord(log: CampaignLog, n: number): Promise<CampaignRecord | null>;
  putRecord(log: CampaignLog, n: number, record: CampaignRecord): Promise<'won' | 'lost'>;
  checkWritable(): Promise<void>;
}

/** Who asks: the same run that recorded an answer gets it back as it is; a later run may go on after a proven refusal. */
export interface SendAttemptAsker {
  readonly fingerprint: string | null;
  readonly runId: string | null;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** Whether even the run that recorded a proven refusal may go on after it: image activities retry by themselves. */
  readonly reopenOwn?: boolean;
  /** A person wants this very request sent again after whatever refusal another run was told. */
  readonly again?: boolean;
  /** The attempt that asks: one that stood still never goes past what a later attempt of its activity was told. */
  readonly attempt?: Pick<ClaimIntent, 'activityId' | 'attemptAt'>;
}

export type SendAttemptDecision =
  | { readonly do: 'send' }
  | { readonly do: 'return'; readonly outcome: OutcomeRecord; readonly claim: ClaimIntent | null }
  /** A proven refusal, or a decision to send again: this send attempt is over and the next one may open. */
  | { readonly do: 'next_send_attempt' }
  | { readonly do: 'fenced' }
  | { readonly do: 'pending'; readonly claim: ClaimIntent }
  /** Another request, that was or may have been accepted, holds the key; `view` is what is recorded of it. */
  | { readonly do: 'conflict'; readonly view: SendAttemptView };

/** What one send attempt's records mean for somebody who wants to send in it. Pure: the proof of create-once walks it. */
export function decideSendAttempt(view: SendAttemptView, asker: SendAttemptAsker): SendAttemptDecision {
  const { claim, outcome } = view;
  if (claim?.kind === 'fence') return { do: 'fenced' };
  // An unreadable file cannot be hashed any more: nothing is sent anyway, and the first outcome is worth more.
  const [held, asked] = [claim?.fingerprint ?? null, asker.fingerprint];
  const isOther = held !== null && asked !== null && held !== asked;
  const isOver = outcome !== null && mayGoPast(claim, outcome.answer, asker, isOther);
  // What somebody decided about it was not decided about a request that is asked for now.
  if (isOther) return isOver && !view.resolution ? { do: 'next_send_attempt' } : { do: 'conflict', view };
  if (claim !== null && view.resolution && !isPaid(outcome?.answer)) {
    const { answer, decisionId, at } = view.resolution;
    return answer === null
      ? { do: 'next_send_attempt' }
      : { do: 'return', outcome: { v: 1, nonce: decisionId, at, answer }, claim };
  }
  if (outcome !== null) return isOver ? { do: 'next_send_attempt' } : { do: 'return', outcome, claim };
  return claim === null ? { do: 'send' } : { do: 'pending', claim };
}

/**
 * A refusal is the answer to one request: the corrected one goes past any, the same one only past those that may end by
 * themselves, or by a person's word. The run that was refused was told so, and stays where it is.
 */
function mayGoPast(
  claim: ClaimIntent | null,
  answer: RecordedAnswer,
  asker: SendAttemptAsker,
  isOther: boolean,
): boolean {
  const isOwn = claim !== null && claim.runId === asker.runId;
  const mayReopen =
    asker.reopenOwn === true ? !(isOwn && isOvertaken(claim, asker)) : claim !== null && !isOwn;
  if (!mayReopen) return false;
  return isOther || (asker.again === true && !isOwn)
    ? isRefusal(answer, asker.now)
    : isReopenable(answer, asker.now);
}

/** Whether a later attempt of the same activity has sent: its answer may have ended the call. */
function isOvertaken({ activityId, attemptAt }: ClaimIntent, { attempt }: SendAttemptAsker): boolean {
  // A time that nobody noted is no later one.
  const sentAt = (time: string | undefined) => Date.parse(time ?? '');
  return activityId === attempt?.activityId && sentAt(attemptAt) > sentAt(attempt?.attemptAt);
}

/**
 * Whether an asker that may not go past this send attempt by itself may follow somebody who did: whoever has an intent beyond it
 * knew that nothing was accepted here, although the record of that was lost, or its clock says that a Retry-After is over,
 * or a person wanted the refused request sent again, or one after another request whose fate is unknown.
 */
export function mayFollow(view: SendAttemptView, asker: SendAttemptAsker): boolean {
  if (view.resolution?.decision === 'resubmit' && !isPaid(view.outcome?.answer)) return true;
  const inTime = decideSendAttempt(view, { ...asker, now: Infinity, again: true }).do;
  return inTime === 'next_send_attempt' || inTime === 'pending';
}

/**
 * Whether a send attempt is behind a workflow that begins in a later one: it was told that what stood here is over, and went on
 * itself where that was not recorded. What else stands here was put here since, in a journal that lacked what it was told.
 */
export function isBehind(
  { claim, outcome, resolution }: SendAttemptView,
  workflowId: string | null,
): boolean {
  if (claim === null || claim.kind === 'fence') return true;
  if (resolution) return resolution.decision === 'resubmit';
  if (outcome !== null) return isRefusal(outcome.answer, Infinity);
  return claim.workflowId === workflowId && !isPlaceholder(claim);
}

/**
 * A purchase that is known wins over every decision: an id that came late is never given up for another purchase. A
 * refusal that comes late is none: it would hide what was adopted, or bought in the next send attempt, since the decision.
 */
export function isPaid(answer: RecordedAnswer | undefined): boolean {
  return answer?.outcome === 'created' || answer?.outcome === 'completed';
}

/** Whether this send attempt may have cost something: it was bought, or nobody knows and nobody has declared it lost. */
export function mayHaveCost(view: SendAttemptView): boolean {
  if (isPaid(view.outcome?.answer)) return true;
  if (!isOpenFate(view)) return false;
  const { resolution } = view;
  return !resolution || isPaid(resolution.answer ?? undefined);
}

/** Whether whoever paid for this send attempt was charged for it: it was bought or its fate was open, whatever was decided since. */
export function wasCharged(view: SendAttemptView): boolean {
  return isPaid(view.outcome?.answer) || isOpenFate(view) || isValidatedRefusal(view);
}

/** Whether money may be owed for this send attempt: {@link mayHaveCost}, or the service validated its request and refused it (C7.10). */
export function mayBeOwed(view: SendAttemptView): boolean {
  return mayHaveCost(view) || isValidatedRefusal(view);
}

function isValidatedRefusal({ outcome }: SendAttemptView): boolean {
  return outcome?.answer.outcome === 'rejected' && isValidated(outcome.answer);
}

/** Whether a send may have been accepted in this send attempt and nobody knows, or what was paid for is lost: a person may decide. */
export function isOpenFate({ claim, outcome }: SendAttemptView): boolean {
  return claim?.kind === 'intent' && (outcome === null || isOpenAnswer(outcome.answer));
}

/** Whether a fate is open and nobody has decided about it. */
export function isUndecided(view: SendAttemptView): boolean {
  return isOpenFate(view) && !view.resolution;
}

/** Whether what was recorded leaves it to a person to say what follows. */
export function isOpenAnswer(answer: RecordedAnswer): boolean {
  return answer.outcome === 'unconfirmed' || answer.outcome === 'results_lost';
}

/** Whether a recorded answer proves that nothing was accepted, and the service wants no more time (C8.7). */
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

/** Whether asking for the same again can help after a refusal: a person mends credentials and quota (C7.1). */
export function isReopenable(answer: RecordedAnswer, now: number): boolean {
  if (!isRefusal(answer, now)) return false;
  return answer.outcome !== 'rejected' || MENDED_ELSEWHERE.has(answer.reason);
}

const MENDED_ELSEWHERE: ReadonlySet<RejectedCall['reason']> = new Set([
  'credentials',
  'quota',
  'capacity',
  'not_sent',
]);
