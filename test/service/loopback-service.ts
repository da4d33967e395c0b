import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server as TcpServer,
  type Socket,
} from 'node:net';
import { type Issued } from '../support/private-ca';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

export interface Loopback {
  readonly origin: string;
  readonly port: number;
  /** Every request whose headers arrived, in order. */
  readonly seen: SeenRequest[];
  close(): Promise<void>;
}

type Answer = (request: SeenRequest, response: ServerResponse) => void;

/** A real HTTP or HTTPS server that counts what reaches it; the answer is given once the body is read. */
export async function loopback(answer: Answer, tls?: Issued): Promise<Loopback> {
  const seen: SeenRequest[] = [];
  const onRequest: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const { method = '', url = '', headers, rawHeaders } = request;
      const one = { method, url, headers, rawHeaders, body: Buffer.concat(chunks) };
      seen.push(one);
      answer(one, response);
    });
  };
  const server = tls === undefined ? createServer(onRequest) : createTlsServer(tls, onRequest);
  return { ...(await listening(server, tls === undefined ? 'http' : 'https')), seen };
}

/** A raw TCP server: `onSocket` gets each connection. */
export async function rawLoopback(
  onSocket: (socket: Socket, connection: number) => void,
): Promise<Omit<Loopback, 'seen'> & { readonly connections: () => number }> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createTcpServer((socket) => {
    count += 1;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    onSocket(socket, count);
  });
  const base = await listening(server);
  return {
    ...base,
    connections: () => count,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await base.close();
    },
  };
}

/** Collects a request on a raw socket and calls back when `bytes` bytes of head and body are there. */
export function afterRequest(socket: Socket, reached: (text: string) => void): void {
  let text = '';
  let done = false;
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    const head = text.indexOf('\r\n\r\n');
    const length = /content-length: (\d+)/i.exec(text)?.[1];
    if (done || head < 0 || text.length < head + 4 + Number(length ?? 0)) return;
    done = true;
    reached(text);
  });
}

export function json(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** A port on which nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createTcpServer();
  const { port, close } = await listening(server);
  await close();
  return port;
}

async function listening(server: Server | TcpServer, scheme = 'http'): Promise<Omit<Loopback, 'seen'>> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `${scheme}://127.0.0.1:${port}`,
    port,
    close: async () => {
      if ('closeAllConnections' in server) server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
