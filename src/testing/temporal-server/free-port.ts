import { createServer, type Server } from 'node:net';
import { once } from 'node:events';

const LOOPBACK = '127.0.0.1';

/** A port of 127.0.0.1 that was free a moment ago: whoever uses it must be ready to try another one. */
export async function freePort(): Promise<number> {
  const server = await listen(0);
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP port to be had on 127.0.0.1');
  return address.port;
}

/** Whether nobody listens on that port of 127.0.0.1. */
export async function isPortFree(port: number): Promise<boolean> {
  try {
    const server = await listen(port);
    server.close();
    await once(server, 'close');
    return true;
  } catch {
    return false;
  }
}

async function listen(port: number): Promise<Server> {
  const server = createServer();
  server.listen(port, LOOPBACK);
  await once(server, 'listening');
  return server;
}
