import { log } from '@temporalio/activity';
import { type Money } from '../domain/price';
import { isOpenAnswer, type JournalKey, type RecordedAnswer, type ClaimIntent } from '../domain/journal';
import { type CreatePolicy, resolveCreatePolicy } from '../domain/create-policy';
import { causeOfUnproved, type SenderHeartbeat } from '../domain/journal-proof';
import { otherwise, throwBug } from '../domain/bug';
import { INTERNAL_ERROR, NOT_RECORDED } from '../domain/names';
import { type NotSent, type RejectedCall, type UnconfirmedCall } from '../domain/paid-call';
import { type PaidSendOptions } from '../service/media-client';
import { journalFault } from '../journal/journal-fault';
import { type Account } from '../accounts/registry';
import { admit, turnOf } from './admission';
import { otherOpenCall } from './await-sender';
import { fingerprintOf } from './fingerprint-of';
import { clearOf } from './failures';
import { idempotencyKey } from './idempotency-key';
import { type IntendedCall, intentOf } from './intent-of';
import { reportMistake } from './mistakes';
import { claimSendAttempt, type OpenedSendAttempt, openSendAttempt, recordOutcome } from './send-attempts';
import { kept, NO_ACCOUNT, NO_KEY, stopsBeforeSend } from './before-send';
import {
  type AnswerBase,
  conflictAnswer,
  fencedAnswer,
  heldByAnotherAnswer,
  invalidAnswer,
  missingAnswer,
  openElsewhereAnswer,
  priceChangedAnswer,
  unconfirmedAfterIntent,
  waitingAnswer,
} from './paid-answers';
import { type Caller, type PaidDeps, preferred, type Prepared, type ReadyCall } from './paid-context';
import { journalDown, UNSURE } from './journal-failures';
import { payerStops } from './payer-stops';
import { sendSameKey, unknownCall, withSameKeyOf } from './send-same-key';
import { certainlyOverAt, sendWindow, type SendWindow } from './send-window';
import { isLost, type Sender, unannounced } from './sender';
import { recordPlaceholder } from './placeholder-intent';

/** One paid call: what differs between the kinds of paid calls. */
export interface PaidSpec<
  Body extends { readonly bodyHash: string },
  Answer extends RecordedAnswer,
> extends IntendedCall {
  readonly sendAttempt: number;
  readonly account: string | undefined;
  readonly policy: CreatePolicy | undefined;
  /** Milliseconds of work that may follow the reply before its outcome is written. */
  readonly afterReplyMs: number;
  /** Whether a retry of the same activity may send again after a proven refusal. */
  readonly reopenOwn: boolean;
  readonly sender: Sender;
  readonly refuseWhileUnconfirmed?: boolean | undefined;
  /** A person wants the request sent again after a refusal that another run received. */
  readonly again?: boolean | undefined;
  /** Return only what is recorded; an open send attempt stays as it is. */
  readonly recordedOnly?: true;
  /** When a call was scheduled that may be lost together with its heartbeats (ISO 8601); its records are wanted. */
  readonly recordedSince?: string | undefined;
  /** A send attempt of unknown fate may be sent again under its idempotency key. */
  readonly sameKey?: true;
  /** The agreed price in micro-units: nothing is sent where it costs more by now. Null or absent: none was agreed. */
  readonly agreedPrice?: number | null | undefined;
  /**
   * The caller accounts for everything under its keys: where another request holds the key, the answer says what that
   * may cost.
   */
  readonly keepsBooks?: true;
  prepare(account: Account): Promise<Prepared<Body>>;
  /** Completes a recorded answer with what can still be fetched without a send. */
  complete?(found: {
    readonly account: Account;
    readonly base: AnswerBase;
    readonly key: JournalKey;
    readonly claim: ClaimIntent | null;
    readonly recorded: Answer;
  }): Promise<Answer | undefined>;
  /** Sends the request once and classifies the reply. `base.sent` is already true. */
  post(call: {
    readonly account: Account;
    readonly ready: ReadyCall<Body>;
    readonly intent: ClaimIntent;
    readonly base: AnswerBase;
    readonly options: PaidSendOptions & { readonly deadlineMs: number };
    readonly window: SendWindow;
  }): Promise<Answer>;
}

/** The result of one execution. With `pending` the caller decides how to wait for the other sender. */
export type SendOnceResult<Answer> =
  | {
      readonly kind: 'answer';
      readonly answer: Answer | RejectedCall | NotSent | UnconfirmedCall;
      readonly claim: ClaimIntent | null;
      readonly heartbeat?: SenderHeartbeat;
      /** It was recorded before: this execution has sent nothing. */
      readonly isRecorded?: true;
    }
  | {
      readonly kind: 'pending';
      readonly base: AnswerBase;
      readonly claim: ClaimIntent | null;
      /** The blocking intent and its journal. */
      readonly heartbeat?: SenderHeartbeat;
    };

/**
 * Sends at most once by the order of its steps (failure model: The journal): validate, write the intent, send, write
 * the outcome, and only then return it. Every outcome is a value.
 */
export async function sendOnce<Body extends { readonly bodyHash: string }, Answer extends RecordedAnswer>(
  deps: PaidDeps,
  who: Caller,
  spec: PaidSpec<Body, Answer>,
): Promise<SendOnceResult<Answer>> {
  const key: JournalKey = { namespace: who.namespace, creationKey: spec.creationKey };
  let base: AnswerBase = {
    sendAttempt: spec.sendAttempt,
    sent: false,
    account: spec.account ?? null,
    estimate: null,
  };
  const ended = (
    answer: Answer | RejectedCall | NotSent | UnconfirmedCall,
    claim: ClaimIntent | null = null,
    isRecorded = false,
  ): SendOnceResult<Answer> => ({
    kind: 'answer',
    answer,
    claim,
    ...(isRecorded && { isRecorded }),
    ...(claim !== null && here !== undefined && { heartbeat: { journalId: here, intent: claim.nonce } }),
  });
  const { standing: stands, before } = spec.sender;
  const here = stands.bound ? stands.journalId : undefined;
  const pending = (claim: ClaimIntent | null): SendOnceResult<Answer> => ({
    kind: 'pending',
    base,
    claim,
    ...(claim !== null && here !== undefined
      ? { heartbeat: { journalId: here, intent: claim.nonce } }
      : before !== null && { heartbeat: before }),
  });
  if (!stands.bound) {
    // The sends of earlier attempts are recorded in the other journal.
    if (before !== null || who.attempt > 1 || spec.sameKey === true) return pending(null);
    return ended(waitingAnswer(base, 'journal_not_bound', stands.message));
  }

  const account = deps.accounts.find(spec.account);
  if (account !== undefined) base = { ...base, account: account.name };

  // An error here is a fault of a store or of this package: nothing was sent, and the answer says so.
  const prepared =
    account === undefined
      ? NO_ACCOUNT
      : await spec.prepare(account).catch((error: unknown) => unprepared(account, error));
  const fingerprint =
    account === undefined || prepared.kind === 'unreadable'
      ? null
      : fingerprintOf(spec.paid, account, prepared.fileHashes);
  const { workflowId, runId, activityId, attemptAt } = who;
  const attempt = { activityId, attemptAt };
  const asker = {
    fingerprint,
    workflowId,
    runId,
    now: who.now,
    reopenOwn: spec.reopenOwn,
    again: spec.again === true,
    attempt,
    recordedOnly: spec.recordedOnly === true,
  };
  let opened: OpenedSendAttempt;
  try {
    opened = await openSendAttempt(deps.journal, key, spec.sendAttempt, asker);
  } catch (error) {
    // An earlier attempt may have sent: only the journal knows, and it cannot be read.
    const down = journalDown(base, error);
    return who.attempt > 1 ? pending(null) : ended(down);
  }
  base = { ...base, sendAttempt: opened.sendAttempt, ...(opened.mayBeOwed && { mayBeOwed: true }) };
  if (opened.do === 'conflict')
    return ended(spec.keepsBooks === true ? heldByAnotherAnswer(base, opened.view) : conflictAnswer(base));
  if (opened.do === 'fenced') return ended(fencedAnswer(base));
  const policy = resolveCreatePolicy(deps.policy, account?.policy, preferred(prepared), spec.policy);
  const isItsOwn = spec.sameKey === true && opened.sendAttempt === spec.sendAttempt;
  const unknown = isItsOwn ? unknownCall(opened, who.now()) : undefined;
  if (unknown !== undefined && deps.journal !== 'none') {
    const cannot = prepared.kind === 'unavailable' || prepared.kind === 'missing';
    const [bodyHash, budgetMs] =
      prepared.kind === 'ready' ? [prepared.body.bodyHash, prepared.budgetMs] : ['', 0];
    const stops = cannot || stopsBeforeSend(base, who, windowFrom(budgetMs)) !== undefined;
    const call =
      account === undefined || stops || !(await account.hasKey())
        ? null
        : { account: account.name, bodyHash, budgetMs, idempotency: policy.idempotency };
    const { claim } = unknown;
    if (call !== null) account?.rate?.count();
    base = { ...base, estimate: claim.estimate };
    const repeated = { call, post: () => sendUnder(claim, windowFrom(budgetMs)) };
    return ended(await sendSameKey(deps.journal, key, unknown, repeated, who.now), claim);
  }
  if (opened.do === 'pending') return pending(opened.claim);
  // Recorded before: the call was paid for, or refused permanently. Nothing is sent.
  if (opened.do === 'return') {
    // Without its account the request cannot be compared with one of another run.
    if (account === undefined && opened.claim?.runId !== runId)
      return ended(await kept(missingAnswer(base, NO_ACCOUNT.missing)));
    const owed = base.mayBeOwed === true ? { mayBeOwed: true } : {};
    const recorded = opened.outcome.answer as Answer;
    const whole =
      spec.recordedOnly === true || account === undefined
        ? undefined
        : await spec.complete?.({ account, base, key, claim: opened.claim, recorded });
    const answer = withSameKeyOf({ ...(whole ?? recorded), sent: false, ...owed }, opened.claim, who.now());
    return ended(answer, opened.claim, true);
  }

  if (deps.journal !== 'none' && isLost(spec, stands, opened.intents)) {
    if (account === undefined) return pending(null);
    const { operation, request } = spec.paid;
    const lost = { operation, model: request.model, ...spec.facts, account: account.name, fingerprint };
    const cause = causeOfUnproved(before, stands.journalId);
    return ended(
      await recordPlaceholder(deps.journal, key, who, { ...base, ...lost, lastHeartbeat: before, cause }),
    );
  }
  if (spec.recordedOnly === true) {
    const cause = deps.journal === 'none' ? 'no_journal' : NOT_RECORDED;
    return ended(waitingAnswer(base, cause, 'Nothing is recorded under this key, and nothing was sent.'));
  }
  if (prepared.kind === 'unavailable') {
    return ended(waitingAnswer(base, 'configuration_unavailable', prepared.message));
  }
  if (account === undefined || prepared.kind === 'missing') {
    const { missing } = prepared.kind === 'missing' ? prepared : NO_ACCOUNT;
    return ended(await kept(missingAnswer(base, missing)));
  }
  if (prepared.kind !== 'ready') return ended(invalidAnswer(base, prepared.issue));
  base = { ...base, estimate: prepared.estimate };
  if (costsMore(prepared.estimate, spec.agreedPrice)) return ended(priceChangedAnswer(base));
  if (!(await account.hasKey())) return ended(await kept(missingAnswer(base, NO_KEY)));

  const notYet = await turnOf(account, base);
  if (notYet !== undefined) return ended(notYet);

  if (spec.refuseWhileUnconfirmed === true) {
    const call = { bodyHash: prepared.body.bodyHash, account: account.name };
    const open = await otherOpenCall(deps.journal, key, call, who.now()).catch((error: unknown) =>
      journalDown(base, error),
    );
    if (open !== undefined && 'outcome' in open) return ended(open);
    if (open !== undefined) return ended(openElsewhereAnswer(base, open));
  }
  const admitted = await admit(deps, account, spec.paid, spec.creationKey, base);
  if ('outcome' in admitted) return ended(admitted);
  // Only now: admission may take its time at a store that is slow.
  const window = windowFrom(prepared.budgetMs);
  const sendKey = idempotencyKey(stands.journalId, key, base.sendAttempt);
  const intent = intentOf(spec, account, prepared, fingerprint ?? '', who, policy, window, sendKey);
  let claimed: Awaited<ReturnType<typeof claimSendAttempt>>;
  try {
    claimed = await claimSendAttempt(deps.journal, key, base.sendAttempt, intent);
  } catch (error) {
    await admitted.unused();
    return ended(journalDown(base, error));
  }
  if (claimed === 'lost') {
    await admitted.unused();
    // Claimed between the read and the write; only that claim shows whether it was the same request.
    const taken = await openSendAttempt(deps.journal, key, base.sendAttempt, asker).catch((error: unknown) =>
      journalDown(base, error),
    );
    if (!('do' in taken)) return ended(taken);
    base = { ...base, sendAttempt: taken.sendAttempt };
    if (taken.do === 'conflict') return ended(conflictAnswer(base));
    return pending('claim' in taken ? taken.claim : null);
  }
  const answer = admitted.answered(await sentOrNot(intent, claimed));
  const { recorded, standing, fault } = await recordOutcome(deps.journal, key, intent.nonce, answer);
  if (recorded) await admitted.settle(intent, answer, standing);
  if (recorded && deps.journal !== 'none' && !isOpenAnswer(standing))
    await deps.journal.forgetOpen({ ...key, sendAttempt: base.sendAttempt }, intent.bodyHash);
  if (!recorded && deps.journal !== 'none') {
    log.warn('The outcome of a paid call could not be written to the journal', {
      creationKey: spec.creationKey,
      cause: journalFault(fault),
    });
  }
  return ended(
    deps.journal === 'none' ? (standing as Answer) : withSameKeyOf(standing as Answer, intent, who.now()),
    intent,
  );

  /** The outcome of the send attempt that this call claimed, reported to the gate in every case. */
  async function sentOrNot(
    intent: ClaimIntent,
    claimed: 'won' | 'unsure',
  ): Promise<Answer | NotSent | UnconfirmedCall> {
    if (claimed === 'unsure') return { ...journalDown(base, UNSURE), sendAttemptUsed: true };
    return sendUnder(intent, window);
  }

  /** Sends nothing when too little time or no money is left, or when the server has not acknowledged the intent. */
  async function sendUnder(
    intent: ClaimIntent,
    window: SendWindow,
  ): Promise<Answer | NotSent | UnconfirmedCall> {
    const stopped =
      stopsBeforeSend(base, who, window) ?? (await payerStops(deps.journal, spec.payer, who, base));
    if (stopped !== undefined) return stopped;
    spec.sender.lastsUntil(certainlyOverAt(window));
    const acknowledgement = await spec.sender
      .announce(intent.nonce)
      .catch(otherwise('unacknowledged' as const));
    // A process that was suspended meanwhile continues long after the server gave up its attempt.
    const unsent = unannounced(base, acknowledgement) ?? stopsBeforeSend(base, who, window);
    if (unsent !== undefined) return unsent;
    return post(intent, window).catch((error: unknown) => {
      // It is unknown whether anything was sent, and an outcome must be recorded.
      reportMistake(error);
      return unconfirmedAfterIntent(intent, base.sendAttempt, INTERNAL_ERROR);
    });
  }

  function windowFrom(budgetMs: number): SendWindow {
    return sendWindow(who, { budgetMs, afterMs: spec.afterReplyMs });
  }

  function post(intent: ClaimIntent, window: SendWindow): Promise<Answer> {
    return spec.post({
      account: account as Account,
      ready: prepared as ReadyCall<Body>,
      intent,
      base: { ...base, sent: true },
      options: {
        policy,
        idempotencyKey: intent.idempotencyKey,
        deadlineMs: window.budgetMs,
      },
      window,
    });
  }
}

function costsMore(estimate: Money | null, agreed: number | null | undefined): boolean {
  return typeof agreed === 'number' && (estimate === null || estimate.microUnits > agreed);
}

/** The fault of a store or of a file. */
async function unprepared(account: Account, error: unknown): Promise<Prepared<never>> {
  throwBug(error);
  const reason = error instanceof Error ? error.message : String(error);
  const message = `The request could not be prepared on this worker: ${clearOf([await account.client.redactor()])(reason)}`;
  return { kind: 'unavailable', message, fileHashes: new Map<string, string>() };
}
