import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { fetch } from 'undici';
import { signatureOf, webhookListener } from '../../examples/webhook';

const SECRET = 'a-secret-of-two';
const now = () => Math.floor(Date.now() / 1000);

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

  const post = async (body: string, signature: string): Promise<number> =>
    (await fetch(address, { method: 'POST', body, headers: { 'x-signature': signature } })).status;

  it('nudges what a signed message names', async () => {
    const body = JSON.stringify({ id: 'vid_1', status: 'completed' });
    expect(await post(body, signatureOf(body, SECRET, now()))).toBe(202);
    expect(nudged).toEqual(['vid_1']);
    const gone = JSON.stringify({ id: 'gone' });
    expect(await post(gone, signatureOf(gone, SECRET, now()))).toBe(404);
  });

  it.each([
    ['no signature', () => ''],
    ['the signature of another secret', (body: string) => signatureOf(body, 'another', now())],
    ['the signature of another body', () => signatureOf('{"id":"vid_2"}', SECRET, now())],
    ['an old message', (body: string) => signatureOf(body, SECRET, now() - 3_600)],
    ['a message of tomorrow', (body: string) => signatureOf(body, SECRET, now() + 86_400)],
  ])('%s nudges nothing', async (_what, sign) => {
    const before = nudged.length;
    const body = JSON.stringify({ id: 'vid_1' });
    expect(await post(body, sign(body))).toBe(401);
    expect(nudged).toHaveLength(before);
  });

  it.each([['{"id":""}'], ['{"id":7}'], ['{}']])('%s names nothing', async (body) => {
    expect(await post(body, signatureOf(body, SECRET, now()))).toBe(400);
  });

  it('a body that is too long is not read to its end', async () => {
    const body = JSON.stringify({ id: 'x'.repeat(100_000) });
    expect(await post(body, signatureOf(body, SECRET, now()))).toBe(413);
  });
});
