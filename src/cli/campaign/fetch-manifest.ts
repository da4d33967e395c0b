import { Readable } from 'node:stream';
import { Agent, fetch } from 'undici';
import { environmentConnections } from '../../service/connections';
import { unreadable } from './manifest-input';

/** Longest wait for a tunnel or a connection, for headers and inside the body, in milliseconds. */
const CONNECTION = {
  purpose: 'models',
  connections: 1,
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 30_000,
  bodyTimeoutMs: 30_000,
} as const;

/**
 * GETs a manifest without any credentials of ours (C5.3). What is judged and agreed to is what is started: the worker
 * never asks the address again. Messages do not hold the address, which may be signed (C5.4b). @throws CliError
 */
export async function fetchManifest(address: string, env = process.env): Promise<Readable> {
  const connections = environmentConnections(env);
  const dispatcher = new Agent({
    factory: (origin) => connections(new URL(origin), CONNECTION).dispatcher,
  });
  let response: Awaited<ReturnType<typeof fetch>>;
  try {
    response = await fetch(address, { dispatcher, credentials: 'omit' });
  } catch {
    throw unreadable('its address does not answer.');
  }
  const downgraded = /^https:/i.test(address) && !/^https:/i.test(response.url);
  if (!response.ok || downgraded || response.body === null) {
    await response.body?.cancel();
    throw unreadable(
      downgraded
        ? 'its address redirects from https to http.'
        : `its address answers HTTP ${response.status}.`,
    );
  }
  return Readable.fromWeb(response.body);
}
