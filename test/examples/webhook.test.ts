import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { fetch } from 'undici';
import { webhookListener } from '../../examples/webhook';

const secretOf = (text: string) => `whsec_${Buffer.from(text).toString('base64')}`;
const SECRET = secretOf('a secret of two, of 24 bytes');
const now = () => new Date();
const hours = (count: number) => new Date(Date.now() + count * 3_600_000);

/** What the sender adds to a body. */
function signed(body: string, secret = SECRET, at = now()): Record<string, string> {
  const id = 'msg_1';
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}

/** What reaches the client; that a nudge brings the poll forward is shown in test/e2e/shared-polling.test.ts. */
describe('the receiver of webhooks of the examples', () => {
  const nudged: string[] = [];
  let server: Server;
  let address: string;

  beforeAll(async () => {
    const media = {
      nudge: async (id: string) => {
        nudged.push(id);
        return id !== 'gone';
      },
    };
    server = createServer(webhookListener({ media, secret: SECRET }));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const post = async (body: string, headers: Record<string, string>): Promise<number> =>
    (await fetch(address, { method: 'POST', body, headers })).status;

  it('nudges what a signed message names', async () => {
    const body = JSON.stringify({ id: 'vid_1', status: 'completed' });
    expect(await post(body, signed(body))).toBe(202);
    expect(nudged).toEqual(['vid_1']);
    const gone = JSON.stringify({ id: 'gone' });
    expect(await post(gone, signed(gone))).toBe(404);
  });

  it.each([
    ['no signature', () => ({})],
    [
      'the signature of another secret',
      (body: string) => signed(body, secretOf('another secret of 24 bytes')),
    ],
    ['the signature of another body', () => signed('{"id":"vid_2"}')],
    ['an old message', (body: string) => signed(body, SECRET, hours(-1))],
    ['a message of tomorrow', (body: string) => signed(body, SECRET, hours(24))],
  ])('%s nudges nothing', async (_what, sign) => {
    const before = nudged.length;
    const body = JSON.stringify({ id: 'vid_1' });
    expect(await post(body, sign(body))).toBe(401);
    expect(nudged).toHaveLength(before);
  });

  it.each([['{"id":""}'], ['{"id":7}'], ['{}']])('%s names nothing', async (body) => {
    expect(await post(body, signed(body))).toBe(400);
  });

  it('a body that is too long is not read to its end', async () => {
    const body = JSON.stringify({ id: 'x'.repeat(100_000) });
    expect(await post(body, signed(body))).toBe(413);
  });
});
