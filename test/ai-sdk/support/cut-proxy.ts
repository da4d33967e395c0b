import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy that can hold back replies and then cut its connections, so that a request arrives and its reply does not. */
export interface CutProxy {
  readonly address: string;
  /** Connections so far. */
  opened(): number;
  /** From now on, what the server sends is kept back. */
  holdReplies(): void;
  /** Resets all connections. Later ones pass everything again. */
  cut(): void;
  close(): Promise<void>;
}

export async function startCutProxy(to: string): Promise<CutProxy> {
  const { hostname, port } = new URL(`tcp://${to}`);
  const open = new Set<Socket>();
  let isHeld = false;
  let opened = 0;
  const server = createServer((client) => {
    opened += 1;
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => undefined).on('close', () => open.delete(socket));
    }
    client.pipe(upstream);
    upstream.on('data', (bytes: Buffer) => {
      if (!isHeld) client.write(bytes);
    });
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    isHeld = false;
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    opened: () => opened,
    holdReplies: () => {
      isHeld = true;
    },
    cut,
    close: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
