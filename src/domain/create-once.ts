import { given } from './json';
import { INTERNAL_ERROR, NOT_RECORDED, RECORDED_BY_ANOTHER_RUN, UNSAFE_RETRIES } from './names';
import { type ImageOutcome, outcomes } from './outcome';
import {
  type CreatedVideo,
  type CreateVideoAnswer,
  type RejectedCall,
  type UnconfirmedCall,
  type WaitingImage,
} from './paid-call';

/**
 * State of a create that must not buy twice. Decisions use no timers or activities (architecture: Create, failure
 * model: The log). They are pure and synchronous, so tests can explore the whole state space. The state is plain data,
 * so it survives continue-as-new.
 */
export interface CreateOnceState {
  readonly v: 1;
  readonly creationKey: string;
  /** Number of requests that were sent and provably refused. */
  readonly sends: number;
  /** Failed sends and failed connections. These count toward the limit. */
  readonly tries: number;
  /** Fences, and waits for an unavailable configuration or journal. These do not count as sends. */
  readonly waits: number;
  /** Workflow time in milliseconds. */
  readonly startedAt: number;
  /** Time of the first counted send, which starts the resend window. */
  readonly firstSendAt: number | null;
  /**
   * Set if a person authorized another send after one with an unknown outcome. Whatever happens next, the earlier send
   * may have cost money.
   */
  readonly mayBeOwed?: true;
  /**
   * Set if another run may have bought something under this key. Only an answer that is based on the key's log can rule
   * that out.
   */
  readonly elsewhere?: true;
  /** A send with an unknown outcome, while it is being resent under its idempotency key. */
  readonly unknown?: UnconfirmedCall;
}

/**
 * Maximum number of attempts per creation. Temporarily refused sends and failed connections count (failure model:
 * Refusals that are sent again). Standing refusals (credentials, quota) do not: until the start limit, a call that
 * waits for one to be lifted is sent at most once per hold.
 */
export const MAX_SENDS = 5;
/** All resends after proven refusals happen within this time of the first send. */
export const RESEND_WINDOW_MS = 15 * 60_000;
export const DEFAULT_START_LIMIT_MS = 24 * 60 * 60_000;

const MAX_DELAY_MS = 60_000;
/**
 * Retries of calls that a standing refusal holds back are spread over at most this time. The first retry acts as the
 * probe for all of them.
 */
const HELD_SPREAD_MS = 2 * 60_000;
/** Longest delay while a worker, the configuration or the journal is unavailable. */
const MAX_UNSENT_DELAY_MS = 5 * 60_000;

export type SettledCreate = CreatedVideo | RejectedCall | UnconfirmedCall;

export type CreateStep =
  | { readonly do: 'settle'; readonly answer: SettledCreate }
  | { readonly do: 'reconcile' }
  | { readonly do: 'wait'; readonly until: number; readonly state: CreateOnceState; readonly why: string };

export function beginCreate(creationKey: string, now: number): CreateOnceState {
  return { v: 1, creationKey, sends: 0, tries: 0, waits: 0, startedAt: now, firstSendAt: null };
}

export interface StepContext {
  readonly now: number;
  /** Jitter in [0, 1). */
  readonly random: number;
  readonly startLimitMs: number;
  /**
   * Whether `media.reconcileCreate` returned the answer. A refusal that a reconciliation finds belongs to one of this
   * create's sends.
   */
  readonly reconciled: boolean;
  /**
   * Set if no person is waiting for the result, as with a campaign row. After a standing refusal, the call waits until
   * a person has fixed the cause.
   */
  readonly waitsForFix?: true;
}

export function nextStep(
  state: CreateOnceState,
  answer: CreateVideoAnswer,
  context: StepContext,
): CreateStep {
  switch (answer.outcome) {
    case 'unconfirmed':
      return afterUnknown(state, answer, context);
    case 'created':
      return { do: 'settle', answer };
    case 'rejected':
      return isWaitedOut(state, answer, context)
        ? afterStandingRefusal(state, answer, context)
        : { do: 'settle', answer };
    case 'pending':
      return { do: 'reconcile' };
    case 'refused_for_now': {
      // A refusal that another execution recorded belongs to that execution's send and is not counted here.
      const { counted, until } = tryAfter(state, answer, answer.sent || context.reconciled, context);
      if (exhausted(counted, until)) {
        return settleRejected(answer, {
          reason: 'retry_later',
          message:
            'The service temporarily refused every attempt. Nothing was accepted. Start it again later under the same id.',
          httpStatus: answer.httpStatus,
          error: answer.error,
          // Never clamped: the caller gets the service's actual time (C8.7).
          ...(answer.notBefore === null ? {} : { notBefore: answer.notBefore }),
        });
      }
      return { do: 'wait', until, state: counted, why: `refused with HTTP ${answer.httpStatus}` };
    }
    case 'not_sent': {
      const known: CreateOnceState =
        answer.cause === RECORDED_BY_ANOTHER_RUN ? { ...state, elsewhere: true } : state;
      if (answer.permanent) return settleUnsent(known, answer);
      if (!answer.sendAttemptUsed || FREE_CAUSES.has(answer.cause))
        return afterUnsent(known, answer, context);
      const { counted, until } = tryAfter(known, answer, true, context);
      if (exhausted(counted, until)) return settleUnsent(known, answer);
      return { do: 'wait', until, state: counted, why: answer.message };
    }
  }
}

/**
 * Returns the next step after an image call without a result: a wait that follows the rules of a create, or the call's
 * outcome.
 */
export function afterImage(
  state: CreateOnceState,
  answer: WaitingImage,
  context: Omit<StepContext, 'reconciled'>,
): Extract<CreateStep, { readonly do: 'wait' }> | ImageOutcome {
  const step = nextStep(state, answer, { ...context, reconciled: false });
  if (step.do === 'wait') return step;
  if (step.do !== 'settle' || step.answer.outcome !== 'rejected')
    throw new Error(`An image call cannot continue with ${step.do}`);
  const refused = { ...step.answer, ...(state.mayBeOwed === true && { mayBeOwed: true as const }) };
  return outcomes.rejected(refused, state.creationKey, refused.sent ? 1 : 0);
}

/** Returns the id of the send with an unknown outcome that the next create repeats under its idempotency key. */
export function sentAgain({ unknown }: CreateOnceState): string | undefined {
  return unknown?.evidence.sendId ?? undefined;
}

/**
 * Adds to a refusal the money that may be owed for earlier sends. A refusal proves nothing about an earlier send that a
 * person had resent, or about an earlier send with an unknown outcome under the same key. Only a person's decision
 * settles the latter.
 */
export function withDebts(answer: SettledCreate, state: CreateOnceState): SettledCreate {
  const { unknown } = state;
  if (unknown !== undefined && answer.outcome === 'rejected' && answer.reason !== 'declared_lost') {
    const isOfLaterSend = answer.sent && answer.sendAttempt > unknown.sendAttempt;
    if (!isOfLaterSend) return unknown;
  }
  return answer.outcome === 'rejected' && state.mayBeOwed === true ? { ...answer, mayBeOwed: true } : answer;
}

type CancelledStep =
  | { readonly do: 'settle'; readonly answer: CreatedVideo | UnconfirmedCall }
  | { readonly do: 'end'; readonly mayBeOwed: boolean };

/** Whether a send without an answer may have bought something under the key. */
export function mayOwe({ mayBeOwed, elsewhere }: Pick<CreateOnceState, 'mayBeOwed' | 'elsewhere'>): boolean {
  return mayBeOwed === true || elsewhere === true;
}

/** Returns a canceled run's next step. If another run may owe money, the step says so (C1.8). */
export function cancelledStep(
  answer: CreateVideoAnswer,
  { elsewhere }: Pick<CreateOnceState, 'elsewhere'>,
): CancelledStep {
  switch (answer.outcome) {
    case 'created':
    case 'unconfirmed':
      return { do: 'settle', answer };
    case 'not_sent':
      return {
        do: 'end',
        mayBeOwed: answer.mayBeOwed === true || (elsewhere === true && answer.cause !== NOT_RECORDED),
      };
    case 'refused_for_now':
    case 'rejected':
      return { do: 'end', mayBeOwed: answer.mayBeOwed === true };
    case 'pending':
      return { do: 'end', mayBeOwed: true };
  }
}

/** Causes that involve no connection attempt. The next worker can start immediately. */
const FREE_CAUSES: ReadonlySet<string> = new Set([
  'fenced',
  'overtaken',
  'decided',
  'worker_shutdown',
  'server_not_notified',
]);

/**
 * Sends the request again under the same idempotency key if the service counts both as one purchase. If it does not,
 * the service's task records might show the outcome.
 */
function afterUnknown(state: CreateOnceState, answer: UnconfirmedCall, context: StepContext): CreateStep {
  const answered =
    state.unknown?.sendAttempt === answer.sendAttempt ? { ...answer, resent: true as const } : answer;
  if (answer.sameKeyUntil !== undefined) {
    const { counted, until } = tryAfter(state, answer, true, context);
    if (!exhausted(counted, until) && until <= Date.parse(answer.sameKeyUntil)) {
      const why = `the create's outcome is unknown (${answer.evidence.cause}), so it is resent under the same idempotency key`;
      return { do: 'wait', until, state: { ...counted, unknown: answered }, why };
    }
  }
  // Only one reconciliation queries the task records, and its answer is final.
  return answer.inspectable === true && !context.reconciled
    ? { do: 'reconcile' }
    : { do: 'settle', answer: answered };
}

type NotSentAnswer = Extract<CreateVideoAnswer, { outcome: 'not_sent' }>;

function afterUnsent(state: CreateOnceState, answer: NotSentAnswer, context: StepContext): CreateStep {
  const waits = state.waits + 1;
  const next = { ...owing(state, answer), waits };
  const until = unsentUntil(answer, waits, context);
  if (until > state.startedAt + context.startLimitMs)
    return settleUnsent(state, { ...answer, message: `${answer.message} The start limit has passed.` });
  return { do: 'wait', until, state: next, why: answer.message };
}

function unsentUntil(
  { cause, reason, heldUntil }: NotSentAnswer,
  waits: number,
  context: StepContext,
): number {
  const { now, random } = context;
  if (heldUntil !== undefined) return afterHold(heldUntil, waits, context);
  if (FREE_CAUSES.has(cause) && waits < 10) return now;
  // Another worker might have what this one lacks, so the next attempt is sooner than after an outage.
  return now + backoff(waits, reason === undefined ? MAX_UNSENT_DELAY_MS : MAX_DELAY_MS, random);
}

function afterHold(heldUntil: string, waits: number, { now, random }: StepContext): number {
  const holdMs = Math.max(0, Date.parse(heldUntil) - now);
  // A short hold has a short spread, because the next probe follows soon.
  return now + holdMs + backoff(waits, Math.min(Math.max(1_000, 2 * holdMs), HELD_SPREAD_MS), random);
}

/**
 * Whether a call waits out a standing refusal. A caller whose first send is refused gets the refusal immediately. A
 * call that has already waited, or that no person is waiting for, keeps waiting: nothing was accepted, and a person has
 * to fix the cause.
 */
function isWaitedOut(
  state: CreateOnceState,
  { standing }: RejectedCall,
  { waitsForFix }: StepContext,
): boolean {
  return standing !== undefined && (waitsForFix === true || state.waits > 0);
}

function afterStandingRefusal(
  state: CreateOnceState,
  answer: RejectedCall,
  context: StepContext,
): CreateStep {
  const waits = state.waits + 1;
  // A refusal from the journal contains the time of its next attempt, which may already have passed.
  const until = afterHold(answer.heldUntil ?? new Date(context.now).toISOString(), waits, context);
  if (until > state.startedAt + context.startLimitMs) return { do: 'settle', answer };
  const sends = state.sends + (answer.sent ? 1 : 0);
  const next = { ...settledUnknown(owing(state, answer), answer), sends, waits };
  const status = answer.httpStatus === undefined ? '' : ` with HTTP ${answer.httpStatus}`;
  return {
    do: 'wait',
    until,
    state: next,
    why: `The service refuses the request${status}: ${answer.message}`,
  };
}

function owing(state: CreateOnceState, answer: { readonly mayBeOwed?: true }): CreateOnceState {
  return answer.mayBeOwed === true ? { ...state, mayBeOwed: true } : state;
}

/**
 * Returns the state after an attempt, and when the next attempt begins.
 * @param counts whether the attempt counts toward the limit
 */
function tryAfter(
  state: CreateOnceState,
  answer: Exclude<CreateVideoAnswer, CreatedVideo | RejectedCall>,
  counts: boolean,
  { now, random }: StepContext,
): { readonly counted: CreateOnceState; readonly until: number } {
  const counted = {
    ...settledUnknown(owing(state, answer), answer),
    sends: state.sends + (answer.sent ? 1 : 0),
    tries: state.tries + (counts ? 1 : 0),
    firstSendAt: state.firstSendAt ?? now,
  };
  const notBefore = 'notBefore' in answer ? answer.notBefore : undefined;
  const asked = typeof notBefore === 'string' ? Date.parse(notBefore) : now;
  return { counted, until: Math.max(asked, now + backoff(counted.tries, MAX_DELAY_MS, random)) };
}

/**
 * Drops the send with the unknown outcome once a later send has an answer. By then, the outcome is known or a person
 * has decided.
 */
function settledUnknown(
  { unknown, ...state }: CreateOnceState,
  { sendAttempt }: { readonly sendAttempt: number },
): CreateOnceState {
  return { ...state, ...(unknown?.sendAttempt === sendAttempt && { unknown }) };
}

function exhausted(state: CreateOnceState, until: number): boolean {
  return (
    state.tries >= MAX_SENDS || (state.firstSendAt !== null && until > state.firstSendAt + RESEND_WINDOW_MS)
  );
}

/** Returns a full-jitter delay whose ceiling doubles with each attempt. Never 0, to prevent a busy loop. */
function backoff(tries: number, ceilingMs: number, random: number): number {
  const ceiling = Math.min(ceilingMs, 1000 * 2 ** Math.min(Math.max(tries, 1), 12));
  return Math.round(500 + random * (ceiling - 500));
}

/** Causes of answers that do not reveal what the key's log contains. */
const LOG_UNREAD: ReadonlySet<string> = new Set([
  'no_worker',
  'journal_not_bound',
  'journal_unavailable',
  'account_not_configured',
  RECORDED_BY_ANOTHER_RUN,
  UNSAFE_RETRIES,
  INTERNAL_ERROR,
]);

/** Returns the rejection for a call that the caller no longer waits for. */
function settleUnsent({ elsewhere }: CreateOnceState, answer: NotSentAnswer): CreateStep {
  const { cause, reason, field, message } = answer;
  const settled =
    elsewhere === true && LOG_UNREAD.has(cause) ? { ...answer, mayBeOwed: true as const } : answer;
  return settleRejected(settled, { reason: reason ?? 'not_sent', message, ...given({ field }) });
}

function settleRejected(
  answer: Exclude<CreateVideoAnswer, SettledCreate>,
  rejection: Pick<RejectedCall, 'reason' | 'message' | 'field' | 'httpStatus' | 'error' | 'notBefore'>,
): CreateStep {
  return {
    do: 'settle',
    answer: {
      outcome: 'rejected',
      sendAttempt: answer.sendAttempt,
      sent: answer.sent,
      account: answer.account,
      estimate: answer.estimate,
      ...(answer.mayBeOwed === true && { mayBeOwed: true }),
      ...rejection,
    },
  };
}
