import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { request } from 'undici';

/** One thing that the network between client and service does. */
export interface Toxic {
  readonly type: 'latency' | 'bandwidth' | 'slicer' | 'slow_close' | 'timeout' | 'reset_peer' | 'limit_data';
  /** `upstream` is what the client sends. */
  readonly stream: 'upstream' | 'downstream';
  readonly attributes: Readonly<Record<string, number>>;
}

export interface Toxiproxy {
  /** A port that leads to another one through a toxic. */
  between(port: number, toxic: Toxic): Promise<{ readonly port: number; close(): Promise<void> }>;
  close(): Promise<void>;
}

const VERSION = 'v2.12.0';

/** Why there can be no toxiproxy on this machine; undefined when there can. */
export function toxiproxyIsMissing(): string | undefined {
  if (existsSync(binary())) return undefined;
  const found = spawnSync('go', ['version']).status === 0;
  return found ? undefined : 'toxiproxy is built with go, and there is no go on PATH';
}

function binary(): string {
  return resolve(join('node_modules/.cache/temporal-media', `toxiproxy-${VERSION}`, 'server'));
}

/** Starts toxiproxy on loopback; builds it first, once, into the cache of this checkout. */
export async function openToxiproxy(): Promise<Toxiproxy> {
  if (!existsSync(binary())) {
    const env = { ...process.env, GOBIN: resolve(binary(), '..'), CGO_ENABLED: '0' };
    const what = `github.com/Shopify/toxiproxy/v2/cmd/server@${VERSION}`;
    await promisify(execFile)('go', ['install', what], { env });
  }
  const port = await freePort();
  const child = spawn(binary(), ['-host', '127.0.0.1', '-port', String(port)], { stdio: 'ignore' });
  await reachable(port, child.exitCode === null);
  const api = async (method: 'POST' | 'DELETE', path: string, body?: unknown): Promise<unknown> => {
    const reply = await request(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.body.text();
    if (reply.statusCode >= 300) throw new Error(`toxiproxy answered ${reply.statusCode}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  let count = 0;
  return {
    between: async (to, { type, stream, attributes }) => {
      const name = `p${++count}`;
      const made = await api('POST', '/proxies', {
        name,
        listen: '127.0.0.1:0',
        upstream: `127.0.0.1:${to}`,
        enabled: true,
      });
      await api('POST', `/proxies/${name}/toxics`, { type, stream, attributes });
      const listen = (made as { listen: string }).listen;
      return {
        port: Number(listen.slice(listen.lastIndexOf(':') + 1)),
        close: async () => void (await api('DELETE', `/proxies/${name}`)),
      };
    },
    close: async () => {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** Its own log is no promise: the port is asked until it answers. */
async function reachable(port: number, alive: boolean): Promise<void> {
  for (let tries = 0; alive && tries < 500; tries += 1) {
    const socket = connect(port, '127.0.0.1');
    const [event] = await Promise.race([
      once(socket, 'connect').then(() => ['connect']),
      once(socket, 'close').then(() => ['close']),
    ]).catch(() => ['close']);
    socket.destroy();
    if (event === 'connect') return;
    await new Promise((next) => setTimeout(next, 20));
  }
  throw new Error('toxiproxy did not start.');
}
