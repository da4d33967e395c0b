import { type IdempotencyPolicy } from './create-policy';
import { type Money } from './money';
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

/** Identifies a creation, and its log. Equal keys of different namespaces are distinct. */
export interface JournalKey {
  /** Temporal namespace in which the workflow runs. */
  readonly namespace: string;
  /** The key as callers know it. Stores name records by its hash. */
  readonly creationKey: string;
}

interface Written {
  readonly v: 1;
  /** ISO 8601. */
  readonly at: string;
}

/** An activity, and the workflows that may request its call's key again. */
interface OfSender {
  /** Temporal namespace in which the activity runs. */
  readonly namespace: string;
  /** The sending activity, in all of its tries, including those after an operator's reset. */
  readonly sender: string;
  /** Null for a call outside of a workflow. */
  readonly workflowId: string | null;
  /** Workflows that may request this key again long after the workflow has ended: its parent and its root. */
  readonly ancestors?: readonly string[];
  /** Distinguishes a workflow's calls. */
  readonly activityId: string;
}

/** What is recorded about a request that was or may have been sent. Contains no prompt, key or address. */
interface SentRequest extends Written, JournalKey, OfSender {
  /** Random; one per request. */
  readonly nonce: string;
  readonly operation: PaidRequest['operation'];
  /** Null for a call outside of a workflow. */
  readonly runId: string | null;
  /** ISO 8601 time at which the server scheduled this try of the activity. A reset creates another try. */
  readonly attemptAt: string;
  /** Null if only another journal had it. Any request then counts as the same. */
  readonly fingerprint: string | null;
  /** Credential name and digest of the base address. */
  readonly account: string;
  readonly model: string;
  readonly durationSeconds: number | null;
  readonly resolution: string | null;
  /** `none`, or kinds with counts; null for an image. */
  readonly referenceMode: string | null;
}

/** Written before a byte is sent. From here on, a request may be in flight. */
export interface IntentEntry extends SentRequest {
  readonly kind: 'intent';
  /** SHA-256 of the request body, in lowercase hexadecimal. */
  readonly bodyHash: string;
  /** Estimate by the price rules at that time; null means unknown, never free. */
  readonly estimate: Money | null;
  /** The campaign batch that pays for it. */
  readonly payer?: string;
  /** Header value of every send under this intent, if its policy names a header. */
  readonly idempotencyKey: string;
  /** Set if the operator vouches for that key. */
  readonly idempotency?: HonouredKey;
  /** ISO 8601 time after which this sender has certainly finished: the maximum time of its request, plus a margin. */
  readonly sendWindowEnd: string;
}

/**
 * A send with an unknown outcome that this journal did not see, because it was replaced or restored from an older copy.
 */
export interface LostEntry extends SentRequest {
  readonly kind: 'lost';
  /** Why the journal does not have the request. */
  readonly cause: string;
}

/** The recorded result of one send. */
export type RecordedAnswer = Exclude<CreateVideoAnswer | ImageCallAnswer, { outcome: 'pending' }>;

/** A send's outcome, recorded by its sender, or `unconfirmed` if the sender can no longer be alive. */
export interface AnswerEntry extends Written {
  readonly kind: 'answer';
  /** Nonce of the send that was answered. */
  readonly nonce: string;
  /** The outcome of that send. */
  readonly answer: RecordedAnswer;
  /**
   * ISO 8601 time until which the send with the unknown outcome may be in flight again under its idempotency key. No
   * decision about it is made before then.
   */
  readonly repeatedUntil?: string;
}

/**
 * Proof that this sender has not sent, and never will in any of its tries. Its workflow may rely on what another one
 * has sent.
 */
export interface FenceEntry extends Written, OfSender {
  readonly kind: 'fence';
}

/**
 * The outcome of one send, decided by a person, by the task records, or by a worker that fetched lost images. Never
 * withdrawn.
 */
export interface DecisionEntry extends Written {
  readonly kind: 'decision';
  /** Nonce of the send whose evidence was shown. */
  readonly about: string;
  /** What was decided. */
  readonly decision: UnconfirmedDecision;
  /** Who decided. */
  readonly by: string;
  /** Why, in the words of that person. */
  readonly reason: string;
  /** The result of this decision; null after `resubmit`, which makes the key free again. */
  readonly answer: CreatedVideo | CompletedImages | RejectedCall | null;
}

/** One entry of a creation key's log (failure model: The log). */
export type LogEntry = IntentEntry | LostEntry | AnswerEntry | FenceEntry | DecisionEntry;

/** An entry that names its sender's workflows. */
export type SenderEntry = IntentEntry | LostEntry | FenceEntry;

export const isOfSender = (entry: LogEntry): entry is SenderEntry =>
  entry.kind === 'intent' || entry.kind === 'lost' || entry.kind === 'fence';

/**
 * Whether a log's entries name a sender's workflow and all of its ancestors, so that a prune queries the server about
 * each of them. Without a workflow, checks for the activity instead.
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

/** A request that was or may have been sent, and what is known about it. */
export interface Send {
  readonly sent: IntentEntry | LostEntry;
  /** Null while unknown. */
  readonly answer: AnswerEntry | null;
  /** Null while nobody has decided. */
  readonly decision: DecisionEntry | null;
}

/**
 * Whether an answer is a purchase. A known purchase overrides every decision: a late task id is never abandoned in
 * favor of another purchase.
 */
export function isPaid(answer: RecordedAnswer | null | undefined): answer is CreatedVideo | CompletedImages {
  return answer?.outcome === 'created' || answer?.outcome === 'completed';
}

/** Returns a send's purchase, from its reply or a decision; undefined if there is none. */
export function purchaseOf({ answer, decision }: Send): CreatedVideo | CompletedImages | undefined {
  return [answer?.answer, decision?.answer].find((one) => isPaid(one));
}

/** Whether an answer leaves a send for a person to decide: its outcome is unknown, or what was bought is lost. */
export function isOpenAnswer({ outcome }: RecordedAnswer): boolean {
  return outcome === 'unconfirmed' || outcome === 'results_lost';
}

const wasOpen = ({ answer }: Send): boolean => answer === null || isOpenAnswer(answer.answer);

/**
 * Whether this send may have cost money: it was bought, or its outcome is unknown and it was not declared lost. A
 * decision to send again leaves its outcome unknown.
 */
export function mayHaveCost(send: Send): boolean {
  return purchaseOf(send) !== undefined || (wasOpen(send) && send.decision?.decision !== 'declareLost');
}

/**
 * Whether this send's payer was charged for it: it was bought, its outcome was open, or the service validated its
 * request and refused it, whatever was decided since.
 */
export function wasCharged(send: Send): boolean {
  return purchaseOf(send) !== undefined || send.answer === null || isCharged(send.answer.answer);
}

export function isCharged(answer: RecordedAnswer): boolean {
  return isPaid(answer) || isOpenAnswer(answer) || isValidatedRefusal(answer);
}

/** Whether money may be owed for this send: {@link mayHaveCost}, or the service validated its request and refused it. */
export function mayBeOwed(send: Send): boolean {
  return mayHaveCost(send) || (send.answer !== null && isValidatedRefusal(send.answer.answer));
}

function isValidatedRefusal(answer: RecordedAnswer): boolean {
  return answer.outcome === 'rejected' && isValidated(answer);
}

/**
 * Whether a send that a person had repeated may have cost money. Whatever follows under the key, that amount may be
 * owed (C7.10).
 */
export function owesBefore({ sends }: { readonly sends: readonly Send[] }): boolean {
  return sends.some((send) => send.decision?.decision === 'resubmit' && mayHaveCost(send));
}

/**
 * Whether a send other than this one may also have cost money: one with an unknown outcome that was sent again by
 * decision.
 */
export function owesBesides({ sends }: { readonly sends: readonly Send[] }, at: number): boolean {
  return sends.some((send, index) => index !== at && mayHaveCost(send));
}

/** What an intent records about an idempotency key that the operator vouches for. */
interface HonouredKey {
  readonly header: string;
  /** ISO 8601: nothing is sent under the key after this. */
  readonly lastSendAt: string;
}

/**
 * The window counts from the intent, which is never later than the first request that the service received. A send
 * that begins at its end may be in flight for the whole budget of an exchange.
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

/** Returns until when a call with an unknown outcome may be sent again under its key; undefined if it may not. */
export function sameKeyUntil(
  { idempotency }: { readonly idempotency?: HonouredKey },
  evidence: CreateEvidence,
  now: number,
): string | undefined {
  if (idempotency === undefined || now > Date.parse(idempotency.lastSendAt)) return undefined;
  return mayBeAskedAgain(evidence) ? idempotency.lastSendAt : undefined;
}

/** Error kinds that the same request would get again, whatever was accepted. */
const LASTING: ReadonlySet<string> = new Set(['moderation', 'invalid', 'quota']);

/**
 * Lost, cut, stalled, unreadable, 408, in progress (409) or a server error: sending the same call again may settle the
 * outcome.
 */
function mayBeAskedAgain({ httpStatus, kind, code }: CreateEvidence): boolean {
  if (kind !== null && LASTING.has(kind)) return false;
  if (httpStatus === null || httpStatus < 300 || httpStatus === 408 || httpStatus >= 500) return true;
  return httpStatus === 409 && !/mismatch|different|reus/i.test(code ?? '');
}
