import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createModelSource, type ModelSourceOptions } from '../../src/settings/model-source';

const document = (...ids: string[]) =>
  JSON.stringify({ version: 1, models: ids.map((id) => ({ id, kind: 'image' })) });

let now: number;
let text: string | Error;
let reads: number;
beforeEach(() => {
  now = 1_000_000;
  text = document('image-2', 'image-2 4K');
  reads = 0;
});
const source = (options: ModelSourceOptions = {}) =>
  createModelSource({
    location: 'models.json',
    now: () => now,
    read: async () => {
      reads += 1;
      await Promise.resolve();
      if (text instanceof Error) throw text;
      return text;
    },
    ...options,
  });

it('without a location every model is unlisted, or refused on request', async () => {
  expect(await createModelSource().lookup('x')).toEqual({ found: 'unlisted' });
  expect(await createModelSource({ unknownModels: 'refuse' }).lookup('x')).toEqual({
    found: 'refused',
    known: [],
  });
  expect(await createModelSource().all()).toBeUndefined();
  expect(createModelSource().fingerprint()).toBe('none');
});

it.each([3_600_000, -3_600_000])(
  'a copy is no fresher for a wall clock that steps by %i ms',
  async (stepMs) => {
    const ttlMs = 5;
    let models = document('image-2');
    const read = () => Promise.resolve(models);
    const live = createModelSource({ location: 'models.json', read, ttlMs });
    expect(await live.lookup('new')).toMatchObject({ found: 'refused' });
    const readAt = performance.now();
    models = document('new');
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + stepMs);
    while (performance.now() - readAt < ttlMs) await new Promise(setImmediate);
    expect(await live.lookup('new')).toMatchObject({ found: 'entry' });
    clock.mockRestore();
  },
);

it('[C0.3] finds an entry by its exact id, and refuses others unless they are allowed', async () => {
  const models = source();
  expect(await models.lookup('image-2 4K')).toMatchObject({ found: 'entry', entry: { id: 'image-2 4K' } });
  for (const id of ['image-2 4k', 'image-2  4K', 'image-2 4K ', '__proto__'])
    expect(await models.lookup(id)).toEqual({ found: 'refused', known: ['image-2', 'image-2 4K'] });
  expect(await source({ unknownModels: 'allow' }).lookup('other')).toEqual({ found: 'unlisted' });
});

it('reads once for all who ask at the same time, and again after its time to live', async () => {
  const models = source();
  await Promise.all(Array.from({ length: 50 }, () => models.lookup('image-2')));
  expect(reads).toBe(1);
  const first = models.fingerprint();
  expect(first).toMatch(/^[0-9a-f]{12}$/);
  text = document('image-2', 'new');
  now += 59_000;
  expect(await models.lookup('new')).toMatchObject({ found: 'refused' });
  now += 2_000;
  expect(await models.lookup('new')).toMatchObject({ found: 'entry' });
  expect(models.fingerprint()).not.toBe(first);
  expect((await models.all())?.map(({ id }) => id)).toEqual(['image-2', 'new']);
});

it('[C1.5] a document that gives a name twice is not used: which price is meant is unknown', async () => {
  text = document('image-2').replace('"kind"', '"price":1,"price":2,"kind"');
  expect(await source().lookup('image-2')).toMatchObject({
    found: 'unavailable',
    message: expect.stringContaining('contains models.price twice') as string,
  });
});

it('goes on with the last good copy for an hour, then says that it waits, then recovers', async () => {
  const models = source();
  await models.lookup('image-2');
  text = new Error('ENOENT: /home/somebody/models.json');
  now += 61_000;
  expect(await models.lookup('image-2')).toMatchObject({ found: 'entry' });
  now += 3_590_000;
  expect(await models.lookup('image-2')).toMatchObject({ found: 'entry' });
  now += 20_000;
  const waiting = await models.lookup('image-2');
  expect(waiting).toMatchObject({ found: 'unavailable', retryAfterMs: 5_000 });
  expect(JSON.stringify(waiting)).not.toContain('somebody');
  text = document('image-2');
  now += 5_000;
  expect(await models.lookup('image-2')).toMatchObject({ found: 'entry' });
});

it('does not ask a source that is down more often than every five seconds', async () => {
  text = new Error('down');
  const models = source();
  for (let step = 0; step < 10; step++) {
    expect(await models.lookup('image-2')).toMatchObject({ found: 'unavailable' });
    now += 1_000;
  }
  expect(reads).toBe(2);
});

it('a document that became invalid is a source that is down, and says where', async () => {
  text = JSON.stringify({ version: 1, models: [{ id: 'video-1', kind: 'video', durations: ['4'] }] });
  const found = await source().lookup('video-1');
  expect(found.found === 'unavailable' && found.message).toContain('model "video-1", durations[0]');
  text = '<html>';
  expect(await source().lookup('x')).toMatchObject({ found: 'unavailable' });
});

it('does not wait for ever for a source that hangs', async () => {
  const models = source({ timeoutMs: 20, read: () => new Promise(() => undefined) });
  const found = await models.lookup('x');
  expect(found.found === 'unavailable' && found.message).toContain('no answer in time');
});

it('a refusal names the models of the kind that is asked for: the others are no remedy', async () => {
  text = JSON.stringify({
    version: 1,
    models: [
      { id: 'image-2', kind: 'image' },
      { id: 'cine-1', kind: 'video' },
    ],
  });
  expect(await source().lookup('cine-9', 'video')).toEqual({ found: 'refused', known: ['cine-1'] });
  expect(await source().lookup('cine-9', 'image')).toEqual({ found: 'refused', known: ['image-2'] });
  expect(await source().lookup('cine-9')).toEqual({ found: 'refused', known: ['image-2', 'cine-1'] });
});

describe('real locations', () => {
  let directory: string;
  let server: Server;
  let url: string;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  const seen: IncomingMessage['headers'][] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'models-'));
    server = createServer((request, response) => {
      seen.push(request.headers);
      answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/models.json?token=private`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(directory, { recursive: true, force: true });
  });

  it('reads a file, with a byte order mark too, and names no path when it is not there', async () => {
    const path = join(directory, 'models.json');
    await writeFile(path, `\ufeff${document('image-2')}`);
    expect(await createModelSource({ location: path }).lookup('image-2')).toMatchObject({ found: 'entry' });
    const absent = await createModelSource({ location: join(directory, 'absent.json') }).lookup('image-2');
    expect(absent).toMatchObject({ found: 'unavailable' });
    expect(JSON.stringify(absent)).toContain('ENOENT');
    expect(JSON.stringify(absent)).not.toContain('absent.json');
  });

  it('[C5.3] reads a URL without any credentials', async () => {
    answer = (_request, response) => response.end(document('image-2'));
    expect(await createModelSource({ location: url }).lookup('image-2')).toMatchObject({ found: 'entry' });
    expect(seen.at(-1)).not.toHaveProperty('authorization');
    expect(seen.at(-1)).not.toHaveProperty('cookie');
  });

  it('follows a redirect, and reports an error status without the address', async () => {
    answer = (request, response) => {
      if (request.url!.startsWith('/moved')) response.end(document('moved'));
      else response.writeHead(302, { location: '/moved' }).end();
    };
    expect(await createModelSource({ location: url }).lookup('moved')).toMatchObject({ found: 'entry' });
    answer = (_request, response) => response.writeHead(503).end('busy');
    const down = await createModelSource({ location: url }).lookup('x');
    expect(down.found === 'unavailable' && down.message).toContain('HTTP 503');
    expect(JSON.stringify(down)).not.toContain('private');
  });

  it('gives up a document that never ends', async () => {
    answer = (_request, response) => {
      const block = Buffer.alloc(1024 * 1024, ' ');
      const more = () => {
        if (!response.destroyed) response.write(block, () => setImmediate(more));
      };
      more();
    };
    const found = await createModelSource({ location: url }).lookup('x');
    expect(found.found === 'unavailable' && found.message).toContain('it is larger than');
  });

  it('refuses a URL with a password', () => {
    expect(() => createModelSource({ location: 'https://me:secret@models.example/x' })).toThrow(Error);
  });
});

it('a mistake of ours is no source that is down: it reaches the caller, and the next lookup reads again', async () => {
  const models = source();
  text = new TypeError('undefined is not a function');
  await expect(models.lookup('image-2')).rejects.toThrow(TypeError);
  text = document('image-2');
  expect(await models.lookup('image-2')).toMatchObject({ found: 'entry' });
});
