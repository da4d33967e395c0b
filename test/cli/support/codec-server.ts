import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type PayloadCodec } from '@temporalio/common';
import { allowsWord, codecListener } from '../../../examples/codec-server';

export interface CodecServer {
  readonly origin: string;
  /** Paths that were asked for, in order. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** The codec server of the examples on a free port, for one namespace and those who know `auth`. */
export async function startCodecServer(
  codec: PayloadCodec,
  namespace: string,
  auth: string,
): Promise<CodecServer> {
  const asked: string[] = [];
  const known = allowsWord(auth);
  const answer = codecListener({
    codec,
    allows: (authorization, { headers, url = '' }) =>
      known(authorization) &&
      headers['x-namespace'] === namespace &&
      url.startsWith(`/${encodeURIComponent(namespace)}/`),
  });
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(request, response);
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
