import { open } from 'node:fs/promises';
import { Agent, type Dispatcher, fetch } from 'undici';
import { environmentConnections } from '../service/connections';

/** Largest configuration, in bytes. */
export const MAX_CONFIGURATION_BYTES = 8 * 1024 * 1024;

/** A configuration could not be read. The message holds no address and no path: both may be private. */
export class LocationError extends Error {
  override readonly name = 'LocationError';
}

/** Text of a model configuration. Rejects with a {@link LocationError}. */
export type ReadLocation = (location: string, signal: AbortSignal) => Promise<string>;

export function isUrl(location: string): boolean {
  return /^https?:\/\//i.test(location);
}

/** Longest wait for a tunnel or a connection, for headers and inside a body; the caller's signal limits the whole. */
const CONNECTION = {
  purpose: 'models',
  connections: 1,
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 30_000,
  bodyTimeoutMs: 30_000,
} as const;

/**
 * Reads a file, or GETs a URL without any credentials of ours: the key of the service never goes there (C5.3). Proxies
 * are those of `env`, by the same rules as for calls of the service; a redirect may lead to another one.
 */
export function locationReader(env: NodeJS.ProcessEnv): ReadLocation {
  const connections = environmentConnections(env);
  const dispatcher = new Agent({
    factory: (origin) => connections(new URL(origin), CONNECTION).dispatcher,
  });
  return async (location, signal) => {
    try {
      return isUrl(location) ? await readUrl(location, signal, dispatcher) : await readFileText(location);
    } catch (error) {
      if (error instanceof LocationError) throw error;
      throw new LocationError(signal.aborted ? 'no answer in time' : reasonOf(error));
    }
  };
}

/** With the environment of this process. */
export const readLocation: ReadLocation = locationReader(process.env);

async function readUrl(location: string, signal: AbortSignal, dispatcher: Dispatcher): Promise<string> {
  const response = await fetch(location, {
    dispatcher,
    signal,
    headers: { accept: 'application/json' },
    // Not a browser: no cookies are kept between calls, and none is sent.
    credentials: 'omit',
  });
  const downgraded = /^https:/i.test(location) && !/^https:/i.test(response.url);
  if (!response.ok || downgraded || response.body === null) {
    await response.body?.cancel();
    throw new LocationError(downgraded ? 'it redirects from https to http' : `HTTP ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of response.body) {
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

const tooLarge = () => new LocationError(`it has more than ${MAX_CONFIGURATION_BYTES} bytes`);

/** The first system code on the way to the root cause; causes are nested by the HTTP client. */
function reasonOf(error: unknown): string {
  let at = error as { code?: unknown; cause?: unknown } | null | undefined;
  for (let depth = 0; depth < 5 && typeof at === 'object' && at !== null; depth++) {
    if (typeof at.code === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(at.code)) return at.code;
    at = at.cause as typeof at;
  }
  return 'it cannot be read';
}
