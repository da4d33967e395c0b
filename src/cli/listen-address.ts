import { lookup } from 'node:dns/promises';
import { throwBug } from '../domain/bug';
import { CliError } from './errors';

/** Where something of a worker listens. */
interface ListenAddress {
  /** Undefined for all interfaces. */
  readonly host: string | undefined;
  readonly port: number;
}

/**
 * Reads `host:port`, or `:port` for all interfaces.
 * @param variable named by the error
 * @throws CliError
 */
export function parseListenAddress(address: string, variable: string): ListenAddress {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]*)):(\d{1,5})$/i.exec(address);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535)
    throw new CliError('configuration', `${variable}: must be host:port, or :port for all interfaces.`);
  const host = match[1] ?? match[2];
  return { host: host === '' ? undefined : host, port };
}

/** The address as `ip:port`, for a server that resolves no names. @throws CliError */
export async function socketAddress(address: string, variable: string): Promise<string> {
  const { host, port } = parseListenAddress(address, variable);
  if (port === 0)
    throw new CliError('configuration', `${variable}: needs a port that a scraper can be told, not 0.`);
  if (host === undefined) return `0.0.0.0:${port}`;
  const found = await lookup(host).catch((error: unknown) => {
    throwBug(error);
    throw new CliError('configuration', `${variable}: the host has no address here.`);
  });
  return found.family === 6 ? `[${found.address}]:${port}` : `${found.address}:${port}`;
}
