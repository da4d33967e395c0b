import { type IdempotencyPolicy } from './create-policy';
import { type Labels, type Money, type ReservedIn } from './money';
import { isValidated } from './outcome';
import {
  type CompletedImages,
  type CreatedVideo,
  type CreateEvidence,
  type CreateVideoAnswer,
  type ImageCallAnswer,
  type RejectedCall,
} from './paid-call';
import { type PaidRequest } from './request';
import { CREATE_TIMEOUTS } from './timeouts';
import { type UnconfirmedDecision } from './unconfirmed-decision';

/** Identifies a creation and its log. The same key in two namespaces identifies two creations. */
export interface JournalKey {
  /** Temporal namespace where the workflow runs. */
  readonly namespace: string;
  /** The key that callers use. Stores name their records after its hash. */
  readonly creationKey: string;
}

interface Written {
  readonly v: 1;
  /** ISO 8601. */
  readonly at: string;
}

/** The sending activity, and the workflows that might use the key of its call again. */
interface OfSender {
  /** Temporal namespace where the activity runs. */
  readonly namespace: string;
  /** Identifies the sending activity in all of its attempts, including those after an operator's reset. */
  readonly sender: string;
  /** Null for a call outside a workflow. */
  readonly workflowId: string | null;
  /** The workflow's parent and root, which may use this key again long after the workflow has ended. */
  readonly ancestors?: readonly string[];
  /** Distinguishes the calls of one workflow. */
  readonly activityId: string;
}

/** The record of a request that was or may have been sent. Contains no prompts, API keys or URLs. */
interface SentRequest extends Written, JournalKey, OfSender {
  /** Random and unique to the request. */
  readonly nonce: string;
  readonly operation: PaidRequest['operation'];
  /** Null for a call outside a workflow. */
  readonly runId: string | null;
  /** When the server scheduled this attempt of the activity, ISO 8601. A reset creates another attempt. */
  readonly attemptAt: string;
  /** Null if only another journal contained it. Any request is then treated as the same request. */
  readonly fingerprint: string | null;
  /** Credential name and digest of the base address. */
  readonly account: string;
  readonly model: string;
  readonly durationSeconds: number | null;
  readonly resolution: string | null;
  /** `none`, or kinds with counts; null for an image. */
  readonly referenceMode: string | null;
}

/** Written before the first byte is sent. From then on, a request may be in flight. */
export interface IntentEntry extends SentRequest {
  readonly kind: 'intent';
  /** SHA-256 of the request body, in lowercase hexadecimal. */
  readonly bodyHash: string;
  /** Estimate according to the price rules at that time; null means unknown, never free. */
  readonly estimate: Money | null;
  /** The campaign batch that pays for it. */
  readonly payer?: string;
  /** The call's labels. Absent if it has none. */
  readonly labels?: Labels;
  /** Where its estimate was reserved, and its bills count. Absent without a limit. */
  readonly reserved?: readonly ReservedIn[];
  /** Value of the idempotency header in every send under this intent, if the policy names a header. */
  readonly idempotencyKey: string;
  /** Set if the operator guarantees that the service honors that key. */
  readonly idempotency?: HonouredKey;
  /** The request's time limit plus a margin, ISO 8601. By this time, the sender has certainly finished. */
  readonly sendWindowEnd: string;
  /** The sending process (stores/files/this-machine). Absent if the operating system does not reveal enough. */
  readonly process?: { readonly space: string; readonly pid: number; readonly identity: string };
}

/**
 * A send with an unknown outcome that is missing from this journal, because the journal was replaced or restored from
 * an older copy.
 */
export interface LostEntry extends SentRequest {
  readonly kind: 'lost';
  /** Why the journal does not contain the request. */
  readonly cause: string;
}

/** The recorded result of one send. */
export type RecordedAnswer = Exclude<CreateVideoAnswer | ImageCallAnswer, { outcome: 'pending' }>;

/** A send's outcome, recorded by its sender, or `unconfirmed` if the sender can no longer be running. */
export interface AnswerEntry extends Written {
  readonly kind: 'answer';
  /** Nonce of the answered send. */
  readonly nonce: string;
  /** The outcome of that send. */
  readonly answer: RecordedAnswer;
  /**
   * Until this time (ISO 8601), a send with an unknown outcome may be in flight again under its idempotency key. No
   * decision about the send is accepted before then.
   */
  readonly repeatedUntil?: string;
}

/**
 * Proof that none of this sender's attempts has sent anything or ever will. The sender's workflow can then rely on
 * another sender's purchase.
 */
export interface FenceEntry extends Written, OfSender {
  readonly kind: 'fence';
}

/**
 * The outcome of one send, as decided by a person, by the task records, or by a worker that fetched lost images. Never
 * withdrawn.
 */
export interface DecisionEntry extends Written {
  readonly kind: 'decision';
  /** Nonce of the send that the decision is about. */
  readonly about: string;
  /** The decision. */
  readonly decision: UnconfirmedDecision;
  /** The person who decided. */
  readonly by: string;
  /** The reason, in that person's words. */
  readonly reason: string;
  /** The resulting answer; null after `resubmit`, which allows the key to be sent again. */
  readonly answer: CreatedVideo | CompletedImages | RejectedCall | null;
}

/** What one send cost, according to a bill. Changes nothing about what may be sent or what was bought. */
export interface BillEntry extends Written, Money {
  readonly kind: 'bill';
  /** Nonce of the billed send. */
  readonly about: string;
  /** A safe integer; 0 if the send was not charged, negative for a credit. */
  readonly microUnits: number;
  /** Who says so: the service's own reply, an invoice, or a person. */
  readonly source: 'service' | 'invoice' | 'person';
  /** Identifies the bill within its source, for example an invoice number. A send has one bill per reference. */
  readonly reference: string;
  /** The person or program that recorded the bill. */
  readonly by: string;
  /** The reason, in that person's words. */
  readonly reason: string;
}

/** One entry of a creation key's log (failure model: The log). */
export type LogEntry = IntentEntry | LostEntry | AnswerEntry | FenceEntry | DecisionEntry | BillEntry;

/** An entry that names its sender's workflows. */
export type SenderEntry = IntentEntry | LostEntry | FenceEntry;

export const isOfSender = (entry: LogEntry): entry is SenderEntry =>
  entry.kind === 'intent' || entry.kind === 'lost' || entry.kind === 'fence';

/**
 * Whether a log's entries name a sender's workflow and all of its ancestors, so that a prune asks the server about all
 * of them. For a call outside a workflow, checks for the activity instead.
 */
export function isNamed(
  log: readonly LogEntry[],
  { workflowId, ancestors = [], activityId }: Omit<OfSender, 'sender'>,
): boolean {
  const entries = log.filter(isOfSender);
  if (workflowId === null)
    return entries.some((entry) => entry.workflowId === null && entry.activityId === activityId);
  const ids = new Set(entries.flatMap((entry) => [entry.workflowId, ...(entry.ancestors ?? [])]));
  return [workflowId, ...ancestors].every((id) => ids.has(id));
}

/** A request that was or may have been sent, with its answer, decision and bill. */
export interface Send {
  readonly sent: IntentEntry | LostEntry;
  /** Null while unknown. */
  readonly answer: AnswerEntry | null;
  /** Null until a person decides. */
  readonly decision: DecisionEntry | null;
  /** The newest bill in the log, or else the amount in the send's reply; null until there is one. */
  readonly bill: BillEntry | null;
  /** Set by a reader that has proof that the sending process has ended. Its request may still be accepted. */
  readonly senderEnded?: true;
}

/** Returns the price that was expected for a send; null means unknown, never free. */
export function estimateOfSend({ sent }: Pick<Send, 'sent'>): Money | null {
  return sent.kind === 'intent' ? sent.estimate : null;
}

/** Returns the billed amount of a send, or null without a bill. */
export function billedFor({ bill }: Pick<Send, 'bill'>): Money | null {
  return bill === null ? null : { microUnits: bill.microUnits, currency: bill.currency };
}

/** Returns the best known cost of a send that {@link mayBeOwed}: its bill, or else its estimate. Null means unknown. */
export function costOf(send: Pick<Send, 'sent' | 'bill'>): Money | null {
  return billedFor(send) ?? estimateOfSend(send);
}

/**
 * Returns how much more than its charge a payer owes for a send according to its bill, in micro-units; negative for a
 * cheaper bill. A charge is the estimate of a send that {@link wasCharged}, and is given back once a person has declared
 * the send lost. A send in flight counts as charged until its outcome is known.
 * @param isFree whether a record says that the charge was given back
 */
export function billedBeyondCharge(send: Send, isFree: boolean): number {
  const [bill, estimate] = [billedFor(send), estimateOfSend(send)];
  if (send.answer === null && send.decision === null) return 0;
  // Without an estimate in the same currency, nothing can be compared.
  if (bill === null || bill.currency !== estimate?.currency) return 0;
  const isCharged = wasCharged(send) && !isFree && !isDeclaredUnaccepted(send);
  return bill.microUnits - (isCharged ? estimate.microUnits : 0);
}

const IN_REPLY = {
  source: 'service',
  reference: 'reply',
  by: 'service',
  reason: 'amount in the reply',
} as const;

/** Whether a bill is the amount in the send's own reply, which no entry repeats. */
export const isReplyBill = ({ source, reference }: BillEntry): boolean =>
  source === IN_REPLY.source && reference === IN_REPLY.reference;

/** Returns the bill that a send's own reply contains, or null if there is none. */
export function billInReply({ nonce, at, answer }: AnswerEntry): BillEntry | null {
  if (!('actual' in answer) || answer.actual === undefined) return null;
  return { v: 1, kind: 'bill', about: nonce, ...answer.actual, ...IN_REPLY, at };
}

/**
 * Whether an answer is a purchase. A known purchase overrides every decision, so a task id that arrives late is never
 * abandoned in favor of another purchase.
 */
export function isPaid(answer: RecordedAnswer | null | undefined): answer is CreatedVideo | CompletedImages {
  return answer?.outcome === 'created' || answer?.outcome === 'completed';
}

/** Returns a send's purchase, from its reply or a decision, or undefined if there is none. */
export function purchaseOf({ answer, decision }: Send): CreatedVideo | CompletedImages | undefined {
  return [answer?.answer, decision?.answer].find((one) => isPaid(one));
}

/** Whether an answer requires a person's decision: the outcome is unknown, or the purchased results are lost. */
export function isOpenAnswer({ outcome }: RecordedAnswer): boolean {
  return outcome === 'unconfirmed' || outcome === 'results_lost';
}

const wasOpen = ({ answer }: Send): boolean => answer === null || isOpenAnswer(answer.answer);

/** Whether a person has declared that the send was not accepted. Lost results were paid for, whatever is decided. */
export function isDeclaredUnaccepted({ answer, decision }: Send): boolean {
  return decision?.decision === 'declareLost' && answer?.answer.outcome !== 'results_lost';
}

/**
 * Whether this send may have cost money: it resulted in a purchase, its results were lost, or its outcome is unknown and
 * it was not declared lost. A decision to send again leaves the outcome unknown.
 */
export function mayHaveCost(send: Send): boolean {
  return purchaseOf(send) !== undefined || (wasOpen(send) && !isDeclaredUnaccepted(send));
}

/**
 * Whether this send is charged to its payer: it resulted in a purchase, its outcome was open, or the service validated
 * its request and refused it. Later decisions do not change that.
 */
export function wasCharged(send: Send): boolean {
  if (purchaseOf(send) !== undefined || send.answer === null) return true;
  const { answer } = send.answer;
  return isOpenAnswer(answer) || isValidatedRefusal(answer);
}

/**
 * Whether money may be owed for this send: {@link mayHaveCost}, or the service validated its request and refused it.
 */
export function mayBeOwed(send: Send): boolean {
  return mayHaveCost(send) || (send.answer !== null && isValidatedRefusal(send.answer.answer));
}

function isValidatedRefusal(answer: RecordedAnswer): boolean {
  return answer.outcome === 'rejected' && isValidated(answer);
}

/**
 * Whether a send that a person decided to repeat may have cost money. That amount may be owed, whatever happens next
 * under the key (C7.10).
 */
export function owesBefore({ sends }: { readonly sends: readonly Send[] }): boolean {
  return sends.some((send) => send.decision?.decision === 'resubmit' && mayHaveCost(send));
}

/**
 * Whether a send other than this one may also have cost money, for example one with an unknown outcome that a person
 * decided to repeat.
 */
export function owesBesides({ sends }: { readonly sends: readonly Send[] }, at: number): boolean {
  return sends.some((send, index) => index !== at && mayHaveCost(send));
}

/** An intent's record of an idempotency key that the service honors, according to the operator. */
interface HonouredKey {
  readonly header: string;
  /** Nothing is sent under the key after this time (ISO 8601). */
  readonly lastSendAt: string;
}

/**
 * Returns the idempotency record for an intent. The window starts at the intent, which is never later than the first
 * request that the service received. The last send must start early enough to finish its entire HTTP budget within the
 * window.
 */
export function honouredKey(
  policy: IdempotencyPolicy,
  intentAt: number,
  httpBudgetMs: number,
): HonouredKey | undefined {
  if (policy === 'off' || !('honoured' in policy)) return undefined;
  const { header, windowSeconds } = policy;
  const last = intentAt + windowSeconds * 1000 - httpBudgetMs - CREATE_TIMEOUTS.zombieMarginMs;
  return { header, lastSendAt: new Date(last).toISOString() };
}

/** Returns the time until which a call with an unknown outcome may be resent under its key, or undefined if never. */
export function sameKeyUntil(
  { idempotency }: { readonly idempotency?: HonouredKey },
  evidence: CreateEvidence,
  now: number,
): string | undefined {
  if (idempotency === undefined || now > Date.parse(idempotency.lastSendAt)) return undefined;
  return mayBeAskedAgain(evidence) ? idempotency.lastSendAt : undefined;
}

/** Error kinds that the same request would get again, whether or not it was accepted. */
const LASTING: ReadonlySet<string> = new Set(['moderation', 'invalid', 'quota']);

/**
 * Whether resending the same call may reveal the outcome: the reply was lost, cut off, stalled or unreadable, or was a
 * 408, an "in progress" 409 or a server error.
 */
function mayBeAskedAgain({ httpStatus, kind, code }: CreateEvidence): boolean {
  if (kind !== null && LASTING.has(kind)) return false;
  if (httpStatus === null || httpStatus < 300 || httpStatus === 408 || httpStatus >= 500) return true;
  return httpStatus === 409 && !/mismatch|different|reus/i.test(code ?? '');
}
