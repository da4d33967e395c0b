import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { cancellationSignal } from '@temporalio/activity';
import { otherwise, throwBug } from '../domain/bug';
import { fenceLog, ownerLog, type OwnerRecord } from '../domain/campaign/budget-book';
import { resolveCreatePolicy } from '../domain/create-policy';
import { type CreateJournal, keepsNothing } from '../domain/journal';
import {
  type IntentEntry,
  isCharged,
  type JournalKey,
  type RecordedAnswer,
  type Send,
} from '../domain/log-entries';
import { formatMoney, type Money } from '../domain/money';
import { BATCH_CLOSED } from '../domain/names';
import { type NotSent, type RejectedCall } from '../domain/paid-call';
import { isUnknown } from '../domain/paid-log';
import { type PaidRequest } from '../domain/request';
import { msUntil, timeAfter } from '../service/time-left';
import { type Account, credentialOf } from '../settings/accounts';
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
import { type Reserved, spendBooksOf } from './spend-book';

/**
 * Returns "not sent" for a shutdown, a cancellation or a late start before the send; later nothing is cut off (failure
 * model: row 12).
 */
export function stopsBeforeSend(base: AnswerBase, who: Caller, window: SendWindow): NotSent | undefined {
  const { budgetMs } = window;
  // No retry of this run gets more time.
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

/** For what comes before and after the request, in milliseconds. */
const LEAST_MARGIN_MS = 20_000;

function tooShort({ startToCloseMs, scheduleToCloseMs }: Caller, budgetMs: number): string {
  const [given, needed, least] = [startToCloseMs, budgetMs, budgetMs + LEAST_MARGIN_MS].map(
    (ms) => `${ms / 1000} s`,
  );
  // The server limits both timeouts to the rest of an execution: where they differ, the activity's own one is too
  // short.
  return startToCloseMs < scheduleToCloseMs || scheduleToCloseMs === 0
    ? `startToCloseTimeout of this activity is ${given}, but the service may take ${needed} to answer, so nothing was sent. Set startToCloseTimeout to ${least} or more.`
    : `The workflow would expire before the service had ${needed} to answer, so nothing was sent. Give it a longer execution or run timeout, and an activity of your own at least ${least} of scheduleToCloseTimeout.`;
}

const NO_KEY: MissingHere = {
  cause: 'no_key',
  reason: 'credentials',
  message:
    'This worker has no key for the account (MEDIA_API_KEY, MEDIA_API_KEY_FILE or its keyFile in MEDIA_ACCOUNTS), and nothing was sent. Give the worker a key: the call goes on by itself.',
};

/** Milliseconds that a worker delays its refusal of a call that it cannot serve: a fast refusal would attract all calls. */
const UNSERVED_MS = 1_000;

export async function kept<Answer>(answer: Answer): Promise<Answer> {
  await setTimeout(UNSERVED_MS, undefined, { signal: cancellationSignal() }).catch(otherwise(undefined));
  return answer;
}

/** A request is not sent unless the server knows its intent: if the journal were lost, no trace would remain. */
export function unannounced(base: AnswerBase, acknowledgement: Acknowledgement): NotSent | undefined {
  if (acknowledgement === 'acknowledged') return undefined;
  return acknowledgement === 'stopped'
    ? unsentAnswer(base, 'worker_shutdown', CANCELLED, UNDER_INTENT)
    : unsentAnswer(base, 'server_not_notified', NOT_ACKNOWLEDGED, UNDER_INTENT);
}

const CANCELLED = 'The call was cancelled or paused before the request was sent.';
const NOT_ACKNOWLEDGED = 'The Temporal server did not answer before the request, and nothing was sent.';

/**
 * Returns why a request whose intent is written may not be paid from the budget of a batch; undefined if it may. The
 * close of a batch writes its fence before it reads the intents, so it sees every request that passes this check. The
 * owner is recorded first, so the close also finds the run of a request that may still be sent.
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
  'The batch of the campaign that was to pay for this is closed, and nothing was sent. Its campaign gives the row to another batch.';
const NOT_THE_OWNER =
  'Another run of this batch of the campaign spends its money, and nothing was sent: a batch that was reset does not know what was spent before. Its campaign gives the row to another batch.';

/** Whether this run may spend the money of a batch: the first run that opens one of its pages or sends for it. */
export async function ownsBatch(
  journal: CreateJournal,
  namespace: string,
  payer: string,
  runId: string | null,
): Promise<boolean> {
  const run = runId ?? '';
  const log = ownerLog(namespace, payer);
  const read = async () => (await journal.readRecord(log, 0)) as OwnerRecord | null;
  const owner = await read();
  if (owner !== null) return owner.run === run;
  const record: OwnerRecord = { v: 1, kind: 'owner', run, at: new Date().toISOString() };
  return (await journal.putRecord(log, 0, record)) === 'won' || (await read())?.run === run;
}

/** Permanently stops sends out of a batch's money. */
export async function fenceBatch(journal: CreateJournal, namespace: string, payer: string): Promise<void> {
  const log = fenceLog(namespace, payer);
  if ((await journal.readRecord(log, 0)) !== null) return;
  await journal.putRecord(log, 0, {
    v: 1,
    kind: 'fence',
    nonce: randomUUID(),
    at: new Date().toISOString(),
  });
}

/** What an account allows to be sent. The result must be reported in every case. */
export interface Admission {
  /** Adds to a refusal in effect when it is tried again. */
  answered<Answer extends RecordedAnswer>(answer: Answer): Answer;
  /** Reports that nothing is sent and no intent was written. */
  unused(): Promise<void>;
  /** Gives the estimate back if the answer, and what is recorded instead, prove that nothing was charged. */
  settle(...answers: readonly RecordedAnswer[]): Promise<void>;
}

/** Returns why the call is not sent now, or what it is sent with. Writes nothing until all checks have passed. */
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
  const admission = await admit(deps, account, spec.paid, spec.creationKey, base);
  return 'outcome' in admission ? admission : { admission, call };
}

function costsMore(estimate: Money | null, agreed: number | null | undefined): boolean {
  return typeof agreed === 'number' && (estimate === null || estimate.microUnits > agreed);
}

/** A call with the same body under another key has an unknown fate: a person decides whether to buy it again. */
async function openElsewhere(call: AdmittedCall): Promise<NotSent | RejectedCall | undefined> {
  if (call.spec.refuseWhileUnconfirmed !== true) return undefined;
  const { base, deps, log, account, who } = call;
  const sent = { bodyHash: call.ready.body.bodyHash, account: account.name };
  const open = await otherOpenCall(deps.journal, log.key, sent, who.now()).catch(journalDown(base));
  if (open === undefined || 'outcome' in open) return open;
  const message = `The same request was sent under the id ${JSON.stringify(open.creationKey)} and its fate is unknown: it may have been accepted and cost money. Nothing was sent now. Settle that one first (adopt, declare lost or resubmit).`;
  return rejectedAnswer(base, 'unconfirmed_open', message, { field: 'creationKey' });
}

/** Finds a call of unknown fate with the same body to the same account, under another key of the namespace. */
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

/** Waits until the rate limit of the account permits a call; returns an answer if that takes too long. */
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
  const message = `The rate of the account ${base.account ?? ''} (createsPerSecond) allows no more for now, and nothing was sent. It is tried again at ${heldUntil}.`;
  return unsentAnswer(base, 'account_rate', message, { heldUntil });
}

/** Checks the standing refusals and the spend limit of the account. Returns the answer of a call that is held back. */
async function admit(
  { gate, journal, events }: Pick<PaidDeps, 'gate' | 'journal' | 'events'>,
  account: Account,
  { operation, request }: PaidRequest,
  call: string,
  base: AnswerBase,
): Promise<Admission | NotSent | RejectedCall> {
  // A client returns the same redactor until a key changes. A change in another account costs one extra probe.
  const key = await account.client.redactor();
  const gated: GatedCall = { call, account: account.name, operation, model: request.model, key };
  const pass = await gate.enter(gated);
  if ('probeInMs' in pass) return heldAnswer(base, pass, request.model);
  const reserved = await reserve({ journal, events }, account, base).catch(journalDown(base));
  if (reserved !== undefined && 'outcome' in reserved) {
    pass.unused();
    return reserved;
  }
  return {
    answered: (answer) => pass.answered(answer),
    unused: async () => {
      pass.unused();
      await reserved?.giveBack();
    },
    settle: async (...answers) => {
      if (!answers.some(isCharged)) await reserved?.giveBack();
    },
  };
}

/** Reserves the estimate of a call. A call without a known price is not sent. @throws when the journal fails */
async function reserve(
  { journal, events }: Pick<PaidDeps, 'journal' | 'events'>,
  { name, spendLimit }: Account,
  base: AnswerBase,
): Promise<Reserved | NotSent | RejectedCall | undefined> {
  if (spendLimit === undefined) return undefined;
  const { estimate } = base;
  const limit = `${formatMoney(spendLimit)} per ${spendLimit.per}`;
  const mend =
    'Nothing was sent. Correct spendLimit of the account, or the prices of the model configuration.';
  if (keepsNothing(journal))
    return rejectedAnswer(base, 'spend_limit', `Without a journal no spend limit can be kept. ${mend}`);
  if (estimate === null || estimate.currency !== spendLimit.currency) {
    const unknown = `The account ${name} may spend ${limit}, and the price of this call is not known in ${spendLimit.currency}.`;
    return rejectedAnswer(base, 'spend_limit', `${unknown} ${mend}`);
  }
  if (estimate.microUnits > spendLimit.microUnits) {
    const above = `This call is estimated at ${formatMoney(estimate)}, and the account ${name} may spend ${limit} in all.`;
    return rejectedAnswer(base, 'spend_limit', `${above} ${mend}`);
  }
  // By credential only: a corrected base address must not restart the limit.
  const asked = await spendBooksOf(journal).reserve(credentialOf(name), spendLimit, estimate.microUnits);
  const window = { account: name, currency: spendLimit.currency, per: spendLimit.per };
  events?.metrics.record('spend', 'sum' in asked ? asked.sum : asked.spent, window);
  events?.metrics.record('spendLimit', spendLimit.microUnits, window);
  if ('giveBack' in asked) return asked;
  const { spent, endsAt } = asked;
  const spentText = formatMoney({ microUnits: spent, currency: spendLimit.currency });
  const ends = new Date(endsAt).toISOString();
  // A person may raise the limit before the window ends, and refused calls give their estimates back.
  const heldUntil = timeAfter(Math.min(msUntil(ends), LONGEST_HOLD_MS));
  const message = `The account ${name} may spend ${limit}, of which ${spentText} is spent or reserved. Nothing was sent. The next ${spendLimit.per} begins at ${ends}; it is tried again at ${heldUntil}.`;
  return unsentAnswer(base, 'spend_limit', message, { reason: 'spend_limit', heldUntil });
}

/** Longest time between two tries of a call that the spend limit holds back, in milliseconds. */
const LONGEST_HOLD_MS = 60 * 60_000;

/** The answer while a standing refusal is in effect: nothing was recorded, and the call returns at the next probe. */
export function heldAnswer(base: AnswerBase, refusal: StandingRefusal, model: string): NotSent {
  const { scope, reason, httpStatus, message, since, probeInMs } = refusal;
  const heldUntil = timeAfter(probeInMs);
  const account = `the account ${base.account ?? ''}`;
  const whose = scope === 'account' ? account : `the model ${JSON.stringify(model)} for ${account}`;
  const status = httpStatus === null ? '' : ` with HTTP ${httpStatus}`;
  const text = `Since ${since} the service refuses calls of ${whose}${status}: ${message} Nothing was sent. One request at a time asks whether it still does, the next at ${heldUntil}.`;
  return unsentAnswer(base, 'refusal_stands', text, { reason, heldUntil });
}

/** The live configuration may change while a campaign runs for days, and its budget counts with the planned prices. */
function priceChangedAnswer(base: AnswerBase): RejectedCall {
  return rejectedAnswer(
    { ...base, sent: false },
    'price_changed',
    'It costs more now than when it was planned, or its price is no longer known. Nothing was sent. Plan it again.',
  );
}

/** Prepares account, body, price and fingerprint of a call, as far as this worker can. Writes and sends nothing. */
export async function prepareCall(
  deps: PaidDeps,
  spec: PaidSpec,
): Promise<Pick<OpenedCall, 'account' | 'prepared' | 'fingerprint' | 'policy'>> {
  const account = deps.accounts.find(spec.account);
  // An error here is a fault of a store or a mistake of ours: nothing was sent, and the answer reports it.
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

/** The fault of a store or of a file. */
async function unprepared(account: Account, error: unknown): Promise<Prepared> {
  throwBug(error);
  const reason = error instanceof Error ? error.message : String(error);
  const message = `The request could not be prepared on this worker: ${clearOf([await account.client.redactor()])(reason)}`;
  return { kind: 'unavailable', message, fileHashes: new Map() };
}
