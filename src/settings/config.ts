import { readFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { z } from 'zod';
import { throwBug } from '../domain/bug';
import { type CreatePolicy, KEY_HEADER, KEY_WINDOW, POLICY_VALUES } from '../domain/create-policy';
import { parseWrittenJson, RepeatedNameError } from '../domain/json';
import {
  DEFAULT_CREDENTIAL,
  DEFAULT_TASK_QUEUE,
  partsProblem,
  SERVED_PARTS,
  type ServedPart,
} from '../domain/names';
import { type PollingMode } from '../domain/video-task';

const header = z.string().regex(KEY_HEADER, 'must be a header name such as Idempotency-Key');

/** The schema of `idempotency` in MEDIA_CREATE_POLICY and in the models of MEDIA_MODELS. */
export const idempotencyPolicySchema = z
  .union([
    z.literal('off'),
    z.strictObject({
      header,
      honoured: z.literal(true),
      windowSeconds: z.int().min(KEY_WINDOW.least).max(KEY_WINDOW.most),
    }),
    z.strictObject({ header }),
  ])
  .describe(
    'off, or the header that carries the idempotency key. With honoured and windowSeconds, you confirm that the service creates only one task for all calls with the same key within that many seconds of the first call',
  );

/** All settings that a worker reads from its environment, resolved once (architecture: Configuration). */
export interface MediaConfig {
  /** MEDIA_BASE_URL: address of the service. Undefined if it is not set, as in clients. */
  readonly baseUrl: string | undefined;
  /** MEDIA_ACCOUNTS: file with additional accounts. */
  readonly accounts: string | undefined;
  /** Reads the key at every use, so a rotated file takes effect. Throws an error without the key in its message. */
  readonly apiKey: () => string;
  /** MEDIA_CREDENTIAL: name of the account. @default 'default' */
  readonly credential: string;
  /** MEDIA_MODELS: file or URL of the model configuration; undefined if there is none. */
  readonly models: string | undefined;
  /** MEDIA_UNKNOWN_MODELS. Undefined means `allow` without a model configuration and `refuse` with one. */
  readonly unknownModels: 'allow' | 'refuse' | undefined;
  /** MEDIA_DATA_DIR: absolute path of a folder for local state. @default `.data` in the working directory */
  readonly dataDir: string;
  /** MEDIA_ARTIFACTS: an absolute path or `s3://bucket/prefix`. @default `artifacts` in the data folder */
  readonly artifacts: string;
  /**
   * MEDIA_CACHE_BYTES: the maximum total size of local artifact copies, in bytes; undefined for the store's default.
   */
  readonly cacheBytes: number | undefined;
  /** MEDIA_JOURNAL: an absolute path, `s3://bucket/prefix` or `postgres://…`. @default `journal` in the data folder */
  readonly journal: string;
  /**
   * The variable to set if the journal's location depends on the working directory. In that case, a worker does not
   * start. Undefined if the location is fixed.
   */
  readonly journalFloats?: 'MEDIA_DATA_DIR' | 'MEDIA_JOURNAL' | undefined;
  /** MEDIA_JOURNAL_SHARED: whether several hosts use the journal's folder. @default false */
  readonly journalShared: boolean;
  /** MEDIA_TASK_QUEUE. @default 'temporal-media' */
  readonly taskQueue: string;
  /** MEDIA_INPUT_ROOTS: absolute paths below which files may be read. @default none */
  readonly inputRoots: readonly string[];
  /** MEDIA_ALLOWED_MEDIA_ORIGINS: additional non-public origins from which results may be fetched. */
  readonly allowedMediaOrigins: readonly string[];
  /** MEDIA_CREATE_POLICY: what the service's replies prove about a create. */
  readonly policy: CreatePolicy;
  /** MEDIA_POLLING: the polling mode of videos whose input does not set one; undefined for `own`. */
  readonly polling: PollingMode | undefined;
  /** MEDIA_POLL_CONNECTIONS: sockets for polls, and concurrent GETs of one tick. */
  readonly pollConnections: number;
  /** MEDIA_DOWNLOAD_CONNECTIONS: sockets for downloads from the service's own address. */
  readonly downloadConnections: number;
  /**
   * MEDIA_CREATES_PER_SECOND: how many create activities may start on `<queue>/create` per second. The server enforces
   * the limit for all workers. Undefined for no limit.
   */
  readonly createsPerSecond: number | undefined;
  /** MEDIA_CACHED_WORKFLOWS: how many workflows stay in memory between tasks; undefined for the SDK's default. */
  readonly cachedWorkflows: number | undefined;
  /** MEDIA_SERVE: the parts that the worker serves. @default all parts */
  readonly serve: readonly ServedPart[];
  /** MEDIA_NEXUS: whether the queue's own worker serves the `media` Nexus service. */
  readonly nexus: boolean;
  /** MEDIA_DEPLOYMENT: the worker's version in a Temporal worker deployment; undefined without versioning. */
  readonly deployment: { readonly name: string; readonly buildId: string } | undefined;
  /** MEDIA_SEARCH_ATTRIBUTES: whether commands start workflows with search attributes. */
  readonly searchAttributes: boolean;
}

/** Enough for thousands of videos in flight as long as the service responds within tens of milliseconds. */
export const DEFAULT_CONNECTIONS = { poll: 64, download: 32 } as const;

/** Thrown for an unusable environment variable. The message names the variable and the allowed values. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  constructor(
    /** The environment variable, such as `MEDIA_BASE_URL`. */
    readonly variable: string,
    message: string,
  ) {
    super(`${variable}: ${message}`);
  }
}

export const createPolicySchema = z.strictObject({
  on429: z.enum(POLICY_VALUES.on429).optional(),
  on503: z.enum(POLICY_VALUES.on503).optional(),
  on502: z.enum(POLICY_VALUES.on502).optional(),
  on504: z.enum(POLICY_VALUES.on504).optional(),
  on500: z.enum(POLICY_VALUES.on500).optional(),
  onAbsent: z.enum(POLICY_VALUES.onAbsent).optional(),
  idempotency: idempotencyPolicySchema.optional(),
});

/** Reads and validates `MEDIA_*`; no other code validates them. The caller must check for a missing base address. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): MediaConfig {
  const text = (name: string): string | undefined => {
    const value = env[name]?.trim();
    return value === undefined || value === '' ? undefined : value;
  };
  const dataDir = resolve(text('MEDIA_DATA_DIR') ?? '.data');
  const serve = text('MEDIA_SERVE');
  const unknownModels = text('MEDIA_UNKNOWN_MODELS');
  if (unknownModels !== undefined && unknownModels !== 'allow' && unknownModels !== 'refuse') {
    throw new ConfigurationError('MEDIA_UNKNOWN_MODELS', 'must be allow or refuse.');
  }
  // Read once here: every poll needs the key, and reading process.env costs as much as building a header.
  const { MEDIA_API_KEY_FILE: keyFile, MEDIA_API_KEY: key } = env;
  return {
    baseUrl: text('MEDIA_BASE_URL'),
    accounts: text('MEDIA_ACCOUNTS'),
    apiKey: () => readApiKey(keyFile, key),
    credential: text('MEDIA_CREDENTIAL') ?? DEFAULT_CREDENTIAL,
    models: text('MEDIA_MODELS'),
    unknownModels,
    dataDir,
    artifacts: text('MEDIA_ARTIFACTS') ?? join(dataDir, 'artifacts'),
    cacheBytes: readNumber(text, 'MEDIA_CACHE_BYTES', WHOLE),
    journal: text('MEDIA_JOURNAL') ?? join(dataDir, 'journal'),
    journalFloats: floating(text('MEDIA_JOURNAL'), text('MEDIA_DATA_DIR')),
    journalShared: text('MEDIA_JOURNAL_SHARED') === '1',
    taskQueue: text('MEDIA_TASK_QUEUE') ?? DEFAULT_TASK_QUEUE,
    inputRoots: list(text('MEDIA_INPUT_ROOTS')).map((root) => resolve(root)),
    allowedMediaOrigins: list(text('MEDIA_ALLOWED_MEDIA_ORIGINS')),
    policy: readPolicy(text('MEDIA_CREATE_POLICY')),
    polling: readPolling(text('MEDIA_POLLING')),
    pollConnections: readNumber(text, 'MEDIA_POLL_CONNECTIONS', WHOLE) ?? DEFAULT_CONNECTIONS.poll,
    downloadConnections:
      readNumber(text, 'MEDIA_DOWNLOAD_CONNECTIONS', WHOLE) ?? DEFAULT_CONNECTIONS.download,
    createsPerSecond: readNumber(text, 'MEDIA_CREATES_PER_SECOND', POSITIVE),
    cachedWorkflows: readNumber(text, 'MEDIA_CACHED_WORKFLOWS', WHOLE),
    serve: checkServe(serve === undefined ? SERVED_PARTS : list(serve), 'MEDIA_SERVE'),
    nexus: text('MEDIA_NEXUS') === '1',
    deployment: readDeployment(text('MEDIA_DEPLOYMENT')),
    searchAttributes: text('MEDIA_SEARCH_ATTRIBUTES') === '1',
  };
}

/** Like {@link readConfig}, but ignores unusable variables, so that one problem does not hide the others. */
export function readUsableConfig(env: NodeJS.ProcessEnv = process.env): {
  readonly config: MediaConfig;
  readonly problems: readonly ConfigurationError[];
} {
  const problems: ConfigurationError[] = [];
  const rest = { ...env };
  for (;;) {
    try {
      return { config: readConfig(rest), problems };
    } catch (error) {
      if (!(error instanceof ConfigurationError) || rest[error.variable] === undefined) throw error;
      problems.push(error);
      delete rest[error.variable];
    }
  }
}

function floating(journal: string | undefined, dataDir: string | undefined): MediaConfig['journalFloats'] {
  if (journal === undefined)
    return dataDir === undefined || !isAbsolute(dataDir) ? 'MEDIA_DATA_DIR' : undefined;
  return journal.includes('://') || isAbsolute(journal) ? undefined : 'MEDIA_JOURNAL';
}

/** Returns the error if the journal's location depends on the working directory; undefined if it is fixed. */
export function floatingJournal({ journalFloats: variable }: MediaConfig): ConfigurationError | undefined {
  if (variable === undefined) return undefined;
  return new ConfigurationError(
    variable,
    'is not set to an absolute path, so the journal of paid calls would be in the current working directory. A worker started in another directory would not find what was paid for. ' +
      'Set it to an absolute path that outlives the process, or set MEDIA_JOURNAL to a bucket or a database.',
  );
}

function readPolling(mode: string | undefined): MediaConfig['polling'] {
  if (mode === undefined || mode === 'own' || mode === 'shared') return mode;
  throw new ConfigurationError('MEDIA_POLLING', 'must be own or shared.');
}

/** Parses `NAME:BUILD_ID`, Temporal's format for a version. */
function readDeployment(version: string | undefined): MediaConfig['deployment'] {
  if (version === undefined) return undefined;
  const [name, buildId] = version.split(/:(.*)/s);
  if (!name || !buildId)
    throw new ConfigurationError(
      'MEDIA_DEPLOYMENT',
      "must be NAME:BUILD_ID, the worker deployment's name and this worker's build ID, such as media:0.3.0.",
    );
  return { name, buildId };
}

const WHOLE = { allowed: 'a whole number of at least 1', ok: (n: number) => Number.isInteger(n) && n >= 1 };
const POSITIVE = { allowed: 'a number greater than 0', ok: (n: number) => Number.isFinite(n) && n > 0 };

function readNumber(
  text: (name: string) => string | undefined,
  name: string,
  { allowed, ok }: typeof WHOLE,
): number | undefined {
  const value = text(name);
  if (value === undefined) return undefined;
  if (!ok(Number(value))) throw new ConfigurationError(name, `must be ${allowed}.`);
  return Number(value);
}

/** Reads a key file. Called at every use, because the file may be replaced at any time. @throws ConfigurationError */
export function keyFileText(path: string, variable: string, subject = ''): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throwBug(error);
    throw new ConfigurationError(variable, `${subject}cannot be read by this process.`);
  }
}

function readApiKey(file: string | undefined, value: string | undefined): string {
  const key = file ? keyFileText(file, 'MEDIA_API_KEY_FILE') : (value ?? '');
  if (key.trim() === '')
    throw new ConfigurationError(
      'MEDIA_API_KEY',
      "is not set. Set it, or MEDIA_API_KEY_FILE, in the worker's environment. Use `none` for a service without keys.",
    );
  return usableKey(key, 'MEDIA_API_KEY');
}

/**
 * Returns the key without surrounding white space, after checking that a header can contain it.
 * @param subject the subject of the message, if it is not the variable itself
 * @throws ConfigurationError without the key
 */
export function usableKey(text: string, variable: string, subject = ''): string {
  const key = text.trim();
  if (key === '') throw new ConfigurationError(variable, `${subject}is empty.`);
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new ConfigurationError(
      variable,
      `${subject}contains spaces or characters that are not allowed in a header.`,
    );
  }
  return key;
}

function readPolicy(text: string | undefined): CreatePolicy {
  if (text === undefined) return {};
  let json: unknown;
  try {
    json = parseWrittenJson(text);
  } catch (error) {
    const problem = error instanceof RepeatedNameError ? `${error.message}; it ` : '';
    throw new ConfigurationError(
      'MEDIA_CREATE_POLICY',
      `${problem}must be a JSON object such as {"on502":"resend"}.`,
    );
  }
  const read = createPolicySchema.safeParse(json);
  if (!read.success) throw new ConfigurationError('MEDIA_CREATE_POLICY', z.prettifyError(read.error));
  return read.data as CreatePolicy;
}

/** Validates the served parts. @throws ConfigurationError that names the variable or option */
export function checkServe(parts: readonly string[], variable: string): readonly ServedPart[] {
  const problem = partsProblem(parts);
  if (problem !== undefined) throw new ConfigurationError(variable, problem);
  return parts as readonly ServedPart[];
}

function list(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
