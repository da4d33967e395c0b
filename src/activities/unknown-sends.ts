import { log as logger } from '@temporalio/activity';
import { otherwise } from '../domain/bug';
import { causeOfUnseen, PERHAPS, type SenderTrace } from '../domain/create-heartbeat';
import { type IdempotencyPolicy } from '../domain/create-policy';
import { type CreateJournal } from '../domain/journal';
import { given } from '../domain/json';
import {
  type AnswerEntry,
  honouredKey,
  type IntentEntry,
  type JournalKey,
  type LostEntry,
  type RecordedAnswer,
  sameKeyUntil,
  type Send,
} from '../domain/log-entries';
import { type CreatedVideo, type RejectedCall, type UnconfirmedCall } from '../domain/paid-call';
import { isUnknown, type KeyState, answeringSend } from '../domain/paid-log';
import {
  append,
  appendOrRetry,
  indexCreated,
  type KeyLog,
  openLog,
  recordAnswer,
  warnUnrecorded,
} from './key-log';
import { recordedAnswer } from './paid-answers';
import { type Caller, type PaidDeps } from './paid-context';
import { mayBeAlive } from './send-window';
import { type Sender } from './sender';

/**
 * Whether a heartbeat named an intent that is missing from this log: the intent was written to another journal, or this
 * journal has lost it.
 */
export function isUnseen(
  { entries }: KeyLog,
  { sender, announced }: Omit<SenderTrace, 'scheduledAt'>,
): boolean {
  if (announced === null) return false;
  const intents = entries.filter((entry): entry is IntentEntry => entry.kind === 'intent');
  if (intents.some(({ nonce }) => nonce === announced)) return false;
  // A heartbeat that names only a possible intent may have replaced one that named an actual intent. If this sender has
  // an intent in the log, it is that intent.
  return !(announced.startsWith(PERHAPS) && intents.some((intent) => intent.sender === sender));
}

/**
 * Whether a worker with an earlier journal may have run the activity, because it was scheduled before every worker knew
 * this journal's binding. This journal then proves nothing about the activity.
 */
export function mayHaveUsedAnother(scheduledAt: string, boundSince: string): boolean {
  // An unreadable time proves nothing.
  return !(Date.parse(scheduledAt) >= Date.parse(boundSince));
}

/** What is known about a send that is missing from every log. */
type LostSend = Omit<LostEntry, 'v' | 'kind' | 'at' | 'nonce' | 'cause' | keyof JournalKey> &
  Pick<SenderTrace, 'announced'>;

/** Identifies a send by its announced intent, or by its sender if no heartbeat named an intent. */
const nameOf = ({ sender, announced }: Pick<SenderTrace, 'sender' | 'announced'>): string =>
  announced ?? sender;

/** Whether the lost send was already recorded and a person has decided about it. */
export function isDecided({ state }: KeyLog, trace: Pick<SenderTrace, 'sender' | 'announced'>): boolean {
  return state.sends.some(({ sent, decision }) => sent.nonce === nameOf(trace) && decision !== null);
}

/**
 * Records a lost send, which this journal did not see. Nothing is sent under the key until a person has decided about
 * it. The lost send is recorded even if another send is unconfirmed, because a decision applies to only one send.
 */
export async function recordLostSend(
  journal: CreateJournal,
  log: KeyLog,
  { announced, ...sent }: LostSend,
): Promise<{ readonly log: KeyLog; readonly nonce: string; readonly answer: RecordedAnswer }> {
  const { sends } = log.state;
  const name = nameOf({ sender: sent.sender, announced });
  const before = sends.findLastIndex((send) => send.sent.nonce === name);
  const isNoted = before !== -1 && sends[before]?.decision === null;
  // A sender that no heartbeat named may have sent again since the decision about its first send.
  const nonce = before === -1 || isNoted ? name : `${name}#${sends.length}`;
  const cause = causeOfUnseen(announced);
  const at = new Date().toISOString();
  const noted = isNoted
    ? log
    : await appendOrRetry(journal, log, { v: 1, kind: 'lost', nonce, ...log.key, ...sent, cause, at });
  return { log: noted, nonce, answer: recordedAnswer(noted.state, isNoted ? before : sends.length) };
}

/** A call whose request could not be read or prepared. */
export interface KnownCall {
  readonly creationKey: string;
  readonly sender: Sender;
  readonly sameKey?: string | undefined;
  readonly recordedSince?: string | undefined;
}

/** Whether no earlier attempt and no earlier call can have sent a request. */
export function isFirstTry(
  { isLater }: Pick<Caller, 'isLater'>,
  { sender: { announced }, sameKey, recordedSince }: KnownCall,
): boolean {
  return !isLater && announced === null && sameKey === undefined && recordedSince === undefined;
}

/**
 * Whether no request that may have been accepted was sent under a call's key, with this journal or another one.
 * @throws when the journal cannot be read: what it may contain must never be reported as unsent (C4.4c)
 */
export async function isUnsent(
  { journal }: Pick<PaidDeps, 'journal'>,
  who: Caller,
  call: KnownCall,
): Promise<boolean> {
  const { creationKey, sender, sameKey, recordedSince } = call;
  const { binding, announced } = sender;
  if (!binding.bound) return isFirstTry(who, call);
  const log = await openLog(journal, { namespace: who.namespace, creationKey });
  const { open, unknown, bought } = log.state;
  if (open !== null || unknown !== null || bought !== null) return false;
  const since = recordedSince ?? who.scheduledAt;
  return (
    isFirstTry(who, call) ||
    (!mayHaveUsedAnother(since, binding.boundSince) &&
      !isUnseen(log, { sender: who.sender, announced: announced ?? sameKey ?? null }))
  );
}

/** An unconfirmed call, with the intent under whose key it was sent. */
interface UnknownCall {
  readonly at: number;
  readonly intent: IntentEntry;
  readonly unknown: UnconfirmedCall;
}

/**
 * Returns the named call if sending it again under the same key may reveal its outcome. It is not sent as long as
 * another sender may still be running: that sender may prove that nothing was sent, which would free the key.
 */
export function unknownCall({ state }: KeyLog, sendId: string, now: number): UnknownCall | undefined {
  const at = state.unknown ?? state.open;
  const send = at === null ? undefined : state.sends[at];
  if (at === null || send?.sent.kind !== 'intent' || send.sent.nonce !== sendId) return undefined;
  if (state.bought !== null || (state.open === at && mayBeAlive(state, now))) return undefined;
  if (!isOnlyUnknown(state, at)) return undefined;
  const recorded = recordedAnswer(state, at);
  if (recorded.outcome !== 'unconfirmed') return undefined;
  const unknown = withSameKey(recorded, send.sent, now);
  return unknown.sameKeyUntil === undefined ? undefined : { at, intent: send.sent, unknown };
}

/** Whether no other send under the key is waiting for a decision. The service may have accepted such a send. */
export function isOnlyUnknown({ sends }: KeyState, at: number): boolean {
  return !sends.some((send, index) => index !== at && isUnknown(send));
}

/**
 * Adds the time until which the call may be sent again under its key. This time is never recorded, because the policy
 * that vouches for the key may be withdrawn.
 */
export function withSameKey(unknown: UnconfirmedCall, intent: IntentEntry, now: number): UnconfirmedCall {
  const until = sameKeyUntil(intent, unknown.evidence, now);
  return until === undefined ? withoutSameKey(unknown) : { ...unknown, sameKeyUntil: until };
}

function withoutSameKey({ sameKeyUntil: _, ...unknown }: UnconfirmedCall): UnconfirmedCall {
  return unknown;
}

/** The call as it would be made now. */
interface SameCall {
  readonly account: string;
  readonly bodyHash: string;
  /** Maximum duration of the request, in milliseconds. */
  readonly budgetMs: number;
  readonly idempotency: IdempotencyPolicy;
}

/**
 * Whether the call is the same request within the key's window. A key identifies a single request: with another body or
 * service, it would be another purchase or be refused. The same applies after the key's window, which even a slow
 * request must not exceed.
 */
export function isSameCall(
  { account, at, bodyHash, idempotency }: IntentEntry,
  call: SameCall,
  now: number,
): boolean {
  const honoured = honouredKey(call.idempotency, Date.parse(at), call.budgetMs);
  return (
    account === call.account &&
    bodyHash === call.bodyHash &&
    honoured !== undefined &&
    honoured.header === idempotency?.header &&
    now <= Date.parse(honoured.lastSendAt)
  );
}

/** A repeated send of an unconfirmed call. */
interface RepeatedSend {
  /** The call as it would be made now. */
  readonly call: SameCall;
  /** When the send has certainly ended, in milliseconds since the Unix epoch. */
  readonly until: number;
  readonly post: () => Promise<RecordedAnswer>;
}

/**
 * Sends the call again under its key (failure model: The log), using its own intent. This is a single purchase if the
 * service honors the key. Returns the purchase, or that the call is still unconfirmed, but never a refusal.
 */
export async function sendSameKey(
  journal: CreateJournal,
  opened: KeyLog,
  { at, intent, unknown }: UnknownCall,
  { call, until, post }: RepeatedSend,
  now: () => number,
): Promise<RecordedAnswer> {
  const unsent = { ...unknown, sent: false };
  if (!isSameCall(intent, call, now())) return withoutSameKey(unsent);
  // As with any send, creating the next entry in the log is what permits the request: an earlier decision stops it, and
  // a later decision waits for it. The outcome is recorded as unknown, so that a late sender for this intent frees
  // nothing.
  const renewed: AnswerEntry = {
    v: 1,
    kind: 'answer',
    nonce: intent.nonce,
    at: new Date(now()).toISOString(),
    answer: withoutSameKey(unknown),
    repeatedUntil: new Date(until).toISOString(),
  };
  const appended = await append(journal, opened, renewed).catch(otherwise(null));
  if (appended === null || appended.is === 'unsure') return unsent;
  const { log } = appended;
  if (appended.is === 'lost') {
    const existing = { ...recordedAnswer(log.state, answeringSend(log.state, at)), sent: false };
    return withSameKeyOf(existing, intent, now());
  }
  // The write may have taken a long time.
  if (unknownCall(log, intent.nonce, now()) === undefined) return withoutSameKey(unsent);
  const answer = await post();
  switch (answer.outcome) {
    case 'not_sent':
      return unsent;
    case 'refused_for_now':
      return { ...unknown, sent: true, ...(answer.notBefore !== null && { notBefore: answer.notBefore }) };
    case 'rejected':
      return refusedUnderSameKey(unknown, answer);
    case 'unconfirmed':
      return withSameKey(answer, intent, now());
    default:
      return recordPurchase(journal, log, intent, answer);
  }
}

/**
 * Returns an unconfirmed answer: the refusal applies only to this send, and it is still unknown whether the earlier
 * send was accepted.
 */
function refusedUnderSameKey(
  unknown: UnconfirmedCall,
  { httpStatus, error, notBefore }: RejectedCall,
): UnconfirmedCall {
  const [kind, code] = [error?.kind ?? null, error?.code ?? null];
  const evidence = {
    ...unknown.evidence,
    cause: 'same_key_refused',
    httpStatus: httpStatus ?? null,
    kind,
    code,
  };
  return { ...withoutSameKey(unknown), ...given({ notBefore }), sent: true, evidence };
}

const ONE_KEY =
  'The call was sent again under the same idempotency key after a reply was lost. The service is expected to create only one task for that key.';

/**
 * Records what the repeated send bought. If a task was recorded or adopted in the meantime, that task takes precedence.
 * A different task is reported, and can be found by its ID.
 */
async function recordPurchase(
  journal: CreateJournal,
  log: KeyLog,
  { nonce }: IntentEntry,
  bought: RecordedAnswer,
): Promise<RecordedAnswer> {
  const answer =
    bought.outcome === 'created' ? { ...bought, warnings: [...bought.warnings, ONE_KEY] } : bought;
  const now = await openLog(journal, log.key).catch(otherwise(log));
  if (now.state.bought !== null) return keepFirstPurchase(journal, now, answer);
  const { recorded, log: longer, fault } = await recordAnswer(journal, now, nonce, answer);
  if (!recorded) warnUnrecorded(log.key.creationKey, fault);
  return recorded && longer.state.bought !== null ? keepFirstPurchase(journal, longer, answer) : answer;
}

/**
 * Keeps the task that was recorded first. A second task shows that the service does not honor the key, and both may
 * have to be paid for.
 */
export async function keepFirstPurchase(
  journal: CreateJournal,
  log: KeyLog,
  answer: RecordedAnswer,
): Promise<RecordedAnswer> {
  const existing = recordedAnswer(log.state, log.state.bought as number);
  if (existing.outcome !== 'created' || answer.outcome !== 'created') return existing;
  if (existing.video.taskId === answer.video.taskId) return { ...existing, sent: answer.sent };
  await indexCreated(journal, log.key, answer, null);
  return notHonoured(existing, answer, log.key.creationKey);
}

function notHonoured(existing: CreatedVideo, other: CreatedVideo, creationKey: string): CreatedVideo {
  const ids = { creationKey, adopted: existing.video.taskId, other: other.video.taskId };
  logger.error('The service returned two task IDs for one idempotency key (idempotency_not_honoured)', ids);
  const warning = `idempotency_not_honoured: the service returned two task IDs for one idempotency key. ${ids.adopted} was adopted; ${ids.other} also exists and may have cost money. Remove "honoured" from the policy for this service and check its bill.`;
  return { ...existing, mayBeOwed: true, warnings: [...existing.warnings, warning] };
}

/** Adds the time until which an unconfirmed call may be sent again under its key. */
export function withSameKeyOf(answer: RecordedAnswer, sent: Send['sent'], now: number): RecordedAnswer {
  return answer.outcome === 'unconfirmed' && sent.kind === 'intent' ? withSameKey(answer, sent, now) : answer;
}
