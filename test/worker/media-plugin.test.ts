import { join } from 'node:path';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { activityQueues, WORKFLOW } from '../../src/domain/names';
import { MediaPlugin } from '../../src/plugin';
import { accepted, received } from '../support/accepted';
import { eventually } from '../support/eventually';
import { placesOf } from '../support/places';
import { sharedStack } from '../support/shared-stack';
import {
  prebuilt,
  USERS_WORKFLOWS,
  usersWorker,
  type UsersWorker,
  whileRunning,
} from './support/users-worker';
import { type Premiere } from './users/workflows';

/** What the user's interceptor adds to the result. */
type Shown = Premiere & { readonly intercepted: string };

describe('a plugin in a worker of the user', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 200 } } }, async () => undefined);

  /** The user's workflow to its end, with a film of ours in it. */
  async function showFilm({ client, taskQueue }: UsersWorker, prompt: string): Promise<Shown> {
    const workflowId = `${taskQueue}/film`;
    return client.workflow.execute<(prompt: string) => Promise<Shown>>('premiere', {
      taskQueue,
      workflowId,
      args: [prompt],
    });
  }

  /** Bundled beforehand, once for all that do not test how it is bundled. */
  let bundling: ReturnType<typeof prebuilt> | undefined;
  async function bundled({ media }: UsersWorker): Promise<Pick<WorkerOptions, 'workflowBundle'>> {
    return { workflowBundle: await (bundling ??= prebuilt(USERS_WORKFLOWS, [media, media])) };
  }

  function expectWhole({ film, bytes, intercepted }: Shown): void {
    expect(film).toMatchObject({ outcome: 'completed', intercepted: WORKFLOW.generateVideo });
    expect(bytes).toBe(film.outcome === 'completed' ? film.artifact.bytes : -1);
    expect(intercepted).toBe('premiere');
  }

  it.each([
    ['bundled when the worker is made', async () => ({ workflowsPath: USERS_WORKFLOWS })],
    ['bundled beforehand', bundled],
    [
      'with ours exported again by their own file',
      async () => ({ workflowsPath: require.resolve('./users/exporting-workflows') }),
    ],
  ])(
    'workflows, activities, interceptors, sinks and converter work side by side, %s',
    async (how, workflows) => {
      const { server } = await stack();
      const users = usersWorker(await stack(), 'whole');
      const options = { ...users.options, ...(await workflows(users)), plugins: [users.media] };
      const prompt = `a kite ${how}`;
      await whileRunning(options, async () => {
        expectWhole(await showFilm(users, prompt));
        const queues = activityQueues(users.taskQueue);
        expect(await placesOf(server.client, `${users.taskQueue}/film`)).toEqual([
          `sizeOf on ${users.taskQueue}`,
        ]);
        const { activities, premieres } = users.seen;
        expect(premieres).toEqual(['completed']);
        // Once each: an interceptor that is applied twice would count twice.
        expect(activities.get('media.createVideo')).toBe(1);
        expect(activities.get('media.downloadVideo')).toBe(1);
        expect(activities.get('sizeOf')).toBe(1);
        const { pollers } = await server.client.workflowService.describeTaskQueue({
          namespace: server.namespace,
          taskQueue: { name: queues.create },
          taskQueueType: 2,
        });
        expect(pollers?.length).toBe(1);
      });
      expect(await accepted(await stack(), prompt)).toBe(1);
    },
  );

  it('by its connection, twice in its list and in another instance, it acts once', async () => {
    const { server } = await stack();
    const users = usersWorker(await stack(), 'twice');
    // If it acted, it would be refused: the queue belongs to another journal by then.
    const journal = join((await stack()).dataDir, 'another-journal');
    const other = new MediaPlugin({ config: { ...(await stack()).config, journal } });
    const connection = await NativeConnection.connect({
      address: server.address,
      plugins: [users.media, other],
    });
    const plugins = [users.media, users.media, other];
    const options = { ...users.options, connection, plugins, workflowsPath: USERS_WORKFLOWS };
    try {
      await whileRunning(options, async () => {
        expectWhole(await showFilm(users, 'a kite given twice'));
        expect(users.seen.activities.get('media.createVideo')).toBe(1);
      });
    } finally {
      // Refused while a worker holds it.
      await connection.close();
    }
    expect(await accepted(await stack(), 'a kite given twice')).toBe(1);
  });

  it('the limits of the worker are those that its user or the SDK gave it', async () => {
    const users = usersWorker(await stack(), 'limits');
    const workflows = await bundled(users);
    const made = async (own: Partial<WorkerOptions>) => {
      const worker = await Worker.create({ ...users.options, ...workflows, ...own });
      return worker.runUntil(async () => worker.options);
    };
    const [plain, ours] = [await made({}), await made({ plugins: [users.media] })];
    const limits = Object.entries(plain).filter(([, limit]) => ['number', 'boolean'].includes(typeof limit));
    expect(limits.length).toBeGreaterThan(10);
    expect(ours).toMatchObject(Object.fromEntries(limits));
  });

  it('without workflows of the user, ours are served alone', async () => {
    const users = usersWorker(await stack(), 'alone');
    const { dataConverter: _converter, interceptors, activities: _activities, ...rest } = users.options;
    const options = {
      ...rest,
      interceptors: { activity: interceptors?.activity ?? [] },
      plugins: [users.media],
    };
    const { server } = await stack();
    await whileRunning(options, async () => {
      const film = server.client.workflow.execute(WORKFLOW.generateVideo, {
        taskQueue: users.taskQueue,
        workflowId: users.taskQueue,
        args: [{ request: { model: 'cine-1', prompt: 'a kite alone', durationSeconds: 2 } }],
      });
      expect(await film).toMatchObject({ outcome: 'completed' });
    });
    expect(users.seen.activities.get('media.createVideo')).toBe(1);
  });

  it('a create that is under way is finished when the worker is shut down, and found by the next one', async () => {
    const made = await stack();
    const users = usersWorker(made, 'drain');
    const options = { ...users.options, plugins: [users.media], ...(await bundled(users)) };
    const prompt = 'a kite that takes its time';
    const action = { type: 'delay', ms: 2_000 } as const;
    await made.sandbox.admin.addFaults([{ operation: 'create', promptIncludes: prompt, action }]);
    const worker = await Worker.create({ ...options });
    const running = worker.run();
    const film = await users.client.workflow.start('premiere', {
      taskQueue: users.taskQueue,
      workflowId: `${users.taskQueue}/film`,
      args: [prompt],
    });
    await eventually('the create at the service', async () => (await received(made, prompt)) === 1);
    worker.shutdown();
    await running;
    expect(await accepted(made, prompt)).toBe(1);
    await whileRunning({ ...options }, async () => expectWhole((await film.result()) as never));
    expect(await accepted(made, prompt)).toBe(1);
    expect(await received(made, prompt)).toBe(1);
  });

  it('work that is done before the activity queues are served ends the worker all the same', async () => {
    const users = usersWorker(await stack(), 'quick');
    const options = { ...users.options, plugins: [users.media], ...(await bundled(users)) };
    expect(await whileRunning(options, async () => 'done')).toBe('done');
  });
});
