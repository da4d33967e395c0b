import { CommanderError } from 'commander';
import { type ValidationIssue } from 'temporal-media';
import { given } from 'temporal-media/internal/domain/json';
import { filled, shellWord } from 'temporal-media/internal/domain/terminal-text';
import { keySecrets } from 'temporal-media/internal/service/endpoint';
import { proxySecrets, uriDecoded } from 'temporal-media/internal/service/proxy-environment';
import { createRedactor } from 'temporal-media/internal/service/redact';
import { ConfigurationError } from 'temporal-media/internal/settings/config';
import { type CommandErrorType, errorType, type ExitCode } from './exit-codes';
import { type FailureReply } from './json-output';

/**
 * Returns the passwords and keys for stores that an environment contains, including MEDIA_JOURNAL's password, both as
 * written and decoded. Use them to redact only logs and command messages: a service reply never contains them, and a
 * task id may happen to contain the same word.
 */
export function storeSecrets(env: NodeJS.ProcessEnv): string[] {
  // Cuts at the last @ instead of parsing a URL, because a password may contain characters that are invalid in a URL.
  const password = /^\W*postgres(?:ql)?:\/*[^:@/]*:(.+)@/i.exec(env['MEDIA_JOURNAL'] ?? '')?.[1];
  const own = password === undefined ? [] : [password, uriDecoded(password)];
  const others = ['PGPASSWORD', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'].map((name) => env[name]);
  return [...new Set([...own, ...others.filter((value) => value !== undefined && value !== '')])] as string[];
}

export interface Failure {
  readonly exitCode: ExitCode;
  readonly reply: FailureReply;
  readonly data?: object;
  readonly reported: boolean;
}

/**
 * Keyed by error name rather than class, because importing the error classes would load the worker's native code every
 * time.
 */
const BY_NAME: { readonly [name: string]: CommandErrorType | 'rejected/creation_key_conflict' } = {
  CampaignConflictError: 'campaign_conflict',
  CampaignEndedError: 'campaign_ended',
  CampaignInputError: 'bad_input',
  CampaignNotFoundError: 'not_found',
  CampaignOrderError: 'campaign_order_refused',
  CampaignUnreadableError: 'no_worker',
  CodecUnreachableError: 'codec_unreachable',
  CreationKeyConflictError: 'rejected/creation_key_conflict',
  ResumeError: 'resume_not_possible',
  StorageUnreachableError: 'storage_unreachable',
  ExternalStorageNotConfiguredError: 'payload_unreadable',
  StoredPayloadLostError: 'payload_unreadable',
  JournalBindingError: 'journal_binding',
  NamespaceNotFoundError: 'namespace_not_found',
  PostgresError: 'journal_unusable',
  ReportError: 'cannot_write',
  S3Error: 'journal_unusable',
  TemporalServerNotFoundError: 'temporal_server_not_found',
  TransportError: 'temporal_unreachable',
  // Thrown by the payload converter for an encoding that only a codec can decode.
  ValueError: 'payload_unreadable',
  WorkflowPausedError: 'workflow_paused',
};

/** Errors whose message already contains the remedies. */
const SAYS_ALL: ReadonlySet<string> = new Set([
  'JournalBindingError',
  'PostgresError',
  'S3Error',
  'TemporalServerNotFoundError',
]);

/**
 * gRPC codes: CANCELLED (this client's deadline), DEADLINE_EXCEEDED, UNAVAILABLE; and PERMISSION_DENIED,
 * UNAUTHENTICATED.
 */
const UNREACHABLE_CODES: ReadonlySet<unknown> = new Set([1, 4, 14]);
const REFUSED_CODES: ReadonlySet<unknown> = new Set([7, 16]);

/** Maps any error to an exit code and a message. Unknown errors have type `unexpected`. */
export function failureOf(error: unknown): Failure {
  const { exitCode, reply, data, reported } = error instanceof CliError ? error : cliErrorOf(error);
  return { exitCode, reply, reported, ...given({ data }) };
}

function cliErrorOf(error: unknown): CliError {
  if (error instanceof CommanderError) return new CliError('usage', usageText(error));
  if (error instanceof ConfigurationError) {
    return new CliError('configuration', error.message, { hint: `Fix ${error.variable}.` });
  }
  if (!(error instanceof Error)) return new CliError('unexpected', withoutSecrets(String(error)));
  return (
    missingPackage(error) ??
    artifactError(error) ??
    historyError(error) ??
    named(error) ??
    // The SDK reports an unreadable reply as a failed call.
    (error.name === 'ServiceError' && error.cause instanceof Error ? named(error.cause) : undefined) ??
    twoProtobufs(error) ??
    grpcError(error) ??
    new CliError('unexpected', withoutSecrets(error.message))
  );
}

function usageText({ code, message }: CommanderError): string {
  // Commander has already printed the help.
  return code === 'commander.help' ? 'Specify a command.' : message.replace(/^error: /, '');
}

/** Redacts keys, cookies and signed URLs from a library's message, which may repeat its input. */
export function withoutSecrets(text: string, env: NodeJS.ProcessEnv = process.env): string {
  return createRedactor(secretsOf(env)).page(Buffer.from(text)).toString();
}

/** Returns the secrets in an environment, which output must never repeat. */
export function secretsOf(env: NodeJS.ProcessEnv): readonly string[] {
  return [...proxySecrets(env), ...storeSecrets(env), ...keySecrets(env['MEDIA_API_KEY'] ?? '')];
}

function named(error: Error): CliError | undefined {
  const type = BY_NAME[error.name];
  if (type === undefined) return undefined;
  const { campaign, workflowId = campaign } = error as { workflowId?: string; campaign?: string };
  if (error.name === 'ExternalStorageNotConfiguredError')
    return new CliError('payload_unreadable', STORED_ELSEWHERE, {
      hint: `${STORAGE_HINT} Nothing needs to be sent again.`,
    });
  if (error.name === 'StoredPayloadLostError')
    return new CliError('payload_unreadable', error.message, { hint: LOST_HINT });
  const hint = SAYS_ALL.has(error.name) ? '' : filled(errorType(type).hint, { ID: workflowId }, shellWord);
  return new CliError(type, error.message, { hint });
}

/** Explains a payload that cannot be read without a storage, and how to configure it. */
export const STORED_ELSEWHERE =
  'A payload cannot be read here, because it is in external storage, which is not configured.';
export const STORAGE_HINT =
  "Set MEDIA_EXTERNAL_STORAGE to the bucket of the payloads, or MEDIA_DATA_CONVERTER to a module with the workers' data converter.";

/** Explains what to do about a payload whose object is missing in the storage. */
export const LOST_HINT =
  "Restore the object, for example from the bucket's versions. Nothing needs to be sent again.";

/** The SDK's error if npm has installed two copies of protobufjs. */
function twoProtobufs(error: Error): CliError | undefined {
  const { message } = error.cause instanceof Error ? error.cause : error;
  if (!message.includes('type must be a Type')) return undefined;
  return new CliError('payload_unreadable', `A payload is in external storage, and ${TWO_PROTOBUFS}`, {
    hint: `${PROTOBUFS_REMEDY} ${STORAGE_HINT}`,
  });
}

/** Explains why the SDK's external storage fails with "type must be a Type". */
export const TWO_PROTOBUFS =
  'the Temporal SDK loads two copies of protobufjs, with which it cannot use external storage.';
export const PROTOBUFS_REMEDY = 'Run: npm install protobufjs@^8.7.1.';

function artifactError(error: Error): CliError | undefined {
  if (error.name !== 'ArtifactError') return undefined;
  const type = `artifacts/${String((error as { code?: unknown }).code)}`;
  const { hint = errorType(type).hint } = error as { hint?: string };
  return CliError.from({ type, message: error.message, hint });
}

const HISTORY_ERRORS: { readonly [code: string]: CommandErrorType } = {
  no_history: 'not_found',
  not_found: 'not_found',
  encrypted: 'payload_unreadable',
};

function historyError(error: Error): CliError | undefined {
  if (error.name !== 'HistoryError') return undefined;
  return new CliError(
    HISTORY_ERRORS[String((error as { code?: unknown }).code)] ?? 'history_unusable',
    error.message,
  );
}

/** Packages that only some commands need, with an install command if the default one does not apply. */
const SOMETIMES_NEEDED: { readonly [name: string]: string | undefined } = {
  '@temporal-media/sandbox': undefined,
  '@temporal-media/testing': undefined,
  '@temporal-media/store-postgres': 'npm install @temporal-media/store-postgres',
};

function missingPackage(error: Error): CliError | undefined {
  // Error codes of require() and import().
  if (!/^(?:ERR_)?MODULE_NOT_FOUND$/.test(String((error as { code?: unknown }).code))) return undefined;
  const missing = Object.keys(SOMETIMES_NEEDED).find((name) => error.message.includes(`'${name}`));
  if (missing === undefined) return undefined;
  return new CliError(
    'optional_peer_missing',
    `This command requires the package ${missing}, which is not installed.`,
    {
      hint: SOMETIMES_NEEDED[missing],
    },
  );
}

function grpcError(error: Error): CliError | undefined {
  const code = (error as { code?: unknown }).code ?? (error.cause as { code?: unknown } | undefined)?.code;
  if (UNREACHABLE_CODES.has(code))
    return new CliError('temporal_unreachable', 'The Temporal server no longer responds.');
  return REFUSED_CODES.has(code)
    ? new CliError('temporal_credentials', 'The Temporal server denied access.')
    : undefined;
}

interface CliErrorOptions {
  /** @default the registry's hint */
  readonly hint?: string | undefined;
  /** The JSON object's `data`, for example an outcome whose file could not be written. */
  readonly data?: object | undefined;
  /** Whether text mode has already printed the error. @default false */
  readonly reported?: boolean;
}

type ErrorTypeName = CommandErrorType | `${'rejected' | 'failed'}/${string}`;

/** A failure with a type, a message and a hint. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;
  readonly reply: FailureReply;
  readonly data: object | undefined;
  readonly reported: boolean;

  constructor(type: ErrorTypeName, message: string, { hint, data, reported = false }: CliErrorOptions = {}) {
    super(message);
    const row = errorType(type);
    this.exitCode = row.exitCode;
    this.reply = { type, message, hint: hint ?? row.hint };
    this.data = data;
    this.reported = reported;
  }

  /** Creates an error from a child process's report or from an outcome. */
  static from({ type, message, hint }: FailureReply, data?: object, reported?: boolean): CliError {
    return new CliError(type as ErrorTypeName, message, { hint, data, ...given({ reported }) });
  }
}

/**
 * Creates an error for input that is rejected before anything is sent. The message contains every field and its allowed
 * values.
 */
export function badInput(issues: readonly ValidationIssue[], hint = NOTHING_SENT): CliError {
  return new CliError('rejected/invalid_request', issues.map(issueText).join(' '), { hint });
}

const NOTHING_SENT =
  'Nothing was sent. `temporal-media COMMAND --help` explains the options and shows examples.';

/** `field: message Allowed: a, b.` */
export function issueText({ field, message, allowed }: ValidationIssue): string {
  const listed = allowed === undefined || allowed.length === 0 ? '' : ` Allowed: ${allowed.join(', ')}.`;
  return message.startsWith(field) ? `${message}${listed}` : `${field}: ${message}${listed}`;
}
