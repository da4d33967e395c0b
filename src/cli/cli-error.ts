import { failureRow } from '../domain/failure-table';
import { type ValidationIssue } from '../domain/validation-issue';
import { EXIT, type ExitCode } from './exit-codes';

/** What a script reads about a command that did not succeed. */
export interface FailureReply {
  /** Public word, often a type of the failure table. */
  readonly type: string;
  readonly message: string;
  /** What to do next. */
  readonly hint: string;
}

/** A failure that a command has words for. */
export class CliError extends Error {
  override readonly name = 'CliError';

  constructor(
    readonly exitCode: ExitCode,
    readonly reply: FailureReply,
    /** What is known all the same, for example the outcome whose file could not be written. */
    readonly data?: object,
  ) {
    super(reply.message);
  }
}

/** Input that is refused before anything is sent: names every field and its allowed values (C8.1). */
export function badInput(issues: readonly ValidationIssue[]): CliError {
  const message = issues.map(issueText).join(' ');
  const row = failureRow({ outcome: 'rejected', reason: 'invalid_request' });
  const hint = row?.hint ?? 'Fix the named field.';
  return new CliError(EXIT.badInput, { type: 'rejected/invalid_request', message, hint });
}

/** `field: message Allowed: a, b.` */
export function issueText({ field, message, allowed }: ValidationIssue): string {
  const listed = allowed === undefined || allowed.length === 0 ? '' : ` Allowed: ${allowed.join(', ')}.`;
  return message.startsWith(field) ? `${message}${listed}` : `${field}: ${message}${listed}`;
}
