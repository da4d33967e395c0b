import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { CliError } from './errors';
import { parseListenAddress } from './listen-address';

/** What a worker process can say of itself. */
export interface Health {
  /**
   * The process has bound its queues, polls them and can write its journal. False while it starts and from the moment in
   * which it drains. Does not reject.
   */
  readonly isReady: () => Promise<boolean>;
}

/** A listening health endpoint. */
export interface HealthEndpoint {
  /** `host:port`, with the port that was chosen where 0 was asked for. */
  readonly address: string;
  close(): void;
}

/**
 * Serves the probes of Kubernetes and of load balancers: `GET /livez` answers 200 as long as the process answers at all,
 * `GET /readyz` 200 while the worker takes work and can write the stores that its parts need, and 503 otherwise. Nothing else is served and nothing is told.
 * @param address `host:port` or `:port` (all interfaces)
 */
export async function serveHealth(address: string, health: Health): Promise<HealthEndpoint> {
  const { host, port } = parseListenAddress(address, 'MEDIA_HEALTH_ADDRESS');
  const server = createServer((request, response) => {
    void statusOf(request.url ?? '', health).then((status) => {
      response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' });
      response.end(status === 200 ? 'ok\n' : status === 503 ? 'not ready\n' : 'not found\n');
    });
  });
  await listening(server, host, port).catch((error: NodeJS.ErrnoException) => {
    throw new CliError('configuration', `Nothing can listen on ${address} (${error.code ?? 'unknown'}).`, {
      hint: 'Give --health another port, or end what listens there.',
    });
  });
  // A probe must not keep a worker alive that has drained.
  server.unref();
  const bound = server.address() as AddressInfo;
  const name = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  return { address: `${name}:${bound.port}`, close: () => void server.close() };
}

async function statusOf(url: string, { isReady }: Health): Promise<200 | 404 | 503> {
  const [path] = url.split('?');
  if (path === '/livez') return 200;
  if (path !== '/readyz') return 404;
  return (await isReady()) ? 200 : 503;
}

async function listening(server: Server, host: string | undefined, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host !== undefined && { host }) }, resolve);
  });
}
