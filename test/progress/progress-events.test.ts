import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { filmId, filmPages } from '../../examples/progress/server';
import { progressEvents, type ProgressEventsOptions } from '../../packages/progress/src';
import { type WatchOptions } from '../../src/client';
import { type VideoState } from '../../src/domain';
import { canary, CanarySearch } from '../support/canary';
import { deferred } from '../support/deferred';
import { SANDBOX_KEY } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';
import { eventsOf, readEvents } from './event-reader';

const PROMPT = canary('prompt', 'Fk3pq');

describe('the progress of a video as server-sent events', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 1_000 } } });
  const servers: Server[] = [];
  afterAll(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** The client of the stack, with the query loops of each video that run. */
  async function countedMedia() {
    const { media } = await stack();
    const loops = new Map<
      string,
      { open: number; begun: number; ended: ReturnType<typeof deferred<void>> }
    >();
    async function* watch(workflowId: string, options: WatchOptions = {}): AsyncGenerator<VideoState, void> {
      const loop = loops.get(workflowId) ?? { open: 0, begun: 0, ended: deferred<void>() };
      loops.set(workflowId, loop);
      loop.open += 1;
      loop.begun += 1;
      try {
        yield* media.watch(workflowId, options);
      } finally {
        loop.open -= 1;
        loop.ended.resolve();
      }
    }
    return { watch, loops };
  }

  async function serve(options: Partial<ProgressEventsOptions> = {}): Promise<string> {
    const server = createServer(
      filmPages({
        media: (await stack()).media,
        userOf: (request) => request.headers.get('x-user') ?? undefined,
        intervalMs: 200,
        ...options,
      }),
    );
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Starts the film of an order of Ann's. */
  async function order(prompt: string) {
    const { media, server } = await stack();
    const name = server.uniqueId('order');
    const id = filmId('ann', name);
    const request = { model: 'cine-1', prompt, durationSeconds: 2 };
    const started = await media.startVideo({ request, polling: 'own' }, { id });
    return { id, path: `/films/${name}/events`, result: () => started.result() };
  }

  it.concurrent('shows every phase once, closes at the end, and ends a client that connects again', async () => {
    const place = await serve({ retryMs: 2_500 });
    const film = await order('[run:6s] a kite');
    const reader = await readEvents(place + film.path);
    expect([reader.status, reader.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    const events = await reader.rest();
    expect(reader.text()).toMatch(/^retry: 2500\n\n/);
    const ids = events.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(events.some(({ data }) => data.phase === 'watching' && data.status === 'in_progress')).toBe(true);
    const last = events.at(-1);
    expect(last?.data).toMatchObject({
      phase: 'done',
      outcome: 'completed',
      status: 'completed',
      ended: true,
    });
    expect((await readEvents(place + film.path, last?.id)).status).toBe(204);
    // A page that was reloaded has no last event.
    expect((await (await readEvents(place + film.path)).rest()).map(({ data }) => data)).toEqual([
      last?.data,
    ]);
  });

  it.concurrent('runs one query loop for all readers of a video, which stops with the last of them', async () => {
    const media = await countedMedia();
    const place = await serve({ media });
    const film = await order('[run:30s] a watched kite');
    const other = await order('[run:30s] another kite');
    const readers = await Promise.all([1, 2, 3].map(() => readEvents(place + film.path)));
    const elsewhere = await readEvents(place + other.path);
    for (const reader of [...readers, elsewhere]) expect((await reader.next())?.data.ended).toBe(false);
    expect(media.loops.get(film.id)).toMatchObject({ open: 1, begun: 1 });
    expect(media.loops.get(other.id)).toMatchObject({ open: 1, begun: 1 });
    for (const reader of readers) reader.leave();
    await media.loops.get(film.id)?.ended.promise;
    expect(media.loops.get(film.id)).toMatchObject({ open: 0, begun: 1 });
    expect(media.loops.get(other.id)).toMatchObject({ open: 1 });
    const back = await readEvents(place + film.path);
    expect(await back.next()).toMatchObject({ data: { ended: false } });
    expect(media.loops.get(film.id)).toMatchObject({ open: 1, begun: 2 });
    for (const reader of [back, elsewhere]) reader.leave();
  });

  it.concurrent('resumes after the last event, in any process', async () => {
    const place = await serve();
    const film = await order('[run:12s] a kite that is lost from sight');
    const reader = await readEvents(place + film.path);
    let seen = await reader.next();
    while (seen?.data.phase !== 'watching') seen = await reader.next();
    reader.leave();
    const [here, elsewhere] = await Promise.all([
      readEvents(place + film.path, seen.id),
      readEvents((await serve()) + film.path, seen.id),
    ]);
    const old = await readEvents(place + film.path, 'an older event');
    expect((await old.next())?.data.phase).toBe('watching');
    old.leave();
    for (const resumed of [here, elsewhere]) {
      const events = await resumed.rest();
      expect(events.map(({ id }) => id)).not.toContain(seen.id);
      expect(events.at(-1)?.data).toMatchObject({ outcome: 'completed', ended: true });
    }
  });

  it.concurrent('keeps only the newest state for a client that does not read', async () => {
    const media = await countedMedia();
    const film = await order('[run:5s] a kite that nobody looks at');
    const handle = progressEvents({ media, idOf: () => film.id, intervalMs: 200, heartbeatMs: 100 });
    const response = await handle(new Request('http://localhost/'));
    const reader = eventsOf(response, () => undefined);
    await reader.until('retry: 3000\n\n');
    await media.loops.get(film.id)?.ended.promise;
    const events = await reader.rest();
    expect(events.length).toBeLessThanOrEqual(2);
    expect(events.at(-1)?.data).toMatchObject({ phase: 'done', ended: true });
  });

  it.concurrent('keeps a quiet connection open by comments', async () => {
    const place = await serve({ heartbeatMs: 100 });
    const film = await order('[run:30s] a kite in no wind');
    const reader = await readEvents(place + film.path);
    await reader.until('\n\n:\n\n');
    reader.leave();
  });

  it.concurrent('ends with a workflow that was terminated, and with one that does not exist', async () => {
    const { server } = await stack();
    const place = await serve();
    const film = await order('[run:60s] a kite that is cut off');
    const reader = await readEvents(place + film.path);
    let seen = await reader.next();
    while (seen?.data.phase !== 'watching') seen = await reader.next();
    await server.client.workflow.getHandle(film.id).terminate();
    const last = (await reader.rest()).at(-1);
    expect(last?.data).toMatchObject({ phase: 'watching', outcome: null, ended: true });
    expect((await readEvents(place + film.path, last?.id)).status).toBe(204);
    const unknown = await (await readEvents(`${place}/films/no-such-order/events`)).rest();
    expect(unknown.map(({ data }) => data)).toEqual([
      { phase: null, outcome: null, status: null, progress: null, ended: true },
    ]);
  });

  it.concurrent('shows a video only to those whom the hook lets through', async () => {
    const media = await countedMedia();
    const place = await serve({ media });
    const film = await order('[run:30s] a private kite');
    expect((await fetch(place + film.path)).status).toBe(401);
    expect((await fetch(`${place}/elsewhere`, { headers: { 'x-user': 'ann' } })).status).toBe(404);
    const post = await fetch(place + film.path, { method: 'POST', headers: { 'x-user': 'ann' } });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET']);
    // Others' orders: the name itself, and names that would be Ann's if they were not encoded.
    const [, , name = ''] = film.path.split('/');
    for (const [user, other] of [
      ['eve', name],
      ['eve', `..%2Fann%2F${name}`],
      ['', `ann%2F${name}`],
    ] as const) {
      const reader = await readEvents(`${place}/films/${other}/events`, undefined, user);
      if (reader.status === 200) expect((await reader.next())?.data.phase).toBeNull();
      else expect(reader.status).toBe(401);
    }
    expect(media.loops.has(film.id)).toBe(false);
  });

  it.concurrent('sends no prompt, key or address, whatever the service says', async () => {
    const { sandbox } = await stack();
    const signed = canary(
      'signed URL',
      'Zt8vw',
      (core) => `https://cdn.example/x.mp4?X-Amz-Signature=${core}`,
    );
    const key = { name: 'key', value: SANDBOX_KEY, core: SANDBOX_KEY };
    const said = [PROMPT.value, signed.value, SANDBOX_KEY];
    const patches = said.map((text) => ({ status: text, url: text, error: { code: text, message: text } }));
    for (const [index, patch] of patches.entries())
      await sandbox.admin.addFaults([
        {
          operation: 'poll',
          promptIncludes: PROMPT.core,
          skip: index,
          action: { type: 'record', patch: { ...patch, progress: 10 + index } },
        },
      ]);
    const place = await serve();
    const film = await order(`[run:9s] ${PROMPT.value}`);
    const reader = await readEvents(place + film.path);
    const events = await reader.rest();
    expect(events.at(-1)?.data.ended).toBe(true);
    const headers = JSON.stringify([...reader.headers]);
    const search = new CanarySearch([PROMPT, signed, key]);
    expect(search.hits(Buffer.from(reader.text() + headers))).toEqual([]);
    expect(reader.text()).not.toMatch(/https?:|film\//);
    expect(
      events.filter(({ data }) => data.status === null && data.progress !== null).length,
    ).toBeGreaterThan(0);
    for (const { data } of events)
      expect(Object.keys(data)).toEqual(['phase', 'outcome', 'status', 'progress', 'ended']);
  });

  it('reports a watch that fails, and lets its readers connect again', async () => {
    const errors: unknown[] = [];
    const failure = new Error('broken');
    const media = {
      // eslint-disable-next-line require-yield
      async *watch(): AsyncGenerator<VideoState, void> {
        throw failure;
      },
    };
    const onError = (error: unknown) => {
      errors.push(error);
      throw new Error('a hook that throws');
    };
    const handle = progressEvents({ media, idOf: () => 'film', onError });
    const events = await eventsOf(await handle(new Request('http://localhost/')), () => undefined).rest();
    expect([events, errors]).toEqual([[], [failure]]);
  });

  it.each([
    ['intervalMs', 0],
    ['heartbeatMs', 2 ** 31],
    ['retryMs', Number.NaN],
  ])('refuses %s %d', async (field, value) => {
    const { media } = await stack();
    const options = { media, idOf: () => 'film', [field]: value };
    expect(() => progressEvents(options)).toThrow(new RegExp(`^${field} must be`));
  });
});
