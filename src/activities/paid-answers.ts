import { type Money } from '../domain/price';
import {
  type SendAttemptView,
  isPaid,
  type SendAttemptKey,
  mayHaveCost,
  type ClaimIntent,
} from '../domain/journal';
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
import { factsIn } from './intent-of';
import { type MissingHere } from './paid-context';
import { type StandingRefusal } from './refusal-gate';
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

/** Nothing was recorded: the same send attempt is used again. */
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

/** A refusal of the account or the model is in effect: nothing was recorded, and the call returns at the next probe. */
export function heldAnswer(base: AnswerBase, refusal: StandingRefusal, model: string): NotSent {
  const { scope, reason, httpStatus, message, since, probeInMs } = refusal;
  const heldUntil = timeAfter(probeInMs);
  const account = `the account ${base.account ?? ''}`;
  const whose = scope === 'account' ? account : `the model ${JSON.stringify(model)} for ${account}`;
  const status = httpStatus === null ? '' : ` with HTTP ${httpStatus}`;
  const text = `Since ${since} the service refuses calls of ${whose}${status}: ${message} Nothing was sent. One request at a time asks whether it still does, the next at ${heldUntil}.`;
  return { ...waitingAnswer(base, 'refusal_stands', text), reason, heldUntil };
}

export function fencedAnswer(base: AnswerBase): NotSent {
  return {
    ...base,
    sent: false,
    outcome: 'not_sent',
    cause: 'fenced',
    sendAttemptUsed: true,
    permanent: false,
    message: 'The journal proves that nothing was sent.',
  };
}

export function pendingAnswer(
  base: AnswerBase,
  compared?: Pick<PendingCall, 'heartbeat' | 'fingerprint'>,
): PendingCall {
  return { ...base, sent: false, outcome: 'pending', ...compared };
}

export function conflictAnswer(base: AnswerBase): RejectedCall {
  return rejectedAnswer(
    { ...base, sent: false },
    'creation_key_conflict',
    'This creation key was used for another request before. Nothing was sent. Use another key, or repeat the first request unchanged.',
    { field: 'creationKey' },
  );
}

/**
 * The same for a caller that accounts for everything under its keys: with what the other request may have cost, and its
 * task.
 */
export function heldByAnotherAnswer(base: AnswerBase, view: SendAttemptView): RejectedCall {
  const conflict = conflictAnswer(base);
  if (!mayHaveCost(view)) return conflict;
  const { claim, outcome, resolution } = view;
  const answer = isPaid(outcome?.answer) ? outcome?.answer : resolution?.answer;
  const task = answer?.outcome === 'created' ? ` as the task ${answer.video.taskId}` : '';
  return {
    ...conflict,
    estimate: claim?.kind === 'intent' ? claim.estimate : null,
    mayBeOwed: true,
    message: `Another text was bought under this key before${task}, or may have been: it is on the books. This text is not bought by itself. Nothing was sent.`,
  };
}

/** The same body was sent under another key and its fate is unknown: buying it again is a person's decision. */
export function openElsewhereAnswer(base: AnswerBase, open: SendAttemptKey): RejectedCall {
  return rejectedAnswer(
    { ...base, sent: false },
    'unconfirmed_open',
    `The same request was sent under the id ${JSON.stringify(open.creationKey)} and its fate is unknown: it may have been accepted and cost money. Nothing was sent now. Settle that one first (adopt, declare lost or resubmit).`,
    { field: 'creationKey' },
  );
}

/** A live configuration may change while a campaign runs for days, and its budget counts with the planned prices. */
export function priceChangedAnswer(base: AnswerBase): RejectedCall {
  return rejectedAnswer(
    { ...base, sent: false },
    'price_changed',
    'It costs more now than when it was planned, or its price is no longer known. Nothing was sent. Plan it again.',
  );
}

/** The answer of a send without success, with the facts of its claim. */
export function failureAnswer(
  failure: PaidFailure,
  base: AnswerBase,
  claim: ClaimIntent,
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
          sendId: claim.nonce,
          intentAt: claim.at,
          sendWindowEnd: new Date().toISOString(),
          bodyHash: claim.bodyHash,
          httpStatus: failure.httpStatus ?? null,
          headers: failure.headers,
          kind: failure.error?.kind ?? null,
          code: failure.error?.code ?? null,
          replyHash: failure.replyHash ?? null,
          ...factsIn(claim),
        }),
      };
  }
}

/** An intent without an outcome whose sender cannot be alive any more: the claim provides the evidence. */
export function unconfirmedAfterIntent(
  claim: ClaimIntent,
  sendAttempt: number,
  cause = 'no_outcome_recorded',
): UnconfirmedCall {
  const { account, estimate, bodyHash, sendWindowEnd } = claim;
  return {
    outcome: 'unconfirmed',
    sendAttempt,
    sent: true,
    account,
    estimate,
    evidence: evidence(cause, {
      sendId: claim.nonce,
      intentAt: claim.at,
      sendWindowEnd,
      bodyHash,
      ...factsIn(claim),
    }),
  };
}
