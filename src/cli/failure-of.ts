import { CommanderError } from 'commander';
import { ConfigurationError } from '../config';
import { failureRow } from '../domain/failure-table';
import { CliError, type FailureReply } from './cli-error';
import { EXIT, type ExitCode } from './exit-codes';

export interface Failure {
  readonly exitCode: ExitCode;
  readonly reply: FailureReply;
  readonly data?: object;
}

export const SERVER_HINT =
  'Start everything with `temporal-media dev`, or set TEMPORAL_ADDRESS to a server that runs.';

type Named = { readonly exitCode: ExitCode; readonly type: string; readonly hint: string };

/** By name and not by class: the classes would load the worker's native code into every command. */
const BY_NAME: { readonly [name: string]: Named } = {
  CreationKeyConflictError: {
    exitCode: EXIT.badInput,
    type: 'rejected/creation_key_conflict',
    hint: failureRow({ outcome: 'rejected', reason: 'creation_key_conflict' })?.hint ?? '',
  },
  ResumeError: {
    exitCode: EXIT.badInput,
    type: 'resume_not_possible',
    hint: 'Name the workflow id of a video, or the task id that an outcome shows.',
  },
  JournalBindingError: { exitCode: EXIT.configuration, type: 'journal_binding', hint: '' },
  NamespaceNotFoundError: {
    exitCode: EXIT.configuration,
    type: 'namespace_not_found',
    hint: 'Set TEMPORAL_NAMESPACE to a namespace that the server has.',
  },
  TemporalServerNotFoundError: { exitCode: EXIT.unreachable, type: 'temporal_server_not_found', hint: '' },
  ArtifactError: {
    exitCode: EXIT.cannotWrite,
    type: 'store',
    hint: 'Make room in MEDIA_DATA_DIR or MEDIA_ARTIFACTS, or correct the rights.',
  },
  TransportError: { exitCode: EXIT.unreachable, type: 'temporal_unreachable', hint: SERVER_HINT },
};

/** gRPC codes: cancelled by a deadline of ours, DEADLINE_EXCEEDED, UNAVAILABLE; and PERMISSION_DENIED, UNAUTHENTICATED. */
const UNREACHABLE_CODES: ReadonlySet<unknown> = new Set([1, 4, 14]);
const REFUSED_CODES: ReadonlySet<unknown> = new Set([7, 16]);

/** Any error → exit code and words. Total: what nothing else knows is `unexpected`. */
export function failureOf(error: unknown): Failure {
  if (error instanceof CliError) {
    const { exitCode, reply, data } = error;
    return { exitCode, reply, ...(data && { data }) };
  }
  if (error instanceof CommanderError) return usage(error);
  if (error instanceof ConfigurationError) {
    return failure(EXIT.configuration, 'configuration', error.message, `Correct ${error.variable}.`);
  }
  if (!(error instanceof Error)) return failure(EXIT.unexpected, 'unexpected', String(error), '');
  const missing = missingPeer(error);
  if (missing !== undefined) return missing;
  const named = BY_NAME[error.name];
  if (named !== undefined) return failure(named.exitCode, named.type, error.message, named.hint);
  return grpcFailure(error) ?? failure(EXIT.unexpected, 'unexpected', error.message, DEBUG_HINT);
}

/** What only the sandbox and the embedded server need is an optional peer. */
const OPTIONAL_PEERS = ['@temporalio/testing', 'fastify', '@fastify/multipart', 'h264-mp4-encoder'];

function missingPeer(error: Error): Failure | undefined {
  if ((error as { code?: unknown }).code !== 'MODULE_NOT_FOUND') return undefined;
  const peer = OPTIONAL_PEERS.find((name) => error.message.includes(`'${name}'`));
  if (peer === undefined) return undefined;
  const message = `This command needs the optional package ${peer}.`;
  return failure(
    EXIT.configuration,
    'optional_peer_missing',
    message,
    `npm install ${OPTIONAL_PEERS.join(' ')}`,
  );
}

const DEBUG_HINT = 'TEMPORAL_MEDIA_DEBUG=1 shows the stack.';

function grpcFailure(error: Error): Failure | undefined {
  const code = (error as { code?: unknown }).code ?? (error.cause as { code?: unknown } | undefined)?.code;
  if (UNREACHABLE_CODES.has(code)) {
    const message = 'The Temporal server does not answer any more.';
    return failure(EXIT.unreachable, 'temporal_unreachable', message, SERVER_HINT);
  }
  if (REFUSED_CODES.has(code)) {
    const hint = 'Check TEMPORAL_API_KEY, TEMPORAL_TLS_* and TEMPORAL_NAMESPACE.';
    return failure(EXIT.credentials, 'temporal_credentials', 'The Temporal server refuses access.', hint);
  }
  return undefined;
}

function usage(error: CommanderError): Failure {
  const hint = '`temporal-media --help` lists the commands, `temporal-media COMMAND --help` the options.';
  return failure(EXIT.usage, 'usage', error.message.replace(/^error: /, ''), hint);
}

function failure(exitCode: ExitCode, type: string, message: string, hint: string): Failure {
  return { exitCode, reply: { type, message, hint } };
}
