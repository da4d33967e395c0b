import { randomUUID } from 'node:crypto';
import { cancellationSignal, log } from '@temporalio/activity';
import {
  isOpenAnswer,
  type JournalKey,
  type RecordedAnswer,
  type SlotIntent,
} from '../domain/create-journal';
import { type Money } from '../domain/billing';
import { resolveCreatePolicy, type CreatePolicy, type ResolvedCreatePolicy } from '../domain/create-policy';
import { type SenderWord } from '../domain/journal-proof';
import { type NotSent, type RejectedCall, type UnconfirmedCall } from '../domain/paid-call';
import { type PaidRequest } from '../domain/request';
import { NOT_RECORDED } from '../domain/names';
import { honouredKey } from '../domain/same-key';
import { CREATE_TIMEOUTS } from '../domain/timeouts';
import { type PaidSendOptions } from '../service/send-result';
import { type Account } from './accounts';
import { claimEpoch, openEpoch, recordOutcome, type OpenedEpoch } from './epochs';
import { fingerprintOf } from './fingerprint-of';
import { idempotencyKey } from './idempotency-key';
import {
  conflictAnswer,
  fencedAnswer,
  heldByAnotherAnswer,
  invalidAnswer,
  openElsewhereAnswer,
  priceChangedAnswer,
  rejectedAnswer,
  waitingAnswer,
  type AnswerBase,
} from './paid-answers';
import { type Caller, type PaidDeps } from './paid-context';
import { otherOpenCall } from './open-calls';
import { preferred, type Prepared, type ReadyCall } from './prepared';
import { sendSameKey, told, unknownCall } from './send-same-key';
import { isLost, type Sender, unannounced } from './sender';
import { unconfirmedAfterIntent } from './unconfirmed-after-intent';
import { standIn } from './stand-in';

/** One paid call, as far as it differs from the others. */
export interface PaidSpec<Body extends { readonly bodyHash: string }, Answer extends RecordedAnswer> {
  readonly paid: PaidRequest;
  readonly creationKey: string;
  readonly epoch: number;
  readonly account: string | undefined;
  readonly policy: CreatePolicy | undefined;
  readonly facts: Pick<SlotIntent, 'durationSeconds' | 'resolution' | 'referenceMode'>;
  /** Total time of the exchange, in milliseconds. */
  readonly httpBudgetMs: number;
  /** Whether a retry of this very activity may go on after a proven refusal. */
  readonly reopenOwn: boolean;
  readonly sender: Sender;
  readonly refuseWhileUnconfirmed?: boolean | undefined;
  /** Only what is recorded is wanted; an epoch that is open stays as it is. */
  readonly recordedOnly?: true;
  /** An epoch of unknown fate may be sent again under its idempotency key. */
  readonly sameKey?: true;
  /** What was agreed to, in micro-units: nothing is sent where it costs more by now. Null or absent: nothing was agreed to. */
  readonly agreedPrice?: number | null | undefined;
  /** Whoever asks has everything under its keys on its books: where another request holds the key, it is told what that may cost. */
  readonly keepsBooks?: true;
  prepare(account: Account): Promise<Prepared<Body>>;
  /** What is recorded may lack something that can still be had without a send. */
  complete?(found: {
    readonly account: Account;
    readonly base: AnswerBase;
    readonly key: JournalKey;
    readonly slot: SlotIntent | null;
    readonly recorded: Answer;
  }): Promise<Answer | undefined>;
  /** The one send, classified. `base.sent` is already true. */
  post(call: {
    readonly account: Account;
    readonly ready: ReadyCall<Body>;
    readonly intent: SlotIntent;
    readonly base: AnswerBase;
    readonly options: PaidSendOptions;
  }): Promise<Answer>;
}

/** What one execution came to. `pending` leaves it to the caller how to wait for the other sender. */
export type SendOnceResult<Answer> =
  | {
      readonly kind: 'answer';
      readonly answer: Answer | RejectedCall | NotSent | UnconfirmedCall;
      readonly slot: SlotIntent | null;
      readonly word?: SenderWord;
    }
  | {
      readonly kind: 'pending';
      readonly base: AnswerBase;
      readonly slot: SlotIntent | null;
      /** Which intent is in the way, and in which journal. */
      readonly word?: SenderWord;
    };

/**
 * The order that makes a send happen once (failure-model 2.5): validate, write the intent, send, write the outcome,
 * and only then tell anybody. Everything that happens is a value.
 */
export async function sendOnce<Body extends { readonly bodyHash: string }, Answer extends RecordedAnswer>(
  deps: PaidDeps,
  who: Caller,
  spec: PaidSpec<Body, Answer>,
): Promise<SendOnceResult<Answer>> {
  const key: JournalKey = { namespace: who.namespace, creationKey: spec.creationKey };
  let base: AnswerBase = { epoch: spec.epoch, sent: false, account: spec.account ?? null, estimate: null };
  const ended = (
    answer: Answer | RejectedCall | NotSent | UnconfirmedCall,
    slot: SlotIntent | null = null,
  ): SendOnceResult<Answer> => ({
    kind: 'answer',
    answer,
    slot,
    ...(slot !== null && here !== undefined && { word: { journalId: here, intent: slot.nonce } }),
  });
  const { standing: stands, before } = spec.sender;
  const here = stands.bound ? stands.journalId : undefined;
  const pending = (slot: SlotIntent | null): SendOnceResult<Answer> => ({
    kind: 'pending',
    base,
    slot,
    ...(slot !== null && here !== undefined
      ? { word: { journalId: here, intent: slot.nonce } }
      : before !== null && { word: before }),
  });
  if (!stands.bound) {
    // What an attempt before this one has sent stands in the other journal.
    if (before !== null || who.attempt > 1 || spec.sameKey === true) return pending(null);
    return ended(waitingAnswer(base, 'journal_not_bound', stands.message));
  }

  const account = deps.accounts.find(spec.account);
  if (account === undefined) {
    const message = 'This worker has no such account. Nothing was sent.';
    return ended(rejectedAnswer(base, 'account_not_configured', message, { field: 'account' }));
  }
  base = { ...base, account: account.name };

  // What is thrown here is a fault of a store or of ours: nothing was sent, and the caller hears of it.
  const prepared = await spec.prepare(account).catch(() => PREPARATION_FAILED);
  const fingerprint =
    prepared.kind === 'unreadable' ? null : fingerprintOf(spec.paid, account, prepared.fileHashes);
  const { runId, activityId, attemptAt } = who;
  const attempt = { activityId, attemptAt };
  const asker = { fingerprint, runId, now: Date.now(), reopenOwn: spec.reopenOwn, attempt };
  let opened: OpenedEpoch;
  try {
    opened = await openEpoch(deps.journal, key, spec.epoch, asker);
  } catch {
    // An attempt before this one may have sent: only the journal knows, and it cannot be asked.
    return who.attempt > 1 ? pending(null) : ended(journalDown(base));
  }
  base = { ...base, epoch: opened.epoch, ...(opened.mayBeOwed && { mayBeOwed: true }) };
  if (opened.do === 'conflict')
    return ended(spec.keepsBooks === true ? heldByAnotherAnswer(base, opened.view) : conflictAnswer(base));
  if (opened.do === 'fenced') return ended(fencedAnswer(base));
  const policy = resolveCreatePolicy(deps.policy, preferred(prepared), spec.policy);
  const unknown = spec.sameKey === true ? unknownCall(opened) : undefined;
  if (unknown !== undefined && deps.journal !== 'none') {
    const stops =
      prepared.kind === 'unavailable' || stopsBeforeSend(base, who, spec.httpBudgetMs) !== undefined;
    const bodyHash = prepared.kind === 'ready' ? prepared.body.bodyHash : '';
    const call =
      stops || !(await account.hasKey())
        ? null
        : { account: account.name, bodyHash, idempotency: policy.idempotency };
    const { slot } = unknown;
    base = { ...base, estimate: slot.estimate };
    const again = async (): Promise<Answer | UnconfirmedCall> => {
      await spec.sender.announce(slot.nonce);
      return post(slot).catch(() => afterBug(base, slot));
    };
    const repeated = { call, post: again };
    return ended(await sendSameKey(deps.journal, key, unknown, repeated), slot);
  }
  if (opened.do === 'pending') return pending(opened.slot);
  // Recorded before: somebody paid already, or was refused for good. Nothing is sent.
  if (opened.do === 'return') {
    const owed = base.mayBeOwed === true ? { mayBeOwed: true } : {};
    const recorded = opened.outcome.answer as Answer;
    const whole =
      spec.recordedOnly === true
        ? undefined
        : await spec.complete?.({ account, base, key, slot: opened.slot, recorded });
    return ended(told({ ...(whole ?? recorded), sent: false, ...owed }, opened.slot), opened.slot);
  }

  if (deps.journal !== 'none' && isLost(spec, stands, opened.intents)) {
    const { operation, request } = spec.paid;
    const lost = { operation, model: request.model, ...spec.facts, account: account.name, fingerprint };
    return ended(await standIn(deps.journal, key, who, { ...base, ...lost, heard: before }));
  }
  if (spec.recordedOnly === true) {
    const cause = deps.journal === 'none' ? 'no_journal' : NOT_RECORDED;
    return ended(waitingAnswer(base, cause, 'Nothing is recorded under this key, and nothing was sent.'));
  }
  if (prepared.kind === 'unavailable') {
    return ended(waitingAnswer(base, 'configuration_unavailable', prepared.message));
  }
  if (prepared.kind !== 'ready') return ended(invalidAnswer(base, prepared.issue));
  base = { ...base, estimate: prepared.estimate };
  if (costsMore(prepared.estimate, spec.agreedPrice)) return ended(priceChangedAnswer(base));
  if (!(await account.hasKey())) {
    const message =
      'The worker has no key for this account (MEDIA_API_KEY or MEDIA_API_KEY_FILE). Nothing was sent.';
    return ended(rejectedAnswer(base, 'credentials', message));
  }

  const intent = intentOf(spec, account, prepared, base, fingerprint ?? '', who, policy);
  if (spec.refuseWhileUnconfirmed === true) {
    const open = await otherOpenCall(deps.journal, key, intent).catch(() => 'journal_down' as const);
    if (open === 'journal_down') return ended(journalDown(base));
    if (open !== undefined) return ended(openElsewhereAnswer(base, open));
  }
  let claim: Awaited<ReturnType<typeof claimEpoch>>;
  try {
    claim = await claimEpoch(deps.journal, key, base.epoch, intent);
  } catch {
    return ended(journalDown(base));
  }
  if (claim === 'lost') {
    // Taken between the read and the write: whether by the same request, only its slot can tell.
    const taken = await openEpoch(deps.journal, key, base.epoch, asker).catch(() => undefined);
    if (taken === undefined) return ended(journalDown(base));
    if (taken.do === 'conflict') return ended(conflictAnswer(base));
    return pending('slot' in taken ? taken.slot : null);
  }
  const answer =
    claim === 'unsure'
      ? { ...journalDown(base), epochUsed: true }
      : (stopsBeforeSend(base, who, spec.httpBudgetMs) ??
        unannounced(base, await spec.sender.announce(intent.nonce)) ??
        (await post(intent).catch(() => afterBug(base, intent))));
  const { recorded, standing } = await recordOutcome(deps.journal, key, intent.nonce, answer);
  if (recorded && deps.journal !== 'none' && !isOpenAnswer(standing))
    await deps.journal.forgetOpen({ ...key, epoch: base.epoch }, intent.bodyHash);
  if (!recorded && deps.journal !== 'none') {
    log.warn('The outcome of a paid call could not be written to the journal', {
      creationKey: spec.creationKey,
    });
  }
  return ended(deps.journal === 'none' ? (standing as Answer) : told(standing as Answer, intent), intent);

  function post(intent: SlotIntent): Promise<Answer> {
    return spec.post({
      account: account as Account,
      ready: prepared as ReadyCall<Body>,
      intent,
      base: { ...base, sent: true },
      options: {
        policy,
        idempotencyKey: idempotencyKey(key, base.epoch),
        deadlineMs: spec.httpBudgetMs,
      },
    });
  }
}

function costsMore(estimate: Money | null, agreed: number | null | undefined): boolean {
  return typeof agreed === 'number' && (estimate === null || estimate.microUnits > agreed);
}

/** Before the marker a shutdown or a late start is settled as not sent; after it nothing is cut off (failure-model row 12). */
function stopsBeforeSend(base: AnswerBase, who: Caller, httpBudgetMs: number): NotSent | undefined {
  const notSent = { ...base, outcome: 'not_sent', epochUsed: true } as const;
  // The server caps start-to-close at the end of the execution: no later try of this run gets more time.
  if (who.startToCloseMs < httpBudgetMs) {
    const message = `The workflow would expire before the service had ${httpBudgetMs / 1000} s to answer, so nothing was sent. Give it a longer execution or run timeout.`;
    return { ...notSent, cause: 'execution_expires', permanent: true, message };
  }
  const late = Date.now() - who.startedAt > who.startToCloseMs - httpBudgetMs;
  if (!late && !cancellationSignal().aborted) return undefined;
  return {
    ...notSent,
    cause: late ? 'own_deadline' : 'worker_shutdown',
    permanent: false,
    message: late
      ? 'Preparing the request took too long, and nothing was sent.'
      : 'The worker stopped before the request was sent.',
  };
}

function intentOf<Body extends { readonly bodyHash: string }>(
  spec: Pick<PaidSpec<Body, RecordedAnswer>, 'paid' | 'facts' | 'creationKey' | 'httpBudgetMs'>,
  account: Account,
  ready: ReadyCall<Body>,
  base: AnswerBase,
  fingerprint: string,
  who: Caller,
  policy: ResolvedCreatePolicy,
): SlotIntent {
  const at = Date.now();
  const honoured = honouredKey(policy.idempotency, at, spec.httpBudgetMs);
  return {
    v: 1,
    kind: 'intent',
    nonce: randomUUID(),
    operation: spec.paid.operation,
    namespace: who.namespace,
    creationKey: spec.creationKey,
    workflowId: who.workflowId,
    runId: who.runId,
    activityId: who.activityId,
    attemptAt: who.attemptAt,
    fingerprint,
    bodyHash: ready.body.bodyHash,
    account: account.name,
    model: spec.paid.request.model,
    ...spec.facts,
    estimate: base.estimate,
    ...(honoured !== undefined && { idempotency: honoured }),
    at: new Date(at).toISOString(),
    // Start-to-close ends the activity, not the process: the margin covers its last moments.
    sendWindowEnd: new Date(
      who.startedAt + who.startToCloseMs + CREATE_TIMEOUTS.zombieMarginMs,
    ).toISOString(),
  };
}

const PREPARATION_FAILED = {
  kind: 'unavailable',
  message: 'The request could not be prepared on this worker; its store or its files may be unreadable.',
  fileHashes: new Map<string, string>(),
} as const;

/** Our own code failed around the send: whether anything left is not known, and an outcome must stand. */
function afterBug(base: AnswerBase, intent: SlotIntent): UnconfirmedCall {
  return unconfirmedAfterIntent(intent, base.epoch, 'internal_error');
}

function journalDown(base: AnswerBase): NotSent {
  const message = 'The create journal cannot be read or written, and nothing is sent without it.';
  return waitingAnswer(base, 'journal_unavailable', message);
}
