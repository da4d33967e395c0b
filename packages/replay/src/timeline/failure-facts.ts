import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { type History } from '@temporalio/common/lib/proto-utils';
import { isSentence } from 'temporal-media/internal/service/redact';
import { fieldsOf, numberOf, type Shown, textOf } from './values';

/**
 * Returns a payload's value, or undefined if there is none or it cannot be read, for example because it is encrypted.
 */
export function decoded(payload: Payload | null | undefined): unknown {
  if (!payload) return undefined;
  try {
    return defaultPayloadConverter.fromPayload(payload);
  } catch (_error) {
    return undefined;
  }
}

/** Returns the first argument or result. */
export function firstOf(
  payloads: { readonly payloads?: readonly Payload[] | null } | null | undefined,
): unknown {
  return decoded(payloads?.payloads?.[0]);
}

type Event = NonNullable<History['events']>[number];
type Failure = NonNullable<NonNullable<Event['activityTaskFailedEventAttributes']>['failure']>;

/** Facts about a failure. They leave out its message, which may repeat a prompt. */
export interface FailureFacts {
  /** An application failure's type, or any other failure's kind. */
  readonly type: string;
  /** The kind of timeout, such as `start_to_close`; null for other failures. */
  readonly timeout: string | null;
  /** For this package's failures, the class, such as `rate_limited`. */
  readonly class: string | null;
  readonly httpStatus: number | null;
  /** Minimum pause before the next attempt, in milliseconds; null if the retry policy decides. */
  readonly delayMs: number | null;
  /** The part of the pause that the service requested (Retry-After); null if none. */
  readonly retryAfterMs: number | null;
  /** Whether the last heartbeat is known. */
  readonly heartbeat: boolean;
  /** The SDK rule that the code broke, such as `TMPRL1100`. */
  readonly rule: string | null;
}

const TIMEOUTS = ['unspecified', 'start_to_close', 'schedule_to_start', 'schedule_to_close', 'heartbeat'];

/** Returns the innermost failure's facts, because an activity failure wraps the failure that its code threw. */
export function failureFacts(failure: Failure | null | undefined): FailureFacts | null {
  if (failure === null || failure === undefined) return null;
  let inner = failure;
  while (
    inner.cause !== null &&
    inner.cause !== undefined &&
    !inner.applicationFailureInfo &&
    !inner.timeoutFailureInfo
  )
    inner = inner.cause;
  const details = fieldsOf(decoded(inner.applicationFailureInfo?.details?.payloads?.[0]));
  const timeout = inner.timeoutFailureInfo;
  return {
    type: typeName(inner),
    timeout: timeout ? (TIMEOUTS[Number(timeout.timeoutType ?? 0)] ?? 'unspecified') : null,
    class: wordOf(details['class']),
    httpStatus: numberOf(details['httpStatus']),
    delayMs: numberOf(details['delayMs']),
    retryAfterMs: numberOf(details['retryAfterMs']),
    heartbeat: (timeout?.lastHeartbeatDetails?.payloads?.length ?? 0) > 0,
    rule: /\[(TMPRL\d+)\]/.exec(failure.message ?? '')?.[1] ?? null,
  };
}

/** Returns a class or type name that other code chose; null for a sentence, which might be a prompt. */
const wordOf = (value: unknown): string | null => {
  const text = textOf(value);
  return text === null || isSentence(text) ? null : text;
};

function typeName(failure: Failure): string {
  if (failure.applicationFailureInfo) return wordOf(failure.applicationFailureInfo.type) || 'Error';
  if (failure.timeoutFailureInfo) return 'TimeoutFailure';
  if (failure.canceledFailureInfo) return 'CancelledFailure';
  if (failure.terminatedFailureInfo) return 'TerminatedFailure';
  if (failure.childWorkflowExecutionFailureInfo) return 'ChildWorkflowFailure';
  if (failure.activityFailureInfo) return 'ActivityFailure';
  if (failure.nexusOperationExecutionFailureInfo) return 'NexusOperationFailure';
  return failure.serverFailureInfo ? 'ServerFailure' : 'Failure';
}

/** Describes a failure in a few words, for use in a sentence. */
export function failureWords({ type, timeout, class: word, httpStatus, rule }: FailureFacts): string {
  if (timeout !== null) return `${timeout.replaceAll('_', ' ')} timeout`;
  const status = httpStatus === null ? '' : ` (HTTP ${httpStatus})`;
  return `${word ?? type}${status}${rule === null ? '' : ` [${rule}]`}`;
}

/** Returns who ended a run without an outcome, and why: ` by ops: too slow`; empty if unknown. */
export function endedBy(
  event: Pick<Event, 'workflowExecutionTerminatedEventAttributes'>,
  failure: FailureFacts | null,
  shown: Pick<Shown, 'said'>,
): string {
  const { reason, identity } = event.workflowExecutionTerminatedEventAttributes ?? {};
  const why = failure !== null ? failureWords(failure) : reason ? shown.said(reason) : null;
  return `${identity ? ` by ${shown.said(identity)}` : ''}${why === null ? '' : `: ${why}`}`;
}
