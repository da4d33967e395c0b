import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { checkSlots } from '../../packages/cli/src/doctor/temporal';
import { isFullyUsed, viewQueue } from '../../packages/cli/src/shared/execution-state';
import { deferred } from '../support/deferred';
import { eventually } from '../support/eventually';
import { connectTestServer, type TestServer } from '../support/temporal';

Runtime.install({ logger: new DefaultLogger('ERROR'), workerHeartbeatInterval: '1s', shutdownSignals: [] });

const LIMIT_MS = 3_000;

describe('what a worker tells the server about itself', () => {
  let server: TestServer;
  let isHeard = false;
  beforeAll(async () => {
    server = await connectTestServer();
    const { client, namespace } = server;
    const { namespaceInfo } = await client.workflowService.describeNamespace({ namespace });
    const { workerHeartbeats, standaloneActivities } = namespaceInfo?.capabilities ?? {};
    isHeard = workerHeartbeats === true && standaloneActivities === true;
  });
  afterAll(() => server.close());

  it('a worker without a free slot is alive and full; a stopped one is gone at once', async () => {
    if (!isHeard) return void process.stdout.write('SKIPPED: this server hears nothing of workers\n');
    const { client, namespace } = server;
    const taskQueue = server.uniqueId('heartbeats');
    const held = deferred<void>();
    const began = deferred<void>();
    const worker = await Worker.create({
      connection: server.nativeConnection,
      namespace,
      taskQueue,
      maxConcurrentActivityTaskExecutions: 1,
      activities: {
        hold: async () => {
          began.resolve();
          await held.promise;
        },
      },
    });
    const view = (kind: 'workflows' | 'activities' = 'activities') =>
      viewQueue(client.connection, namespace, taskQueue, kind, LIMIT_MS);
    await worker.runUntil(async () => {
      await eventually('a heartbeat', async () => (await view()).pollers[0]?.isFull === false);
      expect((await view('workflows')).pollers).toEqual([]);
      const options = { id: taskQueue, taskQueue, startToCloseTimeout: '2 minutes' };
      const running = await client.activity.start('hold', options);
      await began.promise;
      await eventually('all slots in use', async () => isFullyUsed(await view(), Date.now()));
      const served = { state: 'ok', message: '1 worker polls it' } as const;
      const now = Date.now();
      expect(checkSlots(served, [['q', await view()]], now)).toMatchObject({
        state: 'warning',
        message: expect.stringContaining('all slots are in use on q') as string,
      });
      held.resolve();
      await running.result();
      await eventually('a free slot', async () => !isFullyUsed(await view(), Date.now()));
      expect(checkSlots(served, [['q', await view()]], Date.now())).toBe(served);
    });
    await eventually('nobody', async () => (await view()).pollers.length === 0);
  }, 60_000);
});
