import { type Money } from '../domain/price';
import { type IntentEntry } from '../domain/log-entries';
import {
  evidence,
  type NotSent,
  type PendingCall,
  type RefusedForNow,
  type RejectedCall,
  type UnconfirmedCall,
} from '../domain/paid-call';
import { type RejectReason } from '../domain/failure-table';
import { standingScope } from '../domain/standing-refusal';
import { type ValidationIssue } from '../domain/validation-issue';
import { type PaidFailure } from '../service/media-client';
import { type MissingHere } from './paid-context';
import { factsIn } from './recorded-answers';
import { timeAfter } from './wall-clock';

/** The common fields of every answer of a paid activity. */
export interface AnswerBase {
  readonly sendAttempt: number;
  readonly sent: boolean;
  readonly account: string | null;
  readonly estimate: Money | null;
  /** An earlier send of unknown fate was sent again by decision. */
  readonly mayBeOwed?: true;
}

/** Adds a warning to a purchase after a decision to send again (C7.10). */
export function warningsAfter(base: AnswerBase, warnings: readonly string[]): readonly string[] {
  return base.mayBeOwed === true ? [...warnings, EARLIER_SEND] : warnings;
}
const EARLIER_SEND =
  'It was sent again by decision: the earlier send under this id may have been accepted and cost as well.';

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
    ...(issue === undefined ? {} : { field: issue.field }),
    ...(issue?.allowed === undefined ? {} : { allowed: issue.allowed }),
  };
}

export function invalidAnswer(base: AnswerBase, issue: ValidationIssue): RejectedCall {
  return rejectedAnswer(base, 'invalid_request', issue.message, issue);
}

/** Nothing was recorded, and nothing was sent. */
export function waitingAnswer(base: AnswerBase, cause: string, message: string): NotSent {
  return {
    ...base,
    sent: false,
    outcome: 'not_sent',
    cause,
    sendAttemptUsed: false,
    permanent: false,
    message,
  };
}

/** This worker lacks something that another may have: nothing was recorded, so that the other one can take the call. */
export function missingAnswer(base: AnswerBase, { cause, reason, message, field }: MissingHere): NotSent {
  return { ...waitingAnswer(base, cause, message), reason, ...(field === undefined ? {} : { field }) };
}

export function fencedAnswer(base: AnswerBase): NotSent {
  return {
    ...base,
    sent: false,
    outcome: 'not_sent',
    cause: 'fenced',
    sendAttemptUsed: false,
    permanent: false,
    message: 'The journal proves that nothing was sent.',
  };
}

export function pendingAnswer(
  base: AnswerBase,
  known?: Pick<PendingCall, 'announced' | 'fingerprint' | 'unrecorded'>,
): PendingCall {
  return { ...base, sent: false, outcome: 'pending', ...known };
}

/** The answer of a send without success, with the facts of its intent. */
export function failureAnswer(
  failure: PaidFailure,
  base: AnswerBase,
  intent: IntentEntry,
): NotSent | RefusedForNow | RejectedCall | UnconfirmedCall {
  switch (failure.class) {
    case 'not_sent': {
      const { cause, permanent, message } = failure;
      return { ...base, sent: false, outcome: 'not_sent', cause, permanent, message, sendAttemptUsed: true };
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
      // Kept also when this run ends: a later start of the same id may not send before it either (C8.7).
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
