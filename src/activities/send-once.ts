import { isBug, otherwise } from '../domain/bug';
import { keepsNothing } from '../domain/journal';
import { given } from '../domain/json';
import {
  type IntentEntry,
  isNamed,
  isPaid,
  mayHaveCost,
  type RecordedAnswer,
  type Send,
} from '../domain/log-entries';
import { INTERNAL_ERROR, NOT_RECORDED } from '../domain/names';
import { type NotSent } from '../domain/paid-call';
import { decide, indexOfSend, type Licence, answeringSend } from '../domain/paid-log';
import { type Account } from '../settings/accounts';
import { ownProcess } from '../stores/files/this-machine';
import {
  type Admission,
  admitCall,
  kept,
  payerRefusal,
  prepareCall,
  stopsBeforeSend,
  unannounced,
} from './admission';
import { redactorsOf, reportMistake, sanitised } from './failures';
import {
  type AdmittedCall,
  fenceOf,
  intentOf,
  NO_ACCOUNT,
  type OpenedCall,
  type PaidSpec,
  type PostedCall,
  saysUnsent,
  type SendOnceResult,
  sentBy,
} from './intent';
import {
  append,
  giveUpOpen,
  indexCreated,
  journalDown,
  type KeyLog,
  openLog,
  recordAnswer,
  UNSURE,
  warnUnrecorded,
} from './key-log';
import {
  type AnswerBase,
  compared,
  conflictAnswer,
  fencedAnswer,
  missingAnswer,
  nextSend,
  pendingAnswer,
  recordedAnswer,
  unconfirmedBySend,
  unreadBase,
  UNDER_INTENT,
  unsentAnswer,
} from './paid-answers';
import { type Caller, isKnownModel, type PaidDeps, type Prepared } from './paid-context';
import { certainlyOverAt, mayBeAlive, recordedEnd, sendWindow, type SendWindow } from './send-window';
import { sendInSpan } from './spans';
import {
  isDecided,
  isOnlyUnknown,
  isUnseen,
  isUnsent,
  mayHaveUsedAnother,
  recordLostSend,
  sendSameKey,
  keepFirstPurchase,
  unknownCall,
  withSameKeyOf,
} from './unknown-sends';

/**
 * Sends at most once (failure model: The log): reads the log and decides, prepares, appends the intent as the next
 * entry, announces it, sends, appends the answer, then returns it. Every outcome is a value and is reported to
 * operators.
 */
export async function sendOnce(deps: PaidDeps, who: Caller, spec: PaidSpec): Promise<SendOnceResult> {
  let isKnown = false;
  const prepare = async (account: Account): Promise<Prepared> => {
    const prepared = await spec.prepare(account);
    isKnown = isKnownModel(prepared);
    return prepared;
  };
  const result = await sendByLog(deps, who, { ...spec, prepare }).catch((error: unknown) =>
    afterMistake(deps, who, spec, error),
  );
  const { answer, isRecorded = false } = result;
  // A lookup of what is recorded does not count as a call.
  if (answer.outcome === 'pending' || (spec.recordedOnly === true && !answer.sent)) return result;
  deps.events?.called({
    operation: spec.paid.operation,
    creationKey: spec.creationKey,
    account: deps.accounts.find(spec.account)?.name,
    model: spec.paid.request.model,
    isKnownModel: isKnown,
    answer,
    isRecorded,
    isRepeated: spec.sameKey !== undefined,
  });
  return result;
}

/**
 * Handles a bug. If nothing was sent under the call's key, the call ends, because a retry would hit the same bug. If
 * something may have been sent, here or by an earlier execution, the attempt fails, and the journal shows the outcome.
 */
async function afterMistake(
  deps: PaidDeps,
  who: Caller,
  spec: PaidSpec,
  error: unknown,
): Promise<SendOnceResult> {
  if (!isBug(error) || keepsNothing(deps.journal) || spec.recordedOnly === true) throw error;
  if (!(await isUnsent(deps, who, spec).catch(otherwise(false)))) throw error;
  reportMistake(error);
  const { message } = (await sanitised(error, () => redactorsOf(deps.accounts))) as Error;
  const final = { reason: INTERNAL_ERROR, permanent: true } as const;
  return ended(unsentAnswer(unreadBase(spec.account), INTERNAL_ERROR, `Nothing was sent. ${message}`, final));
}

async function sendByLog(deps: PaidDeps, who: Caller, spec: PaidSpec): Promise<SendOnceResult> {
  const { binding, knownTask } = spec.sender;
  const named = unreadBase(spec.account);
  // An earlier attempt may have sent a request: only the queue's journal shows that.
  const unread = (answer: NotSent): SendOnceResult =>
    who.isLater ? unanswered(named, spec.sender) : ended(answer);
  if (!binding.bound) return unread(unsentAnswer(named, 'journal_not_bound', binding.message));
  const call = await prepareCall(deps, spec);
  const key = { namespace: who.namespace, creationKey: spec.creationKey };
  const log = await openLog(deps.journal, key).catch(journalDown(named));
  if ('outcome' in log) return unread(log);
  const account = call.account?.name ?? named.account;
  const base = { ...named, account, ...nextSend(log.state) };
  // An earlier attempt bought this task but could not record it. Reconciliation will record it.
  if (knownTask !== null && log.state.bought === null) return unanswered(base, spec.sender);
  const opened = { deps, who, spec, binding, ...call, log, base };
  const result = (await fromRecords(opened)) ?? (await sendNew(opened));
  // A later attempt proves nothing about an earlier one that may still be running; reconciliation excludes the earlier
  // one first.
  const provesNothing = who.isLater && !spec.retries && spec.recordedOnly !== true && saysUnsent(result);
  return provesNothing ? unanswered(base, spec.sender) : result;
}

/** Only a reconciliation or a later attempt can determine the call's outcome. */
const unanswered = (
  base: AnswerBase,
  { announced, knownTask }: { readonly announced: string | null; readonly knownTask?: string | null },
): SendOnceResult =>
  ended(pendingAnswer(base, given({ announced: announced ?? undefined, taskId: knownTask ?? undefined })));

const ended = (answer: SendOnceResult['answer'], send: Send['sent'] | null = null): SendOnceResult => ({
  answer,
  send,
});

/** Returns the step that the log allows the call to take. */
function licenceOf({ who, spec, fingerprint, log }: OpenedCall): Licence {
  const { sender, runId, attemptAt } = who;
  const { retries, waitsItself, again } = spec;
  const now = who.now();
  return decide(log.state, { sender, runId, fingerprint, attemptAt, now, retries, waitsItself, again });
}

/** Returns the answer that the log contains for the call, or undefined if a send is allowed. */
async function fromRecords(opened: OpenedCall): Promise<SendOnceResult | undefined> {
  const { who, spec, log, base } = opened;
  const again = spec.sameKey === undefined ? undefined : unknownCall(log, spec.sameKey, who.now());
  if (again !== undefined) return sendAgain(opened, again);
  const licence = licenceOf(opened);
  const unseen = log.state.bought === null ? await unseenSend(opened) : undefined;
  if (unseen !== undefined) return unseen;
  switch (licence.do) {
    case 'conflict':
    case 'return':
    case 'pending':
      return bySend(opened, licence);
    case 'fenced':
      return ended(fencedAnswer(base));
    case 'send':
      if (spec.recordedOnly !== true) return undefined;
      return ended(notRecorded(opened));
  }
}

function notRecorded({ deps, base }: OpenedCall): NotSent {
  const cause = keepsNothing(deps.journal) ? 'no_journal' : NOT_RECORDED;
  return unsentAnswer(base, cause, 'Nothing is recorded under this key, and nothing was sent.');
}

/** Returns the answer that follows from a send in the log. */
async function bySend(
  opened: OpenedCall,
  { do: verdict, at }: Extract<Licence, { at: number }>,
): Promise<SendOnceResult> {
  const { spec, log, base, account, who } = opened;
  const send = log.state.sends[at] as Send;
  if (verdict === 'conflict') return ended(conflictAnswer(base, spec.keepsBooks === true ? send : undefined));
  if (verdict === 'pending') return inFlight(opened, at);
  const owing = mayHaveCost(send) ? { ...base, mayBeOwed: true as const } : base;
  // Already paid for or refused. Without the account, this request cannot be compared with another run's.
  if (account === undefined && send.sent.runId !== who.runId)
    return ended(await kept(missingAnswer(owing, NO_ACCOUNT)));
  // Another call's refusal soon expires, so relying on one is not recorded.
  const isRelied = mayHaveCost(send) || send.decision !== null;
  if (isRelied && !isNamed(log.entries, who)) return nameFirst(opened, owing);
  const recorded = { ...recordedAnswer(log.state, at, who.now()), sent: false };
  const whole =
    spec.recordedOnly === true || account === undefined
      ? undefined
      : await spec.complete?.({ account, base: { ...base, sendAttempt: at }, log, send, recorded });
  const unsent = { ...(whole ?? recorded), sent: false };
  const answer = isOnlyUnknown(log.state, at) ? withSameKeyOf(unsent, send.sent, who.now()) : unsent;
  return { answer, send: send.sent, isRecorded: true };
}

/**
 * First records that this workflow relies on another workflow's send, so that a prune keeps the log for a reset of
 * either workflow. Then decides again, because another entry may have been written first.
 */
async function nameFirst(opened: OpenedCall, owing: AnswerBase): Promise<SendOnceResult> {
  const { deps, who, log } = opened;
  const appended = await append(deps.journal, log, fenceOf(who)).catch(journalDown(owing));
  if ('outcome' in appended) return ended(appended);
  if (appended.is === 'unsure') return ended(journalDown(owing)(UNSURE));
  return overtaken({ ...opened, log: appended.log });
}

/** Handles a send in flight. An activity that retries gives up on the send once no sender can still be running. */
async function inFlight(opened: OpenedCall, at: number): Promise<SendOnceResult> {
  const { deps, who, spec, log, base, fingerprint } = opened;
  const { sent } = log.state.sends[at] as Send;
  // Without its own fingerprint, the request was not compared.
  const same = fingerprint === null ? { announced: sent.nonce } : compared(sent);
  if (!spec.retries || mayBeAlive(log.state, who.serverTime()))
    return ended(pendingAnswer({ ...base, sendAttempt: at }, same), sent);
  const known = await giveUpOpen(deps.journal, log);
  if (sent.sender !== who.sender) return overtaken({ ...opened, log: known });
  const { state } = known;
  // Its sender may just have recorded its answer.
  return ended(recordedAnswer(state, answeringSend(state, at), who.now()), sent);
}

/** If an earlier attempt may have sent under an intent that is missing from this log, that send is unconfirmed. */
async function unseenSend(opened: OpenedCall): Promise<SendOnceResult | undefined> {
  const { deps, who, spec, binding, log, base, account, fingerprint } = opened;
  const announcement = { sender: who.sender, announced: spec.sender.announced ?? spec.sameKey ?? null };
  const since = spec.recordedSince ?? (who.isLater ? who.scheduledAt : undefined);
  // If no heartbeat named a send, one that waits or is in flight is enough, and no lost send is recorded.
  const isHeld = log.state.open !== null || log.state.unknown !== null;
  const isTooOld = !isHeld && since !== undefined && mayHaveUsedAnother(since, binding.boundSince);
  const isUnseenSend = isUnseen(log, announcement);
  if (!isUnseenSend && !isTooOld) return undefined;
  const trace = isUnseenSend ? announcement : { ...announcement, announced: null };
  const isDecidedSince = isDecided(log, trace);
  // An activity that retries follows the decision. Otherwise, the next call does.
  if (isDecidedSince && spec.retries) return undefined;
  if (account === undefined || isDecidedSince) return unanswered(base, trace);
  const { operation, request } = spec.paid;
  const facts = { operation, ...spec.facts, model: request.model, account: account.name, fingerprint };
  const noted = await recordLostSend(deps.journal, log, { ...sentBy(who), ...facts, ...trace });
  return ended(noted.answer);
}

/** Sends an unconfirmed call again under its idempotency key, if it is the same call. */
async function sendAgain(
  opened: OpenedCall,
  unknown: NonNullable<ReturnType<typeof unknownCall>>,
): Promise<SendOnceResult> {
  const { deps, who, spec, account, prepared, policy, log } = opened;
  const { intent, at } = unknown;
  const base = { ...opened.base, sendAttempt: at, estimate: intent.estimate };
  const unsent = ended({ ...unknown.unknown, sent: false }, intent);
  if (account === undefined || prepared.kind !== 'ready' || !(await account.hasKey())) return unsent;
  const { budgetMs, body } = prepared;
  const window = windowFor(who, spec, budgetMs);
  if (stopsBeforeSend(base, who, window) !== undefined) return unsent;
  account.rate?.count();
  const call = { account: account.name, bodyHash: body.bodyHash, budgetMs, idempotency: policy.idempotency };
  const admitted = { ...opened, base, account, ready: prepared };
  const repeated = { call, until: recordedEnd(window), post: () => sendUnder(admitted, intent, window) };
  return ended(await sendSameKey(deps.journal, log, unknown, repeated, who.now), intent);
}

function windowFor(who: Caller, spec: PaidSpec, budgetMs: number): SendWindow {
  return sendWindow(who, { budgetMs, afterMs: spec.afterReplyMs });
}

/** Sends a call under a new intent and records its result. */
async function sendNew(opened: OpenedCall): Promise<SendOnceResult> {
  const refused = await admitCall(opened);
  if ('outcome' in refused) return ended(refused);
  const { admission, call } = refused;
  const { deps, who, spec, log, base, ready } = call;
  // Opened only now, because admission may have waited for a slow store.
  const window = windowFor(who, spec, ready.budgetMs);
  const intent = intentOf(call, window, given({ process: await ownProcess(), reserved: admission.reserved }));
  const appended = await append(deps.journal, log, intent).catch(journalDown(base));
  if ('outcome' in appended || appended.is === 'lost') await admission.unused();
  if ('outcome' in appended) return unlessLater(opened, appended);
  if (appended.is === 'lost') return overtaken({ ...opened, log: appended.log });
  const answer =
    appended.is === 'unsure'
      ? { ...journalDown(base)(UNSURE), ...UNDER_INTENT }
      : await sendUnder(call, intent, window);
  return recorded(call, admission, appended.log, intent, admission.answered(answer));
}

/** Returns "not sent", unless this is a later attempt: an earlier one may still be running. */
function unlessLater({ who, base }: OpenedCall, answer: NotSent): SendOnceResult {
  return who.isLater ? unanswered(base, { announced: null }) : ended(answer);
}

/** Handles a lost race: another entry was written first, so this call answers from the log and sends nothing. */
async function overtaken(opened: OpenedCall): Promise<SendOnceResult> {
  const { log, base } = opened;
  const licence = licenceOf(opened);
  if ('at' in licence) return bySend(opened, licence);
  const unsent = unsentAnswer({ ...base, sendAttempt: log.state.sends.length }, 'overtaken', OVERTAKEN);
  return unlessLater(opened, unsent);
}

/** By now, the call may be allowed to be sent again. */
const OVERTAKEN = 'Another call with this ID started first. This call has sent nothing.';

/** Sends nothing if too little time or budget is left, or if the server has not acknowledged the intent. */
async function sendUnder(
  { deps, who, spec, policy, base, account, ready }: AdmittedCall,
  intent: IntentEntry,
  window: SendWindow,
): Promise<RecordedAnswer> {
  const stopped =
    stopsBeforeSend(base, who, window) ?? (await payerRefusal(deps.journal, spec.payer, who, base));
  if (stopped !== undefined) return stopped;
  spec.sender.lastsUntil(certainlyOverAt(window));
  const acknowledgement = await spec.sender
    .announce(intent.nonce)
    .catch(otherwise('unacknowledged' as const));
  // A process that was suspended in the meantime may resume long after the server has given up on its attempt.
  const unsent = unannounced(base, acknowledgement) ?? stopsBeforeSend(base, who, window);
  if (unsent !== undefined) return unsent;
  const { paid } = spec;
  const options = { policy, idempotencyKey: intent.idempotencyKey, deadlineMs: window.budgetMs };
  const { sendAttempt } = base;
  const facts = { operation: paid.operation, account: account.name, model: paid.request.model, sendAttempt };
  const spanned = { ...facts, isKnownModel: isKnownModel(ready) };
  const exchange: PostedCall['exchange'] = (send) => sendInSpan(spanned, options, send);
  const call = { account, ready, intent, base: { ...base, sent: true }, window, exchange };
  return spec.post(call).catch((error: unknown) => {
    // It is unknown whether anything was sent, and an answer must be recorded.
    reportMistake(error);
    return unconfirmedBySend({ sent: intent }, base.sendAttempt, INTERNAL_ERROR);
  });
}

const TOO_SLOW = { recorded: false, fault: Object.assign(new Error(), { code: 'ETIMEDOUT' }) } as const;

/**
 * Records a send's answer before it is reported. If a purchase or decision was recorded in the meantime, that takes
 * precedence.
 */
async function recorded(
  { deps, who, spec, base }: AdmittedCall,
  admission: Admission,
  log: KeyLog,
  intent: IntentEntry,
  answer: RecordedAnswer,
): Promise<SendOnceResult> {
  const { nonce } = intent;
  const recording = recordAnswer(deps.journal, log, nonce, answer);
  // The server drops an answer that arrives later. The write continues anyway.
  const written = (await spec.sender.inTime(recording)) ?? TOO_SLOW;
  if (written.recorded) {
    const { state } = written.log;
    const own = indexOfSend(state, nonce);
    const at = answeringSend(state, own);
    // A purchase takes effect even after a decision; a refusal does not.
    const counts = at === own && (isPaid(answer) || state.sends[own]?.decision === null);
    const effective = counts ? answer : recordedAnswer(state, at);
    await admission.settle(state.sends[own] as Send);
    // If there are two tasks under one idempotency key, the one recorded first is used.
    if (state.bought === own && isPaid(answer))
      return ended(await keepFirstPurchase(deps.journal, written.log, answer), intent);
    // A decision allowed a second purchase: this task can also be found by its ID.
    if (!counts) await indexCreated(deps.journal, log.key, answer, intent);
    return ended(withSameKeyOf(effective, intent, who.now()), intent);
  }
  warnUnrecorded(spec.creationKey, written.fault);
  // A purchase is returned even if the journal fails. Everything else waits for the journal, because another call may
  // have bought something.
  if (isPaid(answer) || answer.outcome === 'results_lost') return ended(answer, intent);
  return ended(pendingAnswer(base, { ...compared(intent), unrecorded: { nonce, answer } }), intent);
}
