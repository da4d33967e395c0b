import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Webhook } from 'standardwebhooks';
import { replyText, sendNotice } from '../../packages/notices/src/deliver';
import { type Endpoint, endpointsOf, readEndpoints } from '../../packages/notices/src/endpoints';
import { makeNotice } from '../../packages/notices/src/notice';
import { ConfigurationError } from '../../src/settings/config';
import { type Receiver, SECRET, startReceiver, status } from './support/receiver';

const NOTICE = makeNotice({ namespace: 'default', taskQueue: 'media' }, 'call.ended', ['id'], 0, {
  id: 'id',
});
const OTHER = `whsec_${Buffer.from('another secret of thirty bytes').toString('base64')}`;

let dir: string;
let secretFile: string;
const closing: (() => unknown)[] = [];
beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'temporal-media-notify-'));
  secretFile = path.join(dir, 'secret');
  await writeFile(secretFile, SECRET);
});
afterAll(async () => {
  for (const close of closing) await close();
  await rm(dir, { recursive: true, force: true });
});

async function receiving(...[answer]: Parameters<typeof startReceiver>): Promise<Receiver> {
  const receiver = await startReceiver(answer);
  closing.push(() => receiver.close());
  return receiver;
}

const endpointAt = (url: string, options: object = { allowPrivate: true }): Endpoint =>
  endpointsOf([{ url, secretFile, ...options }])[0] as Endpoint;

describe('the file in MEDIA_NOTIFY', () => {
  const read = async (endpoints: unknown, text = JSON.stringify({ version: 1, endpoints })) => {
    const file = path.join(dir, 'notify.json');
    await writeFile(file, text);
    return readEndpoints(file);
  };
  const problem = async (...args: Parameters<typeof read>): Promise<string> => {
    const error: unknown = await read(...args).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as Error).message;
  };
  const url = 'https://hooks.example.com/s3cret-path';

  it('gives each endpoint what it wants, and an id that does not show its address', async () => {
    const [all, some] = await read([
      { url, secretFile: 'secret' },
      { url: `${url}/2`, secretFile: 'secret', events: ['call.ended'] },
    ]);
    expect([all?.wants('call.review'), some?.wants('call.review'), some?.wants('call.ended')]).toEqual([
      true,
      false,
      true,
    ]);
    expect(all?.id).toMatch(/^[0-9a-f]{8}$/);
    expect(all?.secrets()).toEqual([SECRET]);
  });

  it.each([
    [[{ url: 'nowhere', secretFile: 'secret' }], /endpoints\[0\]\.url must be an address such as https/],
    [[{ url: 'http://hooks.example.com/s3cret-path', secretFile: 'secret' }], /must begin with https:/],
    [[{ url: 'https://u:s3cret-path@hooks.example.com', secretFile: 'secret' }], /must not contain a user/],
    [
      [{ url: 'https://127.0.0.1/s3cret-path', secretFile: 'secret' }],
      /private network.*set allowPrivate to true/,
    ],
    [[{ url: 'https://[fd00::1]/s3cret-path', secretFile: 'secret' }], /private network/],
    [[{ url: 'https://169.254.169.254/s3cret-path', secretFile: 'secret' }], /private network/],
    [
      [
        { url, secretFile: 'secret' },
        { url, secretFile: 'secret' },
      ],
      /endpoints\[1\]\.url is also/,
    ],
    [[{ url, secretFile: 'secret', events: ['call.endet'] }], /"call\.ended"[^]*endpoints\[0\]\.events\[0\]/],
    [[{ url, secretFile: 'secret', events: [] }], /at least one type/],
    [[{ url }], /secretFile/],
  ])('%j is refused, with the field and without the address', async (endpoints, message) => {
    const text = await problem(endpoints);
    expect(text).toMatch(message);
    expect(text).not.toContain('s3cret-path');
  });

  it('is refused with its problem if it is not JSON, or is missing', async () => {
    expect(await problem([], '{"url": "https://hooks.example.com/s3cret-path"')).toBe(
      'MEDIA_NOTIFY: the file is not JSON.',
    );
    expect(() => readEndpoints(path.join(dir, 'none.json'))).toThrow(
      'MEDIA_NOTIFY: the file cannot be read by this process.',
    );
  });

  it.each(['', 'whsec_', 'whsec_c2hvcnQ=', SECRET.slice(6), `${SECRET} nonsense`])(
    'the secret %j is refused without being shown',
    async (secret) => {
      const file = path.join(dir, 'bad-secret');
      await writeFile(file, secret);
      const [endpoint] = await read([{ url, secretFile: 'bad-secret' }]);
      expect(() => endpoint?.secrets()).toThrow(
        /^MEDIA_NOTIFY: endpoints\[0\]\.secretFile must contain whsec_ and 24 to 64 random bytes/,
      );
    },
  );

  it('a secret that cannot be read is reported', async () => {
    const [endpoint] = await read([{ url, secretFile: 'gone' }]);
    expect(() => endpoint?.secrets()).toThrow('endpoints[0].secretFile cannot be read by this process.');
  });
});

describe('one attempt to send a notice', () => {
  it('is signed as Standard Webhooks says, under the id of the notice', async () => {
    const receiver = await receiving();
    expect(await sendNotice(endpointAt(receiver.url), NOTICE, {})).toMatchObject({ status: 204 });
    expect(receiver.all).toMatchObject([
      {
        id: NOTICE.id,
        notice: { type: 'call.ended', timestamp: NOTICE.timestamp, data: { id: 'id', taskQueue: 'media' } },
      },
    ]);
  });

  it('with two secrets, a receiver that has either of them accepts it', async () => {
    const file = path.join(dir, 'two');
    await writeFile(file, `${OTHER}\n${SECRET}\n`);
    const receiver = await receiving();
    await sendNotice(endpointAt(receiver.url, { allowPrivate: true, secretFile: file }), NOTICE, {});
    const [{ body, headers }] = receiver.all as [(typeof receiver.all)[number]];
    for (const secret of [SECRET, OTHER])
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toBeDefined();
    expect(() => new Webhook('whsec_bm9uZQ==').verify(body, headers as Record<string, string>)).toThrow(
      'No matching signature',
    );
  });

  it('follows no redirect', async () => {
    const target = await receiving();
    const receiver = await receiving(status(307, { location: target.url }));
    const reply = await sendNotice(endpointAt(receiver.url), NOTICE, {});
    expect(replyText(reply)).toBe('It redirects (HTTP 307), and redirects are not followed.');
    expect(target.all).toEqual([]);
  });

  it('does not connect to a name that leads to this machine', async () => {
    const receiver = await receiving();
    const { port } = new URL(receiver.url);
    const reply = await sendNotice(endpointAt(`https://localhost:${port}/`, {}), NOTICE, {});
    expect(reply).toEqual({ code: 'MEDIA_ADDRESS_BLOCKED' });
    expect(replyText(reply)).toContain('allowPrivate is not set');
    expect(receiver.all).toEqual([]);
  });

  it('reads only the beginning of a body without end', async () => {
    let written = 0;
    const server = createServer((_request, response) => {
      response.writeHead(200);
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536))) written += 65_536;
        response.once('drain', more);
      };
      more();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    expect(await sendNotice(endpointAt(url), NOTICE, {})).toMatchObject({ status: 200 });
    // What the sockets of both sides hold.
    expect(written).toBeLessThan(32 * 1024 * 1024);
  });

  it('says why without the address: refused, closed, not HTTP', async () => {
    const tcp = createTcpServer((socket) => void socket.resume().end('SSH-2.0\r\n\r\n'));
    await once(tcp.listen(0, '127.0.0.1'), 'listening');
    const { port } = tcp.address() as AddressInfo;
    const garbage = await sendNotice(endpointAt(`http://127.0.0.1:${port}/`), NOTICE, {});
    expect(replyText(garbage)).toMatch(
      /^It did not answer \((?:HPE_\w+|UND_ERR_\w+|ECONNRESET|unknown)\)\.$/,
    );
    await new Promise((resolve) => tcp.close(resolve));
    const refused = await sendNotice(endpointAt(`http://127.0.0.1:${port}/`), NOTICE, {});
    expect(replyText(refused)).toBe('It did not answer (ECONNREFUSED).');
  });
});
