import { ApplicationFailure } from '@temporalio/common';
import { Context, log } from '@temporalio/activity';
import { type NotSent } from '../domain/paid-call';
import { journalFault, JournalRecordError } from '../journal/records';
import { clearOf, FAILURE } from './failures';
import { reportIfMistake } from './mistakes';
import { type AnswerBase, unsentAnswer } from './paid-answers';

const UNUSABLE = 'The create journal cannot be read or written, and nothing is sent without it.';

/** An entry was written although its write failed. */
export const UNSURE = new JournalRecordError(
  'A record may not survive a loss of power: its write failed, although it can be read.',
);

/** A retryable failure with the cause. The SDK logs it, once for each attempt. */
export function journalUnavailable(error: unknown): ApplicationFailure {
  reportIfMistake(error);
  return ApplicationFailure.create({
    type: FAILURE.journalUnavailable,
    message: `${UNUSABLE} ${causeOf(error)}`,
    nonRetryable: false,
  });
}

/** For a `catch`: the server retries the activity. */
export function orRetry(error: unknown): never {
  throw journalUnavailable(error);
}

/**
 * For a `catch`: the answer of a call that the journal keeps from being sent. Logs the cause, because a value is not logged
 * by the SDK.
 */
export const journalDown =
  (base: AnswerBase) =>
  (error: unknown): NotSent => {
    const cause = causeOf(error);
    warnOnce(error, cause);
    return unsentAnswer(base, 'journal_unavailable', `${UNUSABLE} ${cause}`);
  };

/** Tells those who run the worker that what became of a send is not in the journal. */
export function warnUnrecorded(creationKey: string, fault: unknown): void {
  log.warn('The outcome of a paid call could not be written to the journal', {
    creationKey,
    cause: journalFault(fault),
  });
}

/** Attempts that have their line: one activity may hold hundreds of calls, which all fail for the same cause. */
const WARNED = new WeakSet<Context>();

function warnOnce(error: unknown, cause: string): void {
  const context = Context.current();
  if (WARNED.has(context)) return;
  WARNED.add(context);
  // A store may be anybody's: its mistake is told, and the call waits as for any other fault of it.
  reportIfMistake(error);
  log.warn('The create journal cannot be read or written', { cause });
}

function causeOf(error: unknown): string {
  return clearOf([])(journalFault(error));
}
