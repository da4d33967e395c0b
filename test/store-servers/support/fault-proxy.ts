import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';

/** What becomes of a request: `before` the server sees it, or `after` it did all of it. */
export interface Fault {
  readonly when: 'before' | 'after';
  /** The connection is cut, nothing is ever answered, or this is answered. */
  readonly what: 'cut' | 'hang' | { readonly status: number; readonly code: string };
}

export interface Passed {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly range: string | undefined;
}

/** A proxy of the loopback interface in front of an S3 server. */
export interface FaultProxy {
  readonly endpoint: string;
  /** All requests so far. */
  readonly requests: Passed[];
  /** Decides about each request; null lets it pass. */
  rule: (passed: Passed) => Fault | null;
  /** Runs before a request is passed on. */
  before: (passed: Passed) => Promise<void>;
  /** Bytes of the body of the next reply to a GET after which its connection is cut; once. */
  cutBodyAt: number | undefined;
  close(): Promise<void>;
}

export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const server = createServer((asked, reply) => {
    void handle(asked, reply).catch(() => void asked.socket.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const proxy: FaultProxy = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    rule: () => null,
    before: async () => undefined,
    cutBodyAt: undefined,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function handle(asked: IncomingMessage, reply: ServerResponse): Promise<void> {
    const passed = { method: asked.method ?? '', url: asked.url ?? '', range: asked.headers.range };
    proxy.requests.push(passed);
    const fault = proxy.rule(passed);
    if (fault?.when === 'before') {
      asked.resume();
      await new Promise((resolve) => asked.once('end', resolve));
      return perform(fault, asked, reply);
    }
    await proxy.before(passed);
    const answer = await forward(asked, target);
    if (fault !== null) {
      answer.resume();
      await new Promise((resolve) => answer.once('end', resolve));
      return perform(fault, asked, reply);
    }
    reply.writeHead(answer.statusCode ?? 502, answer.headers);
    const cutAt = passed.method === 'GET' ? proxy.cutBodyAt : undefined;
    if (cutAt === undefined) return void answer.pipe(reply);
    proxy.cutBodyAt = undefined;
    let sent = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      await new Promise((resolve) => reply.write(chunk.subarray(0, cutAt - sent), resolve));
      sent += chunk.length;
      if (sent >= cutAt) return void asked.socket.destroy();
    }
  }
  return proxy;
}

/** Sends a request on as it is: its signature names the host that the client asked. */
function forward(asked: IncomingMessage, target: string): Promise<IncomingMessage> {
  const { host: _host, port } = new URL(target);
  const { expect: _expect, ...headers } = asked.headers;
  return new Promise((resolve, reject) => {
    const passedOn = request(
      { host: '127.0.0.1', port, method: asked.method, path: asked.url, headers },
      resolve,
    );
    passedOn.once('error', reject);
    asked.once('error', () => passedOn.destroy());
    asked.pipe(passedOn);
  });
}

function perform({ what }: Fault, asked: IncomingMessage, reply: ServerResponse): void {
  if (what === 'hang') return;
  if (what === 'cut') return void asked.socket.resetAndDestroy();
  reply.writeHead(what.status, { 'content-type': 'application/xml' });
  reply.end(`<?xml version="1.0"?><Error><Code>${what.code}</Code><Message>secret words</Message></Error>`);
}
