import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { noticeListener } from '../../examples/notice-receiver';
import { chatListener } from '../../examples/notice-to-chat';
import { sendNotice } from '../../packages/notices/src/deliver';
import { type Endpoint, endpointsOf } from '../../packages/notices/src/endpoints';
import { makeNotice } from '../../packages/notices/src/notice';

const SECRET = `whsec_${Buffer.from('a secret of the examples').toString('base64')}`;
const PLACE = { namespace: 'default', taskQueue: 'media' };
const DATA = { id: 'film-7', sendId: 's-1', command: 'temporal-media unconfirmed show film-7' };
const NOTICE = makeNotice(PLACE, 'call.unconfirmed', ['film-7', 's-1'], 0, DATA);

/** What notices send, received by the examples. */
describe('the receivers of notices of the examples', () => {
  const servers: Server[] = [];
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'temporal-media-receivers-'));
    await writeFile(path.join(dir, 'secret'), SECRET);
    await writeFile(path.join(dir, 'other'), `${SECRET.slice(0, -4)}AAAA`);
  });
  afterAll(async () => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
    await rm(dir, { recursive: true, force: true });
  });

  async function serve(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }
  const send = (url: string, secretFile = 'secret', notice = NOTICE) =>
    sendNotice(endpointsOf([{ url, secretFile, allowPrivate: true }], dir)[0] as Endpoint, notice, {});

  it('handles a notice once, again after a failure, and none of another secret or of too much', async () => {
    const handled: unknown[] = [];
    let fails = true;
    const url = await serve(
      noticeListener(SECRET, (notice) => {
        if (fails) throw new Error('The database is down.');
        handled.push(notice);
      }),
    );
    expect(await send(url)).toMatchObject({ status: 500 });
    fails = false;
    expect(await send(url)).toMatchObject({ status: 204 });
    expect(await send(url)).toMatchObject({ status: 204 });
    expect(handled).toEqual([
      { type: 'call.unconfirmed', timestamp: '1970-01-01T00:00:00.000Z', data: { ...PLACE, ...DATA } },
    ]);
    expect(await send(url, 'other')).toMatchObject({ status: 401 });
    const large = makeNotice(PLACE, 'call.ended', ['large'], 0, { id: 'x'.repeat(70_000) });
    expect(await send(url, 'secret', large)).toMatchObject({ status: 413 });
    expect(handled).toHaveLength(1);
  });

  it('posts a line to a chat, and is sent the notice again if the chat refuses', async () => {
    const posted: unknown[] = [];
    let status = 500;
    const chat = await serve((request, response) => {
      void text(request).then((body) => {
        posted.push(JSON.parse(body));
        response.writeHead(status).end();
      });
    });
    const url = await serve(chatListener(SECRET, chat));
    expect(await send(url)).toMatchObject({ status: 500 });
    status = 200;
    expect(await send(url)).toMatchObject({ status: 204 });
    expect(posted[1]).toEqual({
      text: '*call.unconfirmed* {"id":"film-7","sendId":"s-1"}\nNext: `temporal-media unconfirmed show film-7`',
    });
  });
});
