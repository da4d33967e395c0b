import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { cancellationSignal } from '@temporalio/activity';
import { otherwise, throwBug } from '../domain/bug';
import { fenceLog, ownerLog, type OwnerRecord } from '../domain/campaign/budget-book';
import { resolveCreatePolicy } from '../domain/create-policy';
import { type CreateJournal, writeOnce } from '../domain/journal';
import {
  type IntentEntry,
  isReplyBill,
  type JournalKey,
  type RecordedAnswer,
  type Send,
  wasCharged,
} from '../domain/log-entries';
import { type Money } from '../domain/money';
import { BATCH_CLOSED } from '../domain/names';
import { type NotSent, type RejectedCall } from '../domain/paid-call';
import { isUnknown } from '../domain/paid-log';
import { timeAfter } from '../service/time-left';
import { type Account } from '../settings/accounts';
import { clearOf } from './failures';
import { type Acknowledgement } from './heartbeat';
import { type AdmittedCall, fingerprintOf, NO_ACCOUNT, type OpenedCall, type PaidSpec } from './intent';
import { journalDown, openLog } from './key-log';
import {
  type AnswerBase,
  invalidAnswer,
  missingAnswer,
  rejectedAnswer,
  UNDER_INTENT,
  unsentAnswer,
} from './paid-answers';
import { type Caller, type MissingHere, type PaidDeps, preferred, type Prepared } from './paid-context';
import { type GatedCall, type StandingRefusal } from './refusal-gate';
import { isTooLate, mayBeAlive, type SendWindow } from './send-window';
import { reserveUnderLimits } from './spend-book';

/**
 * Returns "not sent" if the worker is shutting down, the call was canceled, or it is too late to start the send. Once
 * the send begins, nothing interrupts it (failure model: row 12).
 */
export function stopsBeforeSend(base: AnswerBase, who: Caller, window: SendWindow): NotSent | undefined {
  const { budgetMs } = window;
  // Retries in this run would not have more time either.
  if (who.startToCloseMs < budgetMs) {
    const final = { ...UNDER_INTENT, permanent: true };
    return unsentAnswer(base, 'execution_expires', tooShort(who, budgetMs), final);
  }
  if (isTooLate(window)) return unsentAnswer(base, 'own_deadline', TOO_LATE, UNDER_INTENT);
  return cancellationSignal().aborted
    ? unsentAnswer(base, 'worker_shutdown', STOPPED, UNDER_INTENT)
    : undefined;
}

const TOO_LATE = 'Preparing the request took too long, and nothing was sent.';
const STOPPED = 'The worker stopped before the request was sent.';

/** Minimum time that an activity needs in addition to its request, in milliseconds. */
const LEAST_MARGIN_MS = 20_000;

function tooShort({ startToCloseMs, scheduleToCloseMs }: Caller, budgetMs: number): string {
  const [given, needed, least] = [startToCloseMs, budgetMs, budgetMs + LEAST_MARGIN_MS].map(
    (ms) => `${ms / 1000} s`,
  );
  // The server caps both timeouts at the time left for the execution. If they differ, the activity's own timeout is too
  // short.
  return startToCloseMs < scheduleToCloseMs || scheduleToCloseMs === 0
    ? `This activity's startToCloseTimeout is ${given}, but the service may take ${needed} to answer, so nothing was sent. Set startToCloseTimeout to ${least} or more.`
    : `The workflow would time out before the service had ${needed} to answer, so nothing was sent. Give the workflow a longer execution or run timeout, and give your own activity a scheduleToCloseTimeout of at least ${least}.`;
}

const NO_KEY: MissingHere = {
  cause: 'no_key',
  reason: 'credentials',
  message:
    "This worker has no key for the account (MEDIA_API_KEY, MEDIA_API_KEY_FILE or the account's keyFile in MEDIA_ACCOUNTS), and nothing was sent. Give the worker a key. The call then continues automatically.",
};

/**
 * How long a worker waits before it refuses a call that it cannot serve, in milliseconds. A worker that refused
 * immediately would take most of the calls.
 */
const UNSERVED_MS = 1_000;

export async function kept<Answer>(answer: Answer): Promise<Answer> {
  await setTimeout(UNSERVED_MS, undefined, { signal: cancellationSignal() }).catch(otherwise(undefined));
  return answer;
}

/**
 * Returns the reason for not sending a request whose intent the server does not know: if the journal were lost, no
 * trace of the request would remain.
 */
export function unannounced(base: AnswerBase, acknowledgement: Acknowledgement): NotSent | undefined {
  if (acknowledgement === 'acknowledged') return undefined;
  return acknowledgement === 'stopped'
    ? unsentAnswer(base, 'worker_shutdown', CANCELLED, UNDER_INTENT)
    : unsentAnswer(base, 'server_not_notified', NOT_ACKNOWLEDGED, UNDER_INTENT);
}

const CANCELLED = 'The call was canceled or paused before the request was sent.';
const NOT_ACKNOWLEDGED =
  'The Temporal server did not acknowledge the call before the request, and nothing was sent.';

/**
 * Returns the reason a batch's budget must not pay for a request whose intent has been written, or undefined if it can.
 * Closing a batch writes the batch's fence before it reads the intents, so the close sees every request that passes
 * this check. The owner is recorded first, so that the close also finds the run of a request that may still be sent.
 */
export async function payerRefusal(
  journal: CreateJournal,
  payer: string | undefined,
  { namespace, runId }: Pick<Caller, 'namespace' | 'runId'>,
  base: AnswerBase,
): Promise<NotSent | undefined> {
  if (payer === undefined) return undefined;
  try {
    if (!(await ownsBatch(journal, namespace, payer, runId)))
      return unsentAnswer(base, BATCH_CLOSED, NOT_THE_OWNER, UNDER_INTENT);
    const fence = await journal.readRecord(fenceLog(namespace, payer), 0);
    return fence === null ? undefined : unsentAnswer(base, BATCH_CLOSED, CLOSED, UNDER_INTENT);
  } catch (error) {
    return { ...journalDown(base)(error), ...UNDER_INTENT };
  }
}

const CLOSED =
  'The campaign batch that would have paid for this call is closed, and nothing was sent. The campaign gives the row to another batch.';
const NOT_THE_OWNER =
  'Another run of this campaign batch is spending its budget, so nothing was sent: a batch that was reset does not know what was spent before. The campaign gives the row to another batch.';

/**
 * Whether this run is allowed to spend a batch's budget. Only the first run that opens one of the batch's pages or
 * sends a request for the batch is allowed to.
 */
export async function ownsBatch(
  journal: CreateJournal,
  namespace: string,
  payer: string,
  runId: string | null,
): Promise<boolean> {
  const run = runId ?? '';
  const log = ownerLog(namespace, payer);
  const owner = (await journal.readRecord(log, 0)) as OwnerRecord | null;
  if (owner !== null) return owner.run === run;
  const record: OwnerRecord = { v: 1, kind: 'owner', run, at: new Date().toISOString() };
  return ((await writeOnce(journal, log, 0, record)) as OwnerRecord | null)?.run === run;
}

/** Permanently stops all sends that a batch would pay for. */
export async function fenceBatch(journal: CreateJournal, namespace: string, payer: string): Promise<void> {
  const log = fenceLog(namespace, payer);
  if ((await journal.readRecord(log, 0)) !== null) return;
  const at = new Date().toISOString();
  await writeOnce(journal, log, 0, { v: 1, kind: 'fence', nonce: randomUUID(), at });
}

/** An account's permission to send. The caller must always report the result of the send. */
export interface Admission {
  /** Where the estimate was reserved, for the intent. */
  readonly reserved: IntentEntry['reserved'];
  /** Adds the time of the next retry to a refusal that is still in effect. */
  answered<Answer extends RecordedAnswer>(answer: Answer): Answer;
  /** Reports that nothing was sent and no intent was written. */
  unused(): Promise<void>;
  /**
   * Counts what the send cost under its limits, once its answer is recorded: nothing, if it was not charged, or the
   * service's own amount, if its reply has one.
   */
  settle(send: Send): Promise<void>;
}

/**
 * Returns the reason the call cannot be sent now, or what is needed to send it. Writes nothing until all checks have
 * passed.
 */
export async function admitCall(
  opened: OpenedCall,
): Promise<NotSent | RejectedCall | { readonly admission: Admission; readonly call: AdmittedCall }> {
  const { deps, spec, account, prepared, base: before } = opened;
  if (prepared.kind === 'unavailable')
    return unsentAnswer(before, 'configuration_unavailable', prepared.message);
  if (account === undefined || prepared.kind === 'missing')
    return kept(missingAnswer(before, prepared.kind === 'missing' ? prepared.missing : NO_ACCOUNT));
  if (prepared.kind !== 'ready') return invalidAnswer(before, prepared.issue);
  const base = { ...before, estimate: prepared.estimate };
  const call = { ...opened, account, ready: prepared, base };
  const refused =
    (costsMore(prepared.estimate, spec.agreedPrice) ? priceChangedAnswer(base) : undefined) ??
    ((await account.hasKey()) ? undefined : await kept(missingAnswer(base, NO_KEY))) ??
    (await acquirePermit(account, base)) ??
    (await openElsewhere(call));
  if (refused !== undefined) return refused;
  const admission = await admit(deps, account, spec, base);
  return 'outcome' in admission ? admission : { admission, call };
}

function costsMore(estimate: Money | null, agreed: number | null | undefined): boolean {
  return typeof agreed === 'number' && (estimate === null || estimate.microUnits > agreed);
}

/** Finds an unconfirmed call with the same body under another key. A person decides whether to buy it again. */
async function openElsewhere(call: AdmittedCall): Promise<NotSent | RejectedCall | undefined> {
  if (call.spec.refuseWhileUnconfirmed !== true) return undefined;
  const { base, deps, log, account, who } = call;
  const sent = { bodyHash: call.ready.body.bodyHash, account: account.name };
  const open = await otherOpenCall(deps.journal, log.key, sent, who.now()).catch(journalDown(base));
  if (open === undefined || 'outcome' in open) return open;
  const message = `The same request was sent under ID ${JSON.stringify(open.creationKey)} and its outcome is unknown: it may have been accepted and cost money. This call was not sent. Settle that call first (adopt, declare lost or resubmit).`;
  return rejectedAnswer(base, 'unconfirmed_open', message, { field: 'creationKey' });
}

/** Finds an unconfirmed call with the same body and account, under another key in the namespace. */
export async function otherOpenCall(
  journal: CreateJournal,
  { namespace, creationKey }: JournalKey,
  { bodyHash, account }: Pick<IntentEntry, 'bodyHash' | 'account'>,
  now: number,
): Promise<JournalKey | undefined> {
  for (const place of await journal.findOpenByBody(bodyHash)) {
    if (place.creationKey === creationKey || place.namespace !== namespace) continue;
    const { state } = await openLog(journal, place);
    const isOver = state.bought === null && !mayBeAlive(state, now);
    const waits = (send: Send, at: number): boolean => isUnknown(send) || (isOver && state.open === at);
    const isSame = ({ sent }: Send): boolean =>
      sent.kind === 'intent' && sent.bodyHash === bodyHash && sent.account === account;
    if (state.sends.some((send, at) => isSame(send) && waits(send, at))) return place;
  }
  return undefined;
}

/** Waits until the account's rate limit permits a call. Returns an answer if that takes too long. */
async function acquirePermit({ rate }: Account, base: AnswerBase): Promise<NotSent | undefined> {
  if (rate === undefined) return undefined;
  const permit = rate.take();
  if ('inMs' in permit) {
    // A worker that stops during the wait sends nothing.
    if (permit.inMs > 0)
      await setTimeout(permit.inMs, undefined, { signal: cancellationSignal() }).catch(otherwise(undefined));
    return undefined;
  }
  const heldUntil = timeAfter(permit.heldForMs);
  const message = `The rate limit of account ${base.account ?? ''} (createsPerSecond) does not allow another call yet, and nothing was sent. The call will be retried at ${heldUntil}.`;
  return unsentAnswer(base, 'account_rate', message, { heldUntil });
}

/**
 * Checks the account's standing refusals and its spend limit. If either one holds the call back, returns the answer
 * that says so.
 */
async function admit(
  { gate, journal, events }: Pick<PaidDeps, 'gate' | 'journal' | 'events'>,
  account: Account,
  {
    paid: { operation, request },
    creationKey: call,
    labels,
  }: Pick<PaidSpec, 'paid' | 'creationKey' | 'labels'>,
  base: AnswerBase,
): Promise<Admission | NotSent | RejectedCall> {
  // A client returns the same redactor until a key changes. A key change in another account only costs an extra probe.
  const key = await account.client.redactor();
  const gated: GatedCall = { call, account: account.name, operation, model: request.model, key };
  const pass = await gate.enter(gated);
  if ('probeInMs' in pass) return heldAnswer(base, pass, request.model);
  const reservation = await reserveUnderLimits({ journal, events }, account, labels, base).catch(
    journalDown(base),
  );
  if ('outcome' in reservation) {
    pass.unused();
    return reservation;
  }
  const { reserved, correct } = reservation;
  return {
    reserved: reserved.length > 0 ? reserved : undefined,
    answered: (answer) => pass.answered(answer),
    unused: async () => {
      pass.unused();
      await correct(null);
    },
    settle: async (send) => {
      const { bill } = send;
      if (bill === null) {
        if (!wasCharged(send)) await correct(null);
        // Any other bill was counted when it was recorded.
      } else if (isReplyBill(bill)) await correct(bill);
    },
  };
}

/**
 * Returns the answer for a call that a standing refusal holds back: nothing was recorded, and the call is retried at
 * the next probe.
 */
export function heldAnswer(base: AnswerBase, refusal: StandingRefusal, model: string): NotSent {
  const { scope, reason, httpStatus, message, since, probeInMs } = refusal;
  const heldUntil = timeAfter(probeInMs);
  const account = `account ${base.account ?? ''}`;
  const whose = scope === 'account' ? account : `${account} for model ${JSON.stringify(model)}`;
  const status = httpStatus === null ? '' : ` with HTTP ${httpStatus}`;
  const text = `Since ${since} the service has rejected calls from ${whose}${status}: ${message} Nothing was sent. From time to time, a single request checks whether calls are still rejected. The next check is at ${heldUntil}.`;
  return unsentAnswer(base, 'refusal_stands', text, { reason, heldUntil });
}

/**
 * Returns the answer for a call that has become more expensive. A campaign can run for days while the live
 * configuration changes, and the campaign's budget is based on the planned prices.
 */
function priceChangedAnswer(base: AnswerBase): RejectedCall {
  return rejectedAnswer(
    { ...base, sent: false },
    'price_changed',
    'The call costs more now than when it was planned, or its price is no longer known. Nothing was sent. Plan it again.',
  );
}

/** Prepares a call's account, body, price and fingerprint, as far as this worker can. Writes and sends nothing. */
export async function prepareCall(
  deps: PaidDeps,
  spec: PaidSpec,
): Promise<Pick<OpenedCall, 'account' | 'prepared' | 'fingerprint' | 'policy'>> {
  const account = deps.accounts.find(spec.account);
  // An error here is a store fault or a bug in this package. Nothing was sent, and the answer reports the error.
  const prepared: Prepared =
    account === undefined
      ? { kind: 'missing', missing: NO_ACCOUNT, fileHashes: null }
      : await spec.prepare(account).catch((error: unknown) => unprepared(account, error));
  const fingerprint =
    account === undefined || prepared.fileHashes === null
      ? null
      : fingerprintOf(spec.paid, account, prepared.fileHashes);
  const policy = resolveCreatePolicy(deps.policy, account?.policy, preferred(prepared), spec.policy);
  return { account, prepared, fingerprint, policy };
}

/** Reports a fault in a store or a file. */
async function unprepared(account: Account, error: unknown): Promise<Prepared> {
  throwBug(error);
  const reason = error instanceof Error ? error.message : String(error);
  const message = `The request could not be prepared on this worker: ${clearOf([await account.client.redactor()])(reason)}`;
  return { kind: 'unavailable', message, fileHashes: new Map() };
}
