import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';

const { Payloads } = temporal.api.common.v1;

export interface CodecServer {
  readonly origin: string;
  /** Paths that were asked for, in order. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** A codec server as the samples of Temporal have it, for one namespace and those who know `auth`. */
export async function startCodecServer(
  codec: PayloadCodec,
  namespace: string,
  auth: string,
): Promise<CodecServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const { authorization, 'x-namespace': named } = request.headers;
    const work = /^\/([^/]+)\/(encode|decode)$/.exec(request.url ?? '');
    if (authorization !== auth || named !== namespace || work?.[1] !== namespace)
      return void response.writeHead(401).end('who are you?');
    void answer(codec, work[2] === 'encode' ? 'encode' : 'decode', request).then(
      (text) => response.setHeader('content-type', 'application/json').end(text),
      () => response.writeHead(400).end(),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(
  codec: PayloadCodec,
  what: 'encode' | 'decode',
  request: IncomingMessage,
): Promise<string> {
  const message = Payloads.fromObject(JSON.parse((await buffer(request)).toString('utf8')) as object);
  const payloads = await codec[what](message.payloads);
  // The form that protobuf gives to bytes in JSON.
  return JSON.stringify(Payloads.toObject(Payloads.create({ payloads }), { bytes: String }));
}
