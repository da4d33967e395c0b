import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { RETRY_LATER, UNSAFE_RETRY_POLICY } from '../domain/names';

/** Failure types that a history or an operator may see. After serialisation the type string is all that survives. */
export const FAILURE = {
  /** Something temporary; the activity's own retry goes on (details: class, httpStatus, retryAfterMs). */
  retryLater: RETRY_LATER,
  /** A paid activity without a journal must not be retried by its policy. */
  unsafeRetryPolicy: UNSAFE_RETRY_POLICY,
  /** The journal could not be read or written. */
  journalUnavailable: 'MediaJournalUnavailable',
} as const;

export interface RetryLater {
  /** A public word, such as `rate_limited` or `waiting_for_sender`. */
  readonly class: string;
  readonly message: string;
  readonly httpStatus?: number;
  /** Milliseconds; a lower bound that the server honours. */
  readonly delayMs?: number;
}

/** The one place where a temporary condition becomes a retryable failure. BENIGN: expected, no noise in logs. */
export function retryLater({ class: word, message, httpStatus, delayMs }: RetryLater): ApplicationFailure {
  return ApplicationFailure.create({
    type: FAILURE.retryLater,
    message,
    nonRetryable: false,
    category: ApplicationFailureCategory.BENIGN,
    details: [{ class: word, httpStatus: httpStatus ?? null, retryAfterMs: delayMs ?? null }],
    ...(delayMs === undefined ? {} : { nextRetryDelay: delayMs }),
  });
}

export function journalUnavailable(): ApplicationFailure {
  return ApplicationFailure.create({
    type: FAILURE.journalUnavailable,
    message:
      'The create journal cannot be read or written. Nothing is sent without it; check its folder, disk and rights.',
    nonRetryable: false,
  });
}

export function unsafeRetryPolicy(attempt: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: FAILURE.unsafeRetryPolicy,
    message:
      'This worker has no create journal (journal: "none"), so a paid activity may be attempted once only. Nothing was sent. ' +
      'Set maximumAttempts to 1 in its retry policy, or give the worker a journal.',
    nonRetryable: true,
    // Of a later attempt nobody can say that the ones before it sent nothing.
    details: [{ attempt }],
  });
}
