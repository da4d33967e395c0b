import { given } from './given';
import { type Cancelled, type ImageOutcome, type Rejected, type Unconfirmed } from './outcome';
import {
  type CreateEvidence,
  type ImageCallAnswer,
  type RejectedCall,
  type UnconfirmedCall,
} from './paid-call';
import { billing, type Billing, finishedState } from './price';
import { requestBudgetMs } from './request-budget';
import { type VideoTask } from './video-task';

/** Outcomes of paid calls, from facts, messages and money (architecture: Outcomes); those of a wait are in end-of-wait. */

const VALIDATED: ReadonlySet<RejectedCall['reason']> = new Set(['moderation', 'invalid_request']);

/**
 * Whether the service may bill the validation of the refused request: that nothing was accepted does not prove that
 * nothing is owed (C7.10). A refusal of the whole account or model validates no request.
 */
export function isValidated({ httpStatus, standing, reason }: RejectedCall): boolean {
  return httpStatus !== undefined && standing === undefined && VALIDATED.has(reason);
}

export function rejected(call: RejectedCall, creationKey: string | null, sends: number): Rejected {
  const mayBeOwed = call.mayBeOwed === true || isValidated(call);
  const { reason, message, field, allowed, httpStatus, error, notBefore } = call;
  return {
    outcome: 'rejected',
    creationKey,
    reason,
    message,
    ...given({ field, allowed, httpStatus, error, notBefore }),
    sends,
    billing: billing(call.estimate, mayBeOwed ? 'needs_review' : 'none'),
  };
}

/** A refusal by workflow or client code, before any activity: nothing was sent. */
export function refusedBeforeSend(
  reason: RejectedCall['reason'],
  message: string,
  field: string,
  allowed?: readonly string[],
): Rejected {
  const call: RejectedCall = {
    outcome: 'rejected',
    sendAttempt: 0,
    sent: false,
    account: null,
    estimate: null,
    reason,
    message,
    field,
    ...(allowed === undefined ? {} : { allowed }),
  };
  return rejected(call, null, 0);
}

export function unconfirmed(call: UnconfirmedCall, creationKey: string): Unconfirmed {
  return {
    outcome: 'unconfirmed',
    creationKey,
    sendAttempt: call.sendAttempt,
    evidence: call.evidence,
    message: unconfirmedMessage(call),
    billing: billing(call.estimate, 'needs_review'),
  };
}

function unconfirmedMessage({ evidence, resent }: UnconfirmedCall): string {
  const start =
    evidence.httpStatus === 500
      ? 'HTTP 500 may come from before a task existed (parsing, capability validation) and proves no fault of the provider.'
      : 'It is not known whether the service accepted the request.';
  const sent =
    resent === true
      ? 'It was sent again under the same idempotency key until the tries were over'
      : 'It was sent once and is not sent again';
  const slow = evidence.cause === 'timeout_after_send' ? ` ${noAnswerInTime(evidence)}` : '';
  return `${start} ${sent}; money may be owed. Look into the task records of the service with the evidence.${slow}`;
}

/** Advice for later calls of a slow model. */
function noAnswerInTime({ referenceMode }: CreateEvidence): string {
  const unlessGiven = requestBudgetMs(referenceMode === null ? 'image' : 'video', undefined) / 1000;
  return `The service did not answer in time: within requestSeconds of the model's entry in MEDIA_MODELS, ${unlessGiven} unless it is given there. Where the model takes longer, set it to more for later calls.`;
}

export function cancelled(video: VideoTask | null, creationKey: string | null, money: Billing): Cancelled {
  return { outcome: 'cancelled', video, creationKey, billing: money };
}

/** The builders as one object, for code that uses several of them. */
export const outcomes = {
  cancelled,
  refusedBeforeSend,
  rejected,
  unconfirmed,
};

/** The outcome of an image call; undefined for answers after which it may continue (nothing was accepted). */
export function imageOutcome(answer: ImageCallAnswer, creationKey: string): ImageOutcome | undefined {
  switch (answer.outcome) {
    case 'completed': {
      const { images, created, warnings, usage, estimate, mayBeOwed } = answer;
      return {
        outcome: 'completed',
        images,
        created,
        warnings,
        billing: billing(estimate, mayBeOwed === true ? 'needs_review' : finishedState(usage), usage),
      };
    }
    case 'results_lost': {
      const { images, created, reason, message, estimate, usage } = answer;
      return {
        outcome: 'results_lost',
        creationKey,
        images,
        created,
        reason,
        message,
        fetchable: answer.sealedLinks !== undefined,
        billing: billing(estimate, 'needs_review', usage),
      };
    }
    case 'rejected':
      return rejected(answer, creationKey, answer.sent ? 1 : 0);
    case 'unconfirmed':
      return unconfirmed(answer, creationKey);
    case 'not_sent':
    case 'refused_for_now':
    case 'pending':
      return undefined;
  }
}
