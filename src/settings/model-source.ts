import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { throwBug } from '../domain/bug';
import { parseWrittenJson, RepeatedNameError } from '../domain/json';
import { type ModelConfiguration, type ModelEntry, type ModelLookup } from '../domain/model-config';
import { getterWithoutCredentials, type PlainGet } from '../service/connections';
import { readModelConfiguration } from './model-schema';

/**
 * The configuration cannot be read and no recent valid copy exists, so paid calls wait and are not sent (architecture:
 * Models).
 */
export interface ModelsUnavailable {
  readonly found: 'unavailable';
  /** The reason, without a URL. */
  readonly message: string;
  /** Milliseconds until another read may succeed. */
  readonly retryAfterMs: number;
}

/** A worker's live model configuration. */
export interface ModelSource {
  /** Looks up a model. With `kind`, a refusal lists only models of that kind. */
  lookup(modelId: string, kind?: ModelEntry['kind']): Promise<ModelLookup | ModelsUnavailable>;
  /** Returns the current copy's entries; undefined if there is no configuration or it cannot be read. */
  all(): Promise<readonly ModelEntry[] | undefined>;
  /** Returns the first 12 hex digits of the current copy's SHA-256, or `none`. */
  fingerprint(): string;
}

/** Where to read the model configuration, and how often. */
export interface ModelSourceOptions {
  /** File path or http(s) URL (MEDIA_MODELS). Without a location, every model is unlisted. */
  readonly location?: string | undefined;
  /** Whether a model without an entry is allowed. @default `refuse` with a location, `allow` without */
  readonly unknownModels?: 'allow' | 'refuse' | undefined;
  /** How long a copy is used without another read, in milliseconds. @default 60000 */
  readonly ttlMs?: number;
  /** How long after `ttlMs` the last valid copy is used while the source is down, in ms. @default 3600000 */
  readonly staleForMs?: number;
  /** Time for one read, in milliseconds. @default 10000 */
  readonly timeoutMs?: number;
  /** A monotonic clock in milliseconds; replaced in tests. @default the process clock */
  readonly now?: () => number;
  /** Reads the text; replaced in tests. @default reads a file or a URL */
  readonly read?: ReadLocation;
}

interface Copy {
  readonly configuration: ModelConfiguration;
  readonly fingerprint: string;
  readonly readAt: number;
}

/** Milliseconds between attempts to read a source that is down. */
const RETRY_MS = 5_000;

/**
 * Creates a source that reads the model configuration on first use and again when its copy expires.
 * @throws Error if the location contains a user name or a password
 */
export function createModelSource(options: ModelSourceOptions = {}): ModelSource {
  const { location, ttlMs = 60_000, staleForMs = 3_600_000, timeoutMs = 10_000 } = options;
  const { now = () => performance.now(), read = readLocation } = options;
  const unknownModels = options.unknownModels ?? (location === undefined ? 'allow' : 'refuse');
  if (location !== undefined) refuseUserinfo(location);
  let copy: Copy | undefined;
  let failure: { readonly message: string; readonly at: number } | undefined;
  let loading: Promise<void> | undefined;

  /** Runs one read for all waiting callers. Sets `copy` or `failure`. */
  const load = (from: string): Promise<void> => {
    loading ??= loadCopy(from, read, timeoutMs)
      .then(
        (fresh) => {
          copy = { ...fresh, readAt: now() };
          failure = undefined;
        },
        (error: unknown) => {
          throwBug(error);
          const reason = error instanceof LocationError ? error.message : 'it cannot be read';
          const message = `The model configuration (MEDIA_MODELS) is not available: ${reason}.`;
          failure = { message, at: now() };
        },
      )
      .finally(() => {
        loading = undefined;
      });
    return loading;
  };

  const current = async (): Promise<Copy | undefined> => {
    if (location === undefined) return undefined;
    const fresh = copy !== undefined && now() - copy.readAt < ttlMs;
    const resting = failure !== undefined && now() - failure.at < RETRY_MS;
    if (!fresh && !resting) await load(location);
    return copy !== undefined && now() - copy.readAt < ttlMs + staleForMs ? copy : undefined;
  };

  return {
    async lookup(modelId, kind) {
      const found = await current();
      if (location !== undefined && found === undefined)
        return {
          found: 'unavailable',
          message: failure?.message ?? 'The model configuration (MEDIA_MODELS) is not available.',
          retryAfterMs: Math.max(1_000, RETRY_MS - (now() - (failure?.at ?? now()))),
        };
      const models = found?.configuration.models ?? [];
      const entry = models.find(({ id }) => id === modelId);
      if (entry !== undefined) return { found: 'entry', entry };
      if (unknownModels === 'allow') return { found: 'unlisted' };
      const ofKind = models.filter((one) => kind === undefined || one.kind === kind);
      return { found: 'refused', known: ofKind.map(({ id }) => id) };
    },
    all: async () => (await current())?.configuration.models,
    fingerprint: () => copy?.fingerprint ?? 'none',
  };
}

async function loadCopy(
  location: string,
  read: ReadLocation,
  timeoutMs: number,
): Promise<Omit<Copy, 'readAt'>> {
  const signal = AbortSignal.timeout(timeoutMs);
  const text = await Promise.race([read(location, signal), rejectWhenAborted(signal)]);
  const reading = readModelConfiguration(parse(text));
  if (!reading.ok) throw new LocationError(`it is not valid: ${reading.message}`);
  const fingerprint = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return { configuration: reading.configuration, fingerprint };
}

/** Enforces the time limit even if a hanging file system ignores the signal. */
function rejectWhenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new LocationError('no answer in time')), { once: true });
  });
}

function parse(text: string): unknown {
  try {
    return parseWrittenJson(text);
  } catch (error) {
    throw new LocationError(error instanceof RepeatedNameError ? `it ${error.message}` : 'it is not JSON');
  }
}

function refuseUserinfo(location: string): void {
  if (!isUrl(location)) return;
  const { username, password } = new URL(location);
  if (username !== '' || password !== '')
    throw new Error('MEDIA_MODELS must not contain a user name or a password.');
}

const MAX_CONFIGURATION_BYTES = 8 * 1024 * 1024;

/**
 * Thrown when a configuration cannot be read. The message contains neither URLs nor paths, because both may be private.
 */
class LocationError extends Error {
  override readonly name = 'LocationError';
}

/** Reads the text of a model configuration. Rejects with a `LocationError`. */
export type ReadLocation = (location: string, signal: AbortSignal) => Promise<string>;

export function isUrl(location: string): boolean {
  return /^https?:\/\//i.test(location);
}

/** Creates a reader for files and URLs. URLs are requested without credentials. */
export function locationReader(env: NodeJS.ProcessEnv): ReadLocation {
  const get = getterWithoutCredentials(env);
  return async (location, signal) => {
    try {
      return isUrl(location) ? await readUrl(location, signal, get) : await readFileText(location);
    } catch (error) {
      if (error instanceof LocationError) throw error;
      throwBug(error);
      throw new LocationError(signal.aborted ? 'no answer in time' : reasonOf(error));
    }
  };
}

const readLocation: ReadLocation = locationReader(process.env);

async function readUrl(location: string, signal: AbortSignal, get: PlainGet): Promise<string> {
  const reply = await get(location, { signal, headers: { accept: 'application/json' } });
  if (!('body' in reply))
    throw new LocationError(
      reply.refused === 'downgraded' ? 'it redirects from https to http' : `HTTP ${reply.status}`,
    );
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of reply.body) {
    chunks.push(chunk as Uint8Array);
    total += (chunk as Uint8Array).length;
    if (total > MAX_CONFIGURATION_BYTES) throw tooLarge();
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function readFileText(path: string): Promise<string> {
  const handle = await open(path, 'r');
  try {
    if ((await handle.stat()).size > MAX_CONFIGURATION_BYTES) throw tooLarge();
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

const tooLarge = () => new LocationError(`it is larger than ${MAX_CONFIGURATION_BYTES} bytes`);

const WORDS: { readonly [code: string]: string } = {
  ENOENT: 'the file does not exist (ENOENT)',
  EISDIR: 'it is a directory (EISDIR)',
  EACCES: 'permission was denied (EACCES)',
  ECONNREFUSED: 'the connection was refused (ECONNREFUSED)',
  ENOTFOUND: 'the host name cannot be resolved (ENOTFOUND)',
};

/** Describes the first system error code in the chain of causes, which the HTTP client nests. */
function reasonOf(error: unknown): string {
  let at = error as { code?: unknown; cause?: unknown } | null | undefined;
  for (let depth = 0; depth < 5 && typeof at === 'object' && at !== null; depth++) {
    if (typeof at.code === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(at.code))
      return WORDS[at.code] ?? at.code;
    at = at.cause as typeof at;
  }
  return 'it cannot be read';
}
