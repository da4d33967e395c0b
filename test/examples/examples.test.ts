import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { orderFilm } from '../../examples/client';
import { orderFilm as orderFilmWithPlugin } from '../../examples/plugin/client';
import { filmBundle, filmWorker } from '../../examples/plugin/worker';
import { productFilm } from '../../examples/plugin/workflows';
import { save } from '../../examples/save';
import { startWorker } from '../../examples/worker';
import { type ProductFilm } from '../../examples/workflows';
import { type CompletedVideo } from '../../src/domain';
import { startMediaStack, type MediaStack } from '../support/media-stack';

const ROOT = join(__dirname, '..', '..');

describe('the examples of the README', () => {
  let stack: MediaStack;
  let stopWorker: () => Promise<void>;

  beforeAll(async () => {
    stack = await startMediaStack();
    const media = await startWorker({ ...process.env, ...stack.env });
    const running = media.run();
    stopWorker = async () => {
      media.shutdown();
      await running;
    };
  });
  afterAll(async () => {
    await stopWorker();
    await stack.stop();
  });

  it('a client orders a film, and the same id again returns the same one', async () => {
    const orderId = stack.server.uniqueId('order');
    const first = await orderFilm(stack.server.client, orderId, stack.taskQueue);
    expect(first).toMatch(/^artifact:sha256\/[0-9a-f]{64}$/);
    expect(await orderFilm(stack.server.client, orderId, stack.taskQueue)).toBe(first);
    expect((await stack.sandbox.admin.counters()).creates.accepted).toBe(1);
  });

  it('a result is saved as a file, once', async () => {
    const { artifact } = (await stack.media
      .startVideo({ request: { model: 'cine-1', prompt: 'a kite', durationSeconds: 2 } })
      .then((started) => started.result())) as CompletedVideo;
    const file = join(stack.dataDir, 'film.mp4');
    expect(await save(artifact, join(stack.dataDir, 'artifacts'), file)).toBe('written');
    expect(await save(artifact, join(stack.dataDir, 'artifacts'), file)).toBe('already_there');
    expect((await readFile(file)).length).toBe(artifact.bytes);
  });

  it("a user's own workflow makes a poster and a film that begins with it", async () => {
    const film = (await stack.server.client.workflow.execute('productFilm', {
      taskQueue: stack.taskQueue,
      workflowId: stack.server.uniqueId('film'),
      args: [{ product: 'a teapot' }],
    })) as ProductFilm;
    expect(film.poster?.mediaType).toBe('image/png');
    expect(film.film).toMatchObject({ outcome: 'completed', video: { referenceMode: 'image:1' } });
  });

  const shown = ['worker', 'workflows', 'activities', 'client'];
  const read = (name: string) => readFile(join(ROOT, 'examples', 'plugin', `${name}.ts`), 'utf8');

  it.each(shown)('the README shows examples/plugin/%s.ts as it is', async (name) => {
    const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
    expect(readme).toContain('```ts\n' + (await read(name)) + '```');
  });

  it('they fit in 60 lines', async () => {
    const lines = (await Promise.all(shown.map(read))).map((text) => text.trimEnd().split('\n').length);
    expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(60);
  });

  it('a worker with the plugin: bundled when it is made and beforehand, a client, an activity that reads the file', async () => {
    const taskQueue = stack.server.uniqueId('films');
    const dataDir = join(stack.dataDir, taskQueue);
    const env = { ...stack.env, MEDIA_DATA_DIR: dataDir, MEDIA_ARTIFACTS: join(dataDir, 'artifacts') };
    const { namespace } = stack.server;
    const own = { namespace, taskQueue, shutdownGraceTime: '2 seconds' } as const;
    for (const how of [{}, { workflowBundle: await filmBundle() }]) {
      const worker = await filmWorker({ ...own, ...how }, env);
      await worker.runUntil(async () => {
        const workflowId = stack.server.uniqueId('film');
        const file = await stack.server.client.workflow.execute(productFilm, {
          taskQueue,
          workflowId,
          args: ['a teapot turns slowly'],
        });
        expect((await stat(file)).size).toBeGreaterThan(1_000);
        expect(await orderFilmWithPlugin(stack.server.client, `${workflowId}-kite`, taskQueue)).toMatchObject(
          {
            outcome: 'completed',
          },
        );
      });
      await worker.connection?.close();
    }
  });
});
