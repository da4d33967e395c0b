import { type AddressInfo, createServer, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Dispatcher } from 'undici';
import { type ConnectionPurpose, environmentConnections } from '../../src/service/connections';
import { exchangeOnce } from '../../src/service/paid-exchange';

/** A service that says nothing of closing, and closes behind the last byte of what it has to say. */
describe('a connection that is closed behind a reply', () => {
  let server: Server;
  let origin: string;
  let said = Buffer.alloc(0);

  beforeAll(async () => {
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(said));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  function say(head: string, body: Buffer): void {
    said = Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n`), body]);
  }

  const bytes = (length: number) => Buffer.alloc(length, 0x20);
  const LENGTHS = Array.from({ length: 40 }, (_, n) => 200_000 + n * 37_000);

  /** Reads more slowly than the socket: `whole`, or what it met instead, and how much came. */
  async function read(dispatcher: Dispatcher): Promise<readonly [string, number]> {
    const { body } = await dispatcher.request({ path: '/', method: 'GET' });
    let size = 0;
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        size += chunk.length;
        await delay(1);
      }
      return ['whole', size];
    } catch (error) {
      return [(error as Error).name, size];
    }
  }

  const connect = (purpose: ConnectionPurpose) =>
    environmentConnections({})(new URL(origin), {
      purpose,
      connections: 1,
      connectTimeoutMs: 5_000,
      headersTimeoutMs: 5_000,
      bodyTimeoutMs: 5_000,
    }).dispatcher;

  it.each(['content', 'media', 'paid', 'models'] as const)(
    'does not take from a slow reader what came whole (%s)',
    async (purpose) => {
      const dispatcher = connect(purpose);
      for (const length of LENGTHS) {
        say(`content-length: ${length}`, bytes(length));
        expect(await read(dispatcher)).toEqual(['whole', length]);
      }
      await dispatcher.destroy();
    },
  );

  it('is a loss when a byte is missing, or when nobody said how many there are', async () => {
    const dispatcher = connect('content');
    for (const length of LENGTHS.slice(0, 10)) {
      say(`content-length: ${length + 1}`, bytes(length));
      expect((await read(dispatcher))[0]).not.toBe('whole');
      // The last chunk is missing.
      const chunk = Buffer.concat([
        Buffer.from(`${length.toString(16)}\r\n`),
        bytes(length),
        Buffer.from('\r\n'),
      ]);
      say('transfer-encoding: chunked', chunk);
      expect((await read(dispatcher))[0]).not.toBe('whole');
    }
    await dispatcher.destroy();
  });

  it('is a loss when only an interim reply came, whatever length that one claims', async () => {
    const dispatcher = connect('content');
    said = Buffer.from('HTTP/1.1 103 Early Hints\r\ncontent-length: 0\r\n\r\n');
    await expect(read(dispatcher)).rejects.toThrow('other side closed');
    await dispatcher.destroy();
  });

  it('[C4.4a] loses nothing of a paid reply, however long it is', async () => {
    for (const length of [1_000, 900_000, 9_000_000, 30_000_000]) {
      say(`content-length: ${length}`, bytes(length));
      const reply = await exchangeOnce({
        url: new URL('/v1/images/generations', origin),
        headers: {},
        body: '{}',
        maxReplyBytes: 64 * 1024 * 1024,
        budgetMs: 30_000,
        connectionFactory: environmentConnections({}),
      });
      expect(reply).toMatchObject({ kind: 'reply', status: 200, body: { end: 'complete' } });
      expect(reply.kind === 'reply' && reply.body.bytes.length).toBe(length);
    }
  });
});
