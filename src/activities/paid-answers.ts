import { notOfTheFuture } from '../domain/clocks';
import { type RejectReason } from '../domain/failure-table';
import { given } from '../domain/json';
import {
  billedFor,
  type IntentEntry,
  type LostEntry,
  mayHaveCost,
  owesBefore,
  owesBesides,
  purchaseOf,
  type RecordedAnswer,
  type Send,
} from '../domain/log-entries';
import { type Money } from '../domain/money';
import {
  type CallFacts,
  type CreatedVideo,
  evidence,
  type NotSent,
  type PendingCall,
  type RefusedForNow,
  type RejectedCall,
  type UnconfirmedCall,
} from '../domain/paid-call';
import { type KeyState } from '../domain/paid-log';
import { type ValidationIssue } from '../domain/shape';
import { DEFAULT_POLLING, type PollingProfile } from '../domain/video-task';
import { type PaidFailure } from '../service/media-client';
import { timeAfter } from '../service/time-left';
import { type MissingHere } from './paid-context';
import { standingScope } from './refusal-gate';

/** The fields that every answer from a paid activity contains. */
export interface AnswerBase {
  readonly sendAttempt: number;
  readonly sent: boolean;
  readonly account: string | null;
  readonly estimate: Money | null;
  /** Set if a person decided to repeat an earlier unconfirmed send. */
  readonly mayBeOwed?: true;
}

/** Returns the base for a call whose log was not read. */
export function unreadBase(account: string | undefined): AnswerBase {
  return { sendAttempt: 0, sent: false, account: account ?? null, estimate: null };
}

/** Adds a warning to a purchase that follows a decision to send again. */
export function warningsAfter(base: AnswerBase, warnings: readonly string[]): readonly string[] {
  return base.mayBeOwed === true ? [...warnings, EARLIER_SEND] : warnings;
}
const EARLIER_SEND =
  'A person decided to send the call again: the earlier send under this ID may also have been accepted and cost money.';

export function rejectedAnswer(
  base: AnswerBase,
  reason: RejectReason,
  message: string,
  issue?: Pick<ValidationIssue, 'field' | 'allowed'>,
): RejectedCall {
  return {
    ...base,
    outcome: 'rejected',
    reason,
    message,
    ...given({ field: issue?.field, allowed: issue?.allowed }),
  };
}

export function invalidAnswer(base: AnswerBase, issue: ValidationIssue): RejectedCall {
  return rejectedAnswer(base, 'invalid_request', issue.message, issue);
}

/**
 * Returns the answer for a call that was not sent. @param more whether waiting helps, and for how long; @default it may
 * help, and no intent was recorded
 */
export function unsentAnswer(
  base: AnswerBase,
  cause: string,
  message: string,
  more: Partial<NotSent> = {},
): NotSent {
  return {
    ...base,
    sent: false,
    outcome: 'not_sent',
    cause,
    sendAttemptUsed: false,
    permanent: false,
    message,
    ...more,
  };
}

/** Nothing was sent under the recorded intent. */
export const UNDER_INTENT = { sendAttemptUsed: true } as const;

/**
 * Returns the answer for a call that needs something this worker lacks but another may have. Nothing was recorded, so
 * another worker can take the call.
 */
export function missingAnswer(base: AnswerBase, { cause, message, ...more }: MissingHere): NotSent {
  return unsentAnswer(base, cause, message, more);
}

export function fencedAnswer(base: AnswerBase): NotSent {
  return unsentAnswer(base, 'fenced', 'The journal proves that nothing was sent.');
}

/** Identifies the send that an answer is about, after the call's request was compared with that send. */
export function compared(send: Send['sent'] | null): Pick<PendingCall, 'announced' | 'fingerprint'> {
  return send === null ? {} : { announced: send.nonce, fingerprint: send.fingerprint };
}

export function pendingAnswer(
  base: AnswerBase,
  known?: Pick<PendingCall, 'announced' | 'taskId' | 'fingerprint' | 'unrecorded'>,
): PendingCall {
  return { ...base, sent: false, outcome: 'pending', ...known };
}

/**
 * Returns the answer when another request owns the key.
 * @param held that request's send, for a caller that accounts for everything under its keys: the answer then includes
 * what that request may cost and its task
 */
export function conflictAnswer(base: AnswerBase, held?: Send): RejectedCall {
  const conflict = rejectedAnswer(
    { ...base, sent: false },
    'creation_key_conflict',
    'This creation key was already used for another request. Nothing was sent. Use another key, or repeat the first request unchanged.',
    { field: 'creationKey' },
  );
  if (held === undefined || !mayHaveCost(held)) return conflict;
  const bought = purchaseOf(held);
  const task = bought?.outcome === 'created' ? ` as task ${bought.video.taskId}` : '';
  return {
    ...conflict,
    estimate: held.sent.kind === 'intent' ? held.sent.estimate : null,
    mayBeOwed: true,
    message: `A different text may already have been bought under this key${task}. Its cost is included in the books. The new text is not bought automatically. Nothing was sent.`,
  };
}

/** Returns the answer for a send that did not succeed, with the facts from its intent. */
export function failureAnswer(
  failure: PaidFailure,
  base: AnswerBase,
  intent: IntentEntry,
): NotSent | RefusedForNow | RejectedCall | UnconfirmedCall {
  switch (failure.class) {
    case 'not_sent': {
      const { cause, permanent, message } = failure;
      return unsentAnswer(base, cause, message, { ...UNDER_INTENT, permanent });
    }
    case 'refused_for_now': {
      const { httpStatus, error, retryAfterMs } = failure;
      const notBefore = retryAfterMs === undefined ? null : timeAfter(retryAfterMs);
      return { ...base, outcome: 'refused_for_now', httpStatus, error, notBefore };
    }
    case 'rejected': {
      const { reason, httpStatus, error, message, retryAfterMs } = failure;
      const standing = standingScope({ reason, httpStatus, error });
      const refused = { ...base, outcome: 'rejected', reason, httpStatus, error, message } as const;
      const rejected: RejectedCall = standing === undefined ? refused : { ...refused, standing };
      // This also applies after this run: a later start with the same ID must not send earlier either (C8.7).
      return retryAfterMs === undefined ? rejected : { ...rejected, notBefore: timeAfter(retryAfterMs) };
    }
    case 'unconfirmed':
      return {
        ...base,
        outcome: 'unconfirmed',
        ...(failure.retryAfterMs !== undefined && { notBefore: timeAfter(failure.retryAfterMs) }),
        evidence: evidence(failure.cause, {
          sendId: intent.nonce,
          intentAt: intent.at,
          sendWindowEnd: new Date().toISOString(),
          bodyHash: intent.bodyHash,
          httpStatus: failure.httpStatus ?? null,
          headers: failure.headers,
          kind: failure.error?.kind ?? null,
          code: failure.error?.code ?? null,
          replyHash: failure.replyHash ?? null,
          ...factsIn(intent),
        }),
      };
  }
}

/** The facts about a request that its log stores. They contain none of the request's text. */
type SentFacts = CallFacts & Pick<IntentEntry, 'account'>;

export function factsIn({
  account,
  model,
  durationSeconds,
  resolution,
  referenceMode,
}: SentFacts): SentFacts {
  return { account, model, durationSeconds, resolution, referenceMode };
}

/**
 * Returns a send's recorded answer: the purchase, the decision, the sender's own record, or the fact that the outcome
 * is unknown.
 * @param now milliseconds since the Unix epoch, for an answer that contains a time
 */
export function recordedAnswer(state: KeyState, at: number, now = Infinity): RecordedAnswer {
  const send = state.sends[at] as Send;
  const answer = send.answer && notOfTheFuture(send.answer, now).answer;
  const current = purchaseOf(send) ?? send.decision?.answer ?? answer ?? unconfirmedBySend(send, at);
  return {
    ...current,
    sendAttempt: at,
    ...(owesBesides(state, at) && { mayBeOwed: true as const }),
    ...given({ actual: billedFor(send) ?? undefined }),
  };
}

/** Returns the fields of every answer about a key's next send, before anything else is known about it. */
export function nextSend(state: KeyState): { readonly sendAttempt: number; readonly mayBeOwed?: true } {
  return { sendAttempt: state.sends.length, ...(owesBefore(state) && { mayBeOwed: true as const }) };
}

/**
 * Returns the answer for a send without a recorded answer whose sender can no longer be running. The send's own entry
 * is the evidence.
 */
export function unconfirmedBySend({ sent }: Pick<Send, 'sent'>, at: number, cause?: string): UnconfirmedCall {
  const facts = factsIn(sent);
  const common = { outcome: 'unconfirmed', sendAttempt: at, sent: true, account: sent.account } as const;
  if (sent.kind === 'lost') {
    const known = evidence(cause ?? sent.cause, { sendId: sent.nonce, ...facts });
    return { ...common, estimate: null, evidence: known };
  }
  const { nonce: sendId, at: intentAt, sendWindowEnd, bodyHash, estimate } = sent;
  const known = { sendId, intentAt, sendWindowEnd, bodyHash, ...facts };
  return { ...common, estimate, evidence: evidence(cause ?? 'no_outcome_recorded', known) };
}

/** Returns the answer for the create that made this task, with the facts that its log stores. */
export function adoptedAnswer(
  sent: IntentEntry | LostEntry,
  sendAttempt: number,
  taskId: string,
  status: string,
  polling: PollingProfile = DEFAULT_POLLING,
): CreatedVideo {
  const estimate = sent.kind === 'intent' ? sent.estimate : null;
  return {
    outcome: 'created',
    sendAttempt,
    sent: true,
    account: sent.account,
    estimate,
    status,
    warnings: ['The task was adopted, because the reply to its create was never read.'],
    video: { taskId, ...factsIn(sent), polling, createdAt: sent.at, source: 'journal' },
  };
}
