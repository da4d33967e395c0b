import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** When a connection is cut: before a statement reaches the server, or after the server has committed it. */
export type Cut = 'before' | 'after';

/** A proxy of the loopback interface that breaks connections at a statement. */
export interface CuttingProxy {
  readonly port: number;
  /** The next statements that insert are cut, in this order; what is not armed passes. */
  arm(...cuts: readonly Cut[]): void;
  /** How many cuts are still to come. */
  armed(): number;
  /** Connections that are open stay open, and carry nothing any more: their host is gone. Later ones work. */
  freeze(): void;
  /** Nothing is cut any more. */
  disarm(): void;
  close(): Promise<void>;
}

export async function startCuttingProxy(port: number): Promise<CuttingProxy> {
  const cuts: Cut[] = [];
  const sockets = new Set<Socket>();
  let frozen = 0;
  let connections = 0;
  const server = createServer((client) => {
    connections += 1;
    const number = connections;
    const upstream = connect(port, '127.0.0.1');
    const cut = (): void => {
      cuts.shift();
      client.resetAndDestroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
    }
    client.on('data', (bytes) => {
      if (number <= frozen) return;
      if (cuts[0] === 'before' && bytes.includes('INSERT INTO')) cut();
      else upstream.write(bytes);
    });
    // The tag of the statement comes after its commit: it is a transaction of its own.
    upstream.on('data', (bytes) => {
      if (cuts[0] === 'after' && bytes.includes('INSERT 0 ')) cut();
      else client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    arm: (...more) => void cuts.push(...more),
    armed: () => cuts.length,
    freeze: () => void (frozen = connections),
    disarm: () => void cuts.splice(0),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
