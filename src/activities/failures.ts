import { activityInfo, asyncLocalStorage, log, metricMeter } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory, TemporalFailure } from '@temporalio/common';
import { isBug, otherwise } from '../domain/bug';
import { given } from '../domain/json';
import { METRICS } from '../domain/metrics';
import { INTERNAL_ERROR, RETRY_LATER, UNSAFE_RETRY_POLICY } from '../domain/names';
import { type CallWait } from '../domain/video-state';
import { createRedactor, type Redactor } from '../service/redact';
import { type AccountRegistry } from '../settings/accounts';

/**
 * Reports a bug in this package as a metric and as an ERROR log entry. The entry contains the stack frames but not the
 * message, which may repeat a value. The SDK logs a failed activity only as a WARN, and does not log a returned value
 * at all.
 */
export function reportMistake(error: unknown): void {
  const { name, stack } = error instanceof Error ? error : new Error('not an error');
  const frames = framesOf(stack);
  const message = 'This is a bug in temporal-media. Please report it with its stack';
  if (asyncLocalStorage.getStore() === undefined) {
    // There is no logger outside an activity. Node prints a warning, and the host can listen for it.
    process.emitWarning(message, { type: name, detail: frames.join('\n') });
    return;
  }
  log.error(message, { stack: [name, ...frames].join('\n') });
  const { name: counter, help } = METRICS.internalErrors;
  metricMeter.createCounter(counter, undefined, help).add(1);
}

/** Runs {@link reportMistake} for a bug. Other errors are already part of an answer. */
export function reportIfMistake(error: unknown): void {
  if (isBug(error)) reportMistake(error);
}

/** Returns a stack's frames without its message, which may repeat a value. */
export function framesOf(stack = ''): readonly string[] {
  return stack.split('\n').filter((line) => /^\s+at /.test(line));
}

/**
 * Returns a `catch` handler that returns this value and, if the error is a bug, reports it. A bug must not make a call
 * fail, whether the call is paid or not.
 */
export function reported<T>(value: T): (error: unknown) => T {
  return (error) => {
    reportIfMistake(error);
    return value;
  };
}

/**
 * Number of attempts that workers without the account may make. With two workers, the chance that none of an activity's
 * attempts reaches the right one is 1 in 64.
 */
const TRIES = 6;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Gives another worker on the queue a chance to serve an account that this one lacks, by throwing a retryable failure
 * during the first attempts. Delays grow and vary, to prevent a tight loop. Use this only before a request is sent, and
 * not for paid calls, which instead return what is missing.
 * @param withinMs milliseconds since the activity was scheduled after which another attempt is useless
 */
export function retryOnAnotherWorker(withinMs = Infinity): void {
  const { attempt, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = activityInfo();
  const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1)) * (0.5 + Math.random());
  const sinceMs = currentAttemptScheduledTimestampMs - scheduledTimestampMs;
  if (attempt >= TRIES || sinceMs + pauseMs > withinMs) return;
  throw retryLater({
    class: 'account_not_configured',
    message: 'This worker does not have the account, so nothing was requested. Another worker will try.',
    delayMs: Math.round(pauseMs),
  });
}

/** Failure types in histories. After serialization, only the type string remains. */
export const FAILURE = {
  /**
   * A temporary condition. The activity's own retry policy applies (details: class, httpStatus, delayMs, retryAfterMs).
   */
  retryLater: RETRY_LATER,
  /** A paid activity without a journal must not be retried by its policy. */
  unsafeRetryPolicy: UNSAFE_RETRY_POLICY,
  /** The journal could not be read or written. */
  journalUnavailable: 'MediaJournalUnavailable',
} as const;

interface RetryLater {
  /** A public name, such as `rate_limited` or `waiting_for_sender`. */
  readonly class: string;
  readonly message: string;
  readonly httpStatus?: number | undefined;
  /** Minimum delay in milliseconds, which the server honors. */
  readonly delayMs?: number | undefined;
  /**
   * The part of `delayMs` that the service requested (Retry-After). The remainder is our own backoff. @default nothing
   */
  readonly retryAfterMs?: number | undefined;
  /** Whether an earlier send of the call may have cost money. */
  readonly mayBeOwed?: true | undefined;
  /** Set if the call waits to be sent. */
  readonly waits?: CallWait | undefined;
}

/**
 * Converts a temporary condition to a retryable failure. BENIGN: the failure is expected and not logged as an error.
 */
export function retryLater({
  class: word,
  message,
  httpStatus,
  delayMs: givenMs,
  retryAfterMs,
  mayBeOwed,
  waits,
}: RetryLater): ApplicationFailure {
  const delayMs = givenMs === undefined ? undefined : Math.ceil(givenMs);
  return ApplicationFailure.create({
    type: FAILURE.retryLater,
    message,
    nonRetryable: false,
    category: ApplicationFailureCategory.BENIGN,
    details: [
      {
        class: word,
        httpStatus: httpStatus ?? null,
        delayMs: delayMs ?? null,
        retryAfterMs: retryAfterMs === undefined ? null : Math.ceil(retryAfterMs),
        ...(mayBeOwed === true && { mayBeOwed }),
        ...given({ waits }),
      },
    ],
    ...(delayMs === undefined ? {} : { nextRetryDelay: delayMs }),
  });
}

/**
 * Sanitizes a foreign failure, such as a store error. Its message and stack become part of the history and the worker's
 * log, and may repeat a URL, a key or a path. Failures that are meaningful to the SDK are returned unchanged.
 */
export async function sanitised(
  error: unknown,
  redactors: () => Promise<readonly Redactor[]>,
): Promise<unknown> {
  if (error instanceof TemporalFailure || isMeantForTheSdk(error)) return error;
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const clean = clearOf(await redactors().catch(otherwise([])));
  const failure = ApplicationFailure.create({
    type: isBug(error) ? INTERNAL_ERROR : name,
    message: clean(message),
    nonRetryable: false,
  });
  failure.stack = [`${name}: ${failure.message}`, ...framesOf(stack)].join('\n');
  return failure;
}

function isMeantForTheSdk(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'CompleteAsyncError');
}

export function unsafeRetryPolicy(attempt: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: FAILURE.unsafeRetryPolicy,
    message:
      'This worker has no create journal (journal: "none"), so a paid activity can have only one attempt. Nothing was sent. ' +
      'Set maximumAttempts to 1 in its retry policy, or give the worker a journal.',
    nonRetryable: true,
    // It is unknown whether an earlier attempt has sent anything.
    details: [{ attempt }],
  });
}

/** Returns redactors for the keys of all of this worker's accounts. */
export async function redactorsOf(accounts: AccountRegistry): Promise<readonly Redactor[]> {
  return Promise.all(accounts.all().map(({ client }) => client.redactor()));
}

/** Returns a function that removes all known keys, signed URLs and anything that looks like either from a text. */
export function clearOf(redactors: readonly Redactor[]): (text: string, max?: number) => string {
  const known = [...redactors, createRedactor([])];
  return (text, max) => known.reduce((rest, redactor) => redactor.text(rest, max), text);
}
