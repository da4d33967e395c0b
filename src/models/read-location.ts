import { open } from 'node:fs/promises';
import { getterWithoutCredentials, type PlainGet } from '../service/get-without-credentials';

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

/** Reads a file, or GETs a URL without any credentials of ours. */
export function locationReader(env: NodeJS.ProcessEnv): ReadLocation {
  const get = getterWithoutCredentials(env);
  return async (location, signal) => {
    try {
      return isUrl(location) ? await readUrl(location, signal, get) : await readFileText(location);
    } catch (error) {
      if (error instanceof LocationError) throw error;
      throw new LocationError(signal.aborted ? 'no answer in time' : reasonOf(error));
    }
  };
}

/** With the environment of this process. */
export const readLocation: ReadLocation = locationReader(process.env);

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

const tooLarge = () => new LocationError(`it has more than ${MAX_CONFIGURATION_BYTES} bytes`);

const WORDS: { readonly [code: string]: string } = {
  ENOENT: 'there is no such file (ENOENT)',
  EISDIR: 'it is a directory (EISDIR)',
  EACCES: 'it may not be read (EACCES)',
  ECONNREFUSED: 'nothing listens at its address (ECONNREFUSED)',
  ENOTFOUND: 'its host is not known (ENOTFOUND)',
};

/** The first system code on the way to the root cause; causes are nested by the HTTP client. */
function reasonOf(error: unknown): string {
  let at = error as { code?: unknown; cause?: unknown } | null | undefined;
  for (let depth = 0; depth < 5 && typeof at === 'object' && at !== null; depth++) {
    if (typeof at.code === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(at.code))
      return WORDS[at.code] ?? at.code;
    at = at.cause as typeof at;
  }
  return 'it cannot be read';
}
