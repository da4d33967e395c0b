import { cancellationSignal, log } from '@temporalio/activity';
import {
  type CreateJournal,
  type SendAttemptView,
  type JournalKey,
  type RecordedAnswer,
  type Resolution,
  type ClaimIntent,
} from '../domain/journal';
import { type IdempotencyPolicy } from '../domain/create-policy';
import { type CreatedVideo, type UnconfirmedCall } from '../domain/paid-call';
import { honouredKey, sameKeyUntil } from '../domain/same-key';
import { indexCreated, type OpenedSendAttempt, recordOutcome } from './send-attempts';
import { mayBeAlive } from './await-sender';
import { reportIfMistake } from './mistakes';
import { unconfirmedAfterIntent } from './paid-answers';

/** A call of unknown fate, with the claim under whose key it was sent. */
export interface UnknownCall {
  readonly claim: ClaimIntent;
  readonly unknown: UnconfirmedCall;
}

/**
 * The call, if sending it again under the same key may reveal its fate; else undefined. It is not sent while another
 * sender may be alive: that one may prove that nothing was sent, and the next send attempt would be sent as well.
 */
export function unknownCall(opened: OpenedSendAttempt, now: number): UnknownCall | undefined {
  if (opened.do === 'pending')
    return mayBeAlive(opened.claim, now)
      ? undefined
      : askable(opened.claim, unconfirmedAfterIntent(opened.claim, opened.sendAttempt), now);
  if (opened.do !== 'return' || opened.claim === null) return undefined;
  const { answer } = opened.outcome;
  return answer.outcome === 'unconfirmed' ? askable(opened.claim, answer, now) : undefined;
}

function askable(claim: ClaimIntent, unknown: UnconfirmedCall, now: number): UnknownCall | undefined {
  const found = withSameKey(unknown, claim, now);
  return found.sameKeyUntil === undefined ? undefined : { claim, unknown: found };
}

/**
 * Adds until when the call may be sent again under its key. Never recorded, because a policy that vouches for the key
 * may be withdrawn.
 */
export function withSameKey(unknown: UnconfirmedCall, claim: ClaimIntent, now: number): UnconfirmedCall {
  const until = sameKeyUntil(claim, unknown.evidence, now);
  return until === undefined ? withoutSameKey(unknown) : { ...unknown, sameKeyUntil: until };
}

export interface SameCall {
  readonly account: string;
  readonly bodyHash: string;
  /** Milliseconds that the request may take. */
  readonly budgetMs: number;
  readonly idempotency: IdempotencyPolicy;
}

/**
 * One key identifies one request: another body or service would be another purchase or a refusal. So would a send after
 * the window of the key, which a request that may take longer by now must not exceed.
 */
export function isSameCall(
  { account, at, bodyHash, idempotency }: ClaimIntent,
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

/** One more send of a call of unknown fate. */
export interface RepeatedSend<Answer> {
  /** The call as it would be made now; null where it cannot be made here at this time. */
  readonly call: SameCall | null;
  readonly post: () => Promise<Answer>;
}

/**
 * Sends the call once more under its key (failure model: The journal), in its send attempt and with its intent: one
 * purchase, as long as the service honours the key. Returns the purchase, or that it is still unknown; never a refusal.
 */
export async function sendSameKey<Answer extends RecordedAnswer>(
  journal: CreateJournal,
  key: JournalKey,
  { claim, unknown }: UnknownCall,
  { call, post }: RepeatedSend<Answer>,
  now: () => number,
): Promise<Answer | UnconfirmedCall> {
  const unsent = { ...unknown, sent: false };
  if (call === null || cancellationSignal().aborted) return unsent;
  if (!isSameCall(claim, call, now())) return withoutSameKey(unsent);
  // Record the unknown fate before the send: a late sender of this send attempt then finds it and can no longer prove
  // that nothing was sent, which would open the next send attempt in addition to this purchase.
  const { recorded, standing } = await recordOutcome(journal, key, claim.nonce, withoutSameKey(unknown));
  if (!recorded || standing.outcome !== 'unconfirmed') return recorded ? (standing as Answer) : unsent;
  // The write may have taken long.
  if (askable(claim, unknown, now()) === undefined) return withoutSameKey(unsent);
  const answer = await post();
  switch (answer.outcome) {
    case 'not_sent':
      return unsent;
    case 'refused_for_now':
      return { ...unknown, sent: true, ...(answer.notBefore !== null && { notBefore: answer.notBefore }) };
    case 'rejected': {
      // The refusal concerns this send only: whether the earlier one was accepted is still unknown.
      const { httpStatus = null, error } = answer;
      const [kind, code] = [error?.kind ?? null, error?.code ?? null];
      const evidence = { ...unknown.evidence, cause: 'same_key_refused', httpStatus, kind, code };
      const later = answer.notBefore === undefined ? {} : { notBefore: answer.notBefore };
      return { ...withoutSameKey(unknown), ...later, sent: true, evidence };
    }
    case 'unconfirmed':
      return withSameKey(answer, claim, now());
    default:
      return (await recordPurchase(journal, key, claim, answer)) as Answer;
  }
}

function withoutSameKey({ sameKeyUntil: _, ...unknown }: UnconfirmedCall): UnconfirmedCall {
  return unknown;
}

/**
 * Records the result of a repeated send as a decision about the unknown call. A task that was adopted meanwhile takes
 * precedence; a different task is reported, and can be found by its id.
 */
async function recordPurchase(
  journal: CreateJournal,
  key: JournalKey,
  claim: ClaimIntent,
  bought: RecordedAnswer,
): Promise<RecordedAnswer> {
  if (bought.outcome !== 'created') return (await recordOutcome(journal, key, claim.nonce, bought)).standing;
  const answer = { ...bought, warnings: [...bought.warnings, ONE_KEY] };
  const resolution: Resolution = {
    v: 1,
    decision: 'adopt',
    by: 'idempotency key',
    reason: 'sent again under the same key, which the service is vouched to honour',
    at: new Date().toISOString(),
    answer,
  };
  try {
    const written = await journal.putResolution(key, answer.sendAttempt, resolution);
    await journal.forgetOpen({ ...key, sendAttempt: answer.sendAttempt }, claim.bodyHash);
    return written === 'won' ? answer : await first(journal, key, claim, answer);
  } catch (error) {
    // It is bought: a mistake may not lose it.
    reportIfMistake(error);
    log.warn('The outcome of a paid call could not be written to the journal', {
      creationKey: key.creationKey,
    });
    return answer;
  }
}

const ONE_KEY =
  'It was sent again under one idempotency key after a reply that was lost; the service is vouched to make one task of it.';

/** Two replies named a task: the one that was recorded first counts. */
async function first(
  journal: CreateJournal,
  key: JournalKey,
  claim: ClaimIntent,
  answer: CreatedVideo,
): Promise<CreatedVideo> {
  const standing = purchaseOf(await journal.read(key, answer.sendAttempt)) ?? answer;
  if (standing.video.taskId === answer.video.taskId) return standing;
  await indexCreated(journal, key, answer, claim);
  return notHonoured(standing, answer, key);
}

function purchaseOf({ outcome, resolution }: SendAttemptView): CreatedVideo | undefined {
  return [outcome?.answer, resolution?.answer].find((answer) => answer?.outcome === 'created');
}

/** One key, two tasks: the service does not honour the key, and both may have to be paid for. */
function notHonoured(standing: CreatedVideo, other: CreatedVideo, { creationKey }: JournalKey): CreatedVideo {
  const ids = { creationKey, adopted: standing.video.taskId, other: other.video.taskId };
  log.error('A service answered two task ids for one idempotency key (idempotency_not_honoured)', ids);
  const warning = `idempotency_not_honoured: the service answered two task ids for one idempotency key. ${ids.adopted} is adopted; ${ids.other} exists as well and may have cost. Withdraw "honoured" for this service and check its bill.`;
  return { ...standing, mayBeOwed: true, warnings: [...standing.warnings, warning] };
}

/** Adds to an unconfirmed answer until when it may be sent again under its key. */
export function withSameKeyOf<Answer extends RecordedAnswer>(
  answer: Answer,
  claim: ClaimIntent | null,
  now: number,
): Answer | UnconfirmedCall {
  return answer.outcome === 'unconfirmed' && claim !== null ? withSameKey(answer, claim, now) : answer;
}
