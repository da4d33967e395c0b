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
  /** Of Temporal, in which the workflow runs. */
  readonly namespace: string;
  /** As callers know it; stores name records by its hash. */
  readonly creationKey: string;
}

interface Written {
  readonly v: 1;
  /** ISO 8601. */
  readonly at: string;
}

/** An activity, and the workflows that may ask for the key of its call again. */
interface OfSender {
  /** Of Temporal, in which the activity runs. */
  readonly namespace: string;
  /** The activity that sends, in all of its tries: also those that an operator's reset hands out again. */
  readonly sender: string;
  /** Null for a call outside of a workflow. */
  readonly workflowId: string | null;
  /** Workflows that may ask for this key again when the workflow has long ended: its parent and its root. */
  readonly ancestors?: readonly string[];
  /** Distinguishes calls of one workflow. */
  readonly activityId: string;
}

/** What is kept of a request that was or may have been sent: no prompt, key or address. */
interface SentRequest extends Written, JournalKey, OfSender {
  /** Random; one for each request. */
  readonly nonce: string;
  readonly operation: PaidRequest['operation'];
  /** Null for a call outside of a workflow. */
  readonly runId: string | null;
  /** ISO 8601 time at which the server scheduled this try of the activity; a reset of it makes another one. */
  readonly attemptAt: string;
  /** Null where only another journal had it: any request then counts as the same. */
  readonly fingerprint: string | null;
  /** Credential name and digest of the base address. */
  readonly account: string;
  readonly model: string;
  readonly durationSeconds: number | null;
  readonly resolution: string | null;
  /** `none`, or kinds with counts; null for an image. */
  readonly referenceMode: string | null;
}

/** Written before a byte leaves: from here on a request may be in flight. */
export interface IntentEntry extends SentRequest {
  readonly kind: 'intent';
  readonly bodyHash: string;
  /** By the price rules of that moment; null means unknown, never free. */
  readonly estimate: Money | null;
  /** The campaign batch that pays for it. */
  readonly payer?: string;
  /** The value that every send under this intent carries, where its policy names a header. */
  readonly idempotencyKey: string;
  /** Set where the operator vouches for that key. */
  readonly idempotency?: HonouredKey;
  /** ISO 8601 time after which this sender is certainly done: the time that its request may take, plus a margin. */
  readonly sendWindowEnd: string;
}

/** A send that this journal did not see, because it was replaced or set back: of unknown fate. */
export interface LostEntry extends SentRequest {
  readonly kind: 'lost';
  readonly cause: string;
}

/** The recorded result of one send. */
export type RecordedAnswer = Exclude<CreateVideoAnswer | ImageCallAnswer, { outcome: 'pending' }>;

/** What became of a send: by its sender, or `unconfirmed` for one that can no longer be alive. */
export interface AnswerEntry extends Written {
  readonly kind: 'answer';
  readonly nonce: string;
  readonly answer: RecordedAnswer;
  /**
   * ISO 8601 time until which the send, of unknown fate, may be in flight once more under its idempotency key: no decision
   * is made about it before.
   */
  readonly repeatedUntil?: string;
}

/**
 * This sender never sends, in none of its tries: the proof that it has not sent. Its workflow may rely on what another
 * one has sent.
 */
export interface FenceEntry extends Written, OfSender {
  readonly kind: 'fence';
}

/**
 * The fate of one send, decided by a person, by the task records, or by a worker that fetched lost images. Never taken
 * back.
 */
export interface DecisionEntry extends Written {
  readonly kind: 'decision';
  /** The nonce of the send: the one whose evidence was shown. */
  readonly about: string;
  readonly decision: UnconfirmedDecision;
  readonly by: string;
  readonly reason: string;
  /** The result by this decision; null after `resubmit`, which makes the key free again. */
  readonly answer: CreatedVideo | CompletedImages | RejectedCall | null;
}

/** One entry of the log of a creation key (failure model: The log). */
export type LogEntry = IntentEntry | LostEntry | AnswerEntry | FenceEntry | DecisionEntry;

/** An entry that names the workflows of its sender. */
export type SenderEntry = IntentEntry | LostEntry | FenceEntry;

export const isOfSender = (entry: LogEntry): entry is SenderEntry =>
  entry.kind === 'intent' || entry.kind === 'lost' || entry.kind === 'fence';

/**
 * Whether the entries of a log name the workflow of a sender and all those above it, so that a prune asks the server about
 * each of them. Without a workflow its activity is meant.
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

/** A request that was or may have been sent, and what is known of it. */
export interface Send {
  readonly sent: IntentEntry | LostEntry;
  /** Null while nobody knows. */
  readonly answer: AnswerEntry | null;
  /** Null while nobody has decided. */
  readonly decision: DecisionEntry | null;
}

/**
 * Whether an answer is a purchase. A known purchase overrides every decision: a late id is never given up for another
 * purchase.
 */
export function isPaid(answer: RecordedAnswer | null | undefined): answer is CreatedVideo | CompletedImages {
  return answer?.outcome === 'created' || answer?.outcome === 'completed';
}

/** The purchase of a send, by its reply or by a decision; undefined where there is none. */
export function purchaseOf({ answer, decision }: Send): CreatedVideo | CompletedImages | undefined {
  return [answer?.answer, decision?.answer].find((one) => isPaid(one));
}

/** Whether an answer leaves a send to a decision: its fate is unknown, or what was bought is lost. */
export function isOpenAnswer({ outcome }: RecordedAnswer): boolean {
  return outcome === 'unconfirmed' || outcome === 'results_lost';
}

const wasOpen = ({ answer }: Send): boolean => answer === null || isOpenAnswer(answer.answer);

/**
 * Whether this send may have cost something: it was bought, or its fate is unknown and it was not declared lost. A
 * decision to send again leaves its fate unknown.
 */
export function mayHaveCost(send: Send): boolean {
  return purchaseOf(send) !== undefined || (wasOpen(send) && send.decision?.decision !== 'declareLost');
}

/**
 * Whether the payer of this send was charged for it: it was bought, its fate was open, or the service validated its
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

/** Whether a send may have cost that a person had sent again: whatever follows under the key, that may be owed (C7.10). */
export function owesBefore({ sends }: { readonly sends: readonly Send[] }): boolean {
  return sends.some((send) => send.decision?.decision === 'resubmit' && mayHaveCost(send));
}

/** Whether another send than this one may have cost as well: one of unknown fate that was sent again by decision. */
export function owesBesides({ sends }: { readonly sends: readonly Send[] }, at: number): boolean {
  return sends.some((send, index) => index !== at && mayHaveCost(send));
}

/** What an intent records of an idempotency key that the operator vouches for. */
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

/** Until when a call of unknown fate may be sent again under its key; undefined where it may not. */
export function sameKeyUntil(
  { idempotency }: { readonly idempotency?: HonouredKey },
  evidence: CreateEvidence,
  now: number,
): string | undefined {
  if (idempotency === undefined || now > Date.parse(idempotency.lastSendAt)) return undefined;
  return mayBeAskedAgain(evidence) ? idempotency.lastSendAt : undefined;
}

/** Error kinds that the same request gets again, whatever was accepted. */
const LASTING: ReadonlySet<string> = new Set(['moderation', 'invalid', 'quota']);

/** Lost, cut, stalled, unreadable, 408, in progress (409) or a server error: the same call may settle the fate. */
function mayBeAskedAgain({ httpStatus, kind, code }: CreateEvidence): boolean {
  if (kind !== null && LASTING.has(kind)) return false;
  if (httpStatus === null || httpStatus < 300 || httpStatus === 408 || httpStatus >= 500) return true;
  return httpStatus === 409 && !/mismatch|different|reus/i.test(code ?? '');
}
