import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type Issued } from './private-ca';

type Refusal = number | 'silence' | 'hang_up';

export interface ConnectProxyOptions {
  /** `user:password` that a CONNECT must bring. */
  readonly credentials?: string;
  /** Instead of a tunnel: a status, silence for ever, or the end of the connection. */
  readonly answer?: Refusal;
  /** Only so many CONNECTs get that answer; the others a tunnel. @default all */
  readonly refuseFirst?: number;
  /** Ends a tunnel when its target answers, before any byte of that comes down. */
  readonly cutsReplies?: boolean;
  /** Names that only this proxy resolves, to ports of 127.0.0.1. */
  readonly names?: { readonly [host: string]: number };
  /** Speaks TLS itself. */
  readonly tls?: Issued;
}

export interface ConnectProxy {
  /** Without credentials. */
  readonly url: string;
  readonly port: number;
  /** Targets of every CONNECT, in order, refused ones too. */
  readonly asked: string[];
  /** Targets to which a tunnel was opened. */
  readonly tunnels: string[];
  /** Anything but CONNECT: `METHOD target`. */
  readonly forwarded: string[];
  /** Everything that a client said to the proxy itself: heads of CONNECT requests. */
  readonly heads: string[];
  /** What went up through tunnels, as an onlooker on the proxy sees it. */
  readonly relayed: () => Buffer;
  close(): Promise<void>;
}

/** A real proxy on loopback: tunnels by CONNECT, nothing else. */
export async function connectProxy(options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const record = { asked: [], tunnels: [], forwarded: [], heads: [] } as {
    readonly [name in 'asked' | 'tunnels' | 'forwarded' | 'heads']: string[];
  };
  const chunks: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server: Server = options.tls === undefined ? createServer() : createTlsServer(options.tls);
  server.on('request', (request, response) => {
    record.forwarded.push(`${request.method} ${request.url}`);
    response.writeHead(501).end();
  });
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('connect', (request, client: Socket) => {
    const target = request.url ?? '';
    record.asked.push(target);
    record.heads.push(`${request.method} ${target}\n${request.rawHeaders.join('\n')}`);
    client.on('error', () => undefined);
    const given = request.headers['proxy-authorization'];
    const wanted = options.credentials && `Basic ${Buffer.from(options.credentials).toString('base64')}`;
    const refusal = record.asked.length <= (options.refuseFirst ?? Infinity) ? options.answer : undefined;
    const answer = wanted !== undefined && given !== wanted ? 407 : refusal;
    if (answer === 'silence') return;
    if (answer === 'hang_up') return void client.destroy();
    if (answer !== undefined) return void client.end(`HTTP/1.1 ${answer} No\r\ncontent-length: 0\r\n\r\n`);
    const { hostname, port } = new URL(`tcp://${target}`);
    const named = options.names?.[hostname];
    const up = connect(named ?? Number(port), named === undefined ? hostname : '127.0.0.1', () => {
      record.tunnels.push(target);
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      client.on('data', (chunk: Buffer) => chunks.push(chunk));
      client.pipe(up);
      if (options.cutsReplies === true) up.once('data', () => client.destroy());
      else up.pipe(client);
    });
    sockets.add(up);
    client.on('close', () => up.destroy());
    up.on('error', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    ...record,
    port,
    url: options.tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
    relayed: () => Buffer.concat(chunks),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
