import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { type Notice } from '../../../packages/notices/src';
import { eventually } from '../../support/eventually';

export const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes, yes').toString('base64')}`;

/** A request as it arrived. */
export interface Arrived {
  readonly id: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** By the library, with the secret of the endpoint. */
  readonly notice: Pick<Notice, 'type' | 'timestamp' | 'data'>;
  readonly answered: number;
}

export type Answer = (response: ServerResponse, notice: Arrived['notice'], attempt: number) => number;

/** A receiver of notices on loopback, which answers as it is told and keeps all that arrives. */
export interface Receiver {
  readonly url: string;
  readonly all: readonly Arrived[];
  answer: Answer;
  /** Ids of the notices of this type that were taken and whose data fits. */
  taken(type: string, fits?: (data: Notice['data']) => boolean): readonly string[];
  /** Waits for such a notice. */
  until(type: string, fits?: (data: Notice['data']) => boolean): Promise<Arrived>;
  close(): Promise<void>;
}

export const TAKE: Answer = (response) => {
  response.writeHead(204).end();
  return 204;
};

export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(code, headers).end('a body that nobody reads');
    return code;
  };

export async function startReceiver(answer: Answer = TAKE, port = 0): Promise<Receiver> {
  const all: Arrived[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const headers = request.headers as Record<string, string>;
      // Throws, and ends the test, if the signature is not right.
      const notice = new Webhook(SECRET).verify(body, headers) as Arrived['notice'];
      const id = headers['webhook-id'] ?? '';
      const attempt = all.filter((one) => one.id === id).length + 1;
      all.push({ id, headers, body, notice, answered: receiver.answer(response, notice, attempt) });
    });
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const fitting = (type: string, fits: (data: Notice['data']) => boolean = () => true) =>
    all.filter(({ notice, answered }) => notice.type === type && answered < 300 && fits(notice.data));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=t0ken-of-the-hook`,
    all,
    answer,
    taken: (type, fits) => [...new Set(fitting(type, fits).map(({ id }) => id))],
    until: (type, fits) => eventually(`a notice ${type}`, async () => fitting(type, fits)[0], 60_000),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

async function bodyOf(request: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
