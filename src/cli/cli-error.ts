import { type ValidationIssue } from '../domain/validation-issue';
import { type CommandErrorType, errorType } from './error-types';
import { type ExitCode } from './exit-codes';

/** What a script reads about a command that did not succeed. */
export interface FailureReply {
  /** Public word: a type of the registry (docs/errors.md). */
  readonly type: string;
  readonly message: string;
  /** What to do next. */
  readonly hint: string;
}

export interface CliErrorOptions {
  /** @default the hint of the registry */
  readonly hint?: string | undefined;
  /** What is known all the same, for example the outcome whose file could not be written. */
  readonly data?: object | undefined;
  /** That in text mode people have read it already. @default false */
  readonly told?: boolean;
}

type ErrorTypeName = CommandErrorType | `${'rejected' | 'failed'}/${string}`;

/** A failure that a command has words for. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;
  readonly reply: FailureReply;
  readonly data: object | undefined;
  readonly told: boolean;

  constructor(type: ErrorTypeName, message: string, { hint, data, told = false }: CliErrorOptions = {}) {
    super(message);
    const row = errorType(type);
    this.exitCode = row.exitCode;
    this.reply = { type, message, hint: hint ?? row.hint };
    this.data = data;
    this.told = told;
  }

  /** What another process of ours, or an outcome, said. */
  static from({ type, message, hint }: FailureReply, data?: object, told?: boolean): CliError {
    return new CliError(type as ErrorTypeName, message, { hint, data, ...(told !== undefined && { told }) });
  }
}

/** Input that is refused before anything is sent: names every field and its allowed values (C8.1). */
export function badInput(issues: readonly ValidationIssue[], hint = NOTHING_SENT): CliError {
  return new CliError('rejected/invalid_request', issues.map(issueText).join(' '), { hint });
}

const NOTHING_SENT = 'Nothing was sent. `temporal-media COMMAND --help` shows the options with examples.';

/** `field: message Allowed: a, b.` */
export function issueText({ field, message, allowed }: ValidationIssue): string {
  const listed = allowed === undefined || allowed.length === 0 ? '' : ` Allowed: ${allowed.join(', ')}.`;
  return message.startsWith(field) ? `${message}${listed}` : `${field}: ${message}${listed}`;
}
