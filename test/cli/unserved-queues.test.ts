import { DefaultLogger, makeTelemetryFilterString, Runtime, Worker } from '@temporalio/worker';
import { eventually } from '../support/eventually';
import { type CliBench, openCliBench } from './support/cli-bench';
import { runJson, startCli } from './support/run-cli';

/** What the SDK logs of the worker without workflows is what is wanted here. */
Runtime.install({
  logger: new DefaultLogger('ERROR', () => undefined),
  telemetryOptions: { logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'ERROR' }) } },
});

describe('what nobody serves is said at once', () => {
  let bench: CliBench;
  const video = ['video', '--model', 'sketch-lite', '--prompt', 'a cat', '--out', '.'];
  const onQueue = (env: NodeJS.ProcessEnv) => ({
    ...env,
    MEDIA_TASK_QUEUE: bench.server.uniqueId('unserved'),
  });

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 0 } });
  });
  afterAll(() => bench.close());

  test('a pool of workflows needs no key; a command names the queues that wait for other pools', async () => {
    const env = onQueue(bench.clientEnv);
    const worker = startCli(['worker', '--serve', 'workflows'], env);
    const queue = env.MEDIA_TASK_QUEUE;
    expect(await worker.untilLine('stderr', /^Ready:/)).toBe(
      `Ready: task queue ${queue}. Serves workflows: ${queue}.`,
    );
    // The server lists a poller with its first poll.
    await eventually('the worker polls', async () => {
      const { pollers } = await bench.server.client.workflowService.describeTaskQueue({
        namespace: bench.server.namespace,
        taskQueue: { name: queue },
        taskQueueType: 1,
      });
      return (pollers ?? []).length > 0;
    });
    const id = bench.server.uniqueId('waits');
    const { code, stderr } = await runJson([...video, '--id', id, '--detach'], env);
    expect(code).toBe(0);
    expect(stderr).toContain(`none is polling ${queue}/create, ${queue}/poll, ${queue}/download`);
    await bench.server.client.workflow.getHandle(id).terminate();
    worker.child.kill('SIGTERM');
    expect((await worker.ended).code).toBe(0);
  });

  test('--serve with a word that is no part: exit code 78, and what is allowed', async () => {
    const { code, reply } = await runJson(['worker', '--serve', 'creates'], bench.workerEnv);
    expect([code, reply.error?.type]).toEqual([78, 'configuration']);
    expect(reply.error?.message).toMatch(/MEDIA_SERVE: .*workflows, create, poll.*"creates"/);
  });

  test('a worker without our workflows: the waiting command and `status` say why nothing happens, and the remedy', async () => {
    const env = onQueue(bench.clientEnv);
    const worker = await Worker.create({
      connection: bench.server.nativeConnection,
      namespace: bench.server.namespace,
      taskQueue: env.MEDIA_TASK_QUEUE,
      workflowsPath: require.resolve('../worker/users/no-workflows'),
    });
    await worker.runUntil(async () => {
      const id = bench.server.uniqueId('lacking');
      const waiting = startCli([...video, '--id', id], env);
      const line = await waiting.untilLine('stderr', /no such function is exported/);
      expect(line).toMatch(
        /attempt \d+ of the workflow's code failed: .*'generateVideo'.* Add a MediaPlugin/,
      );
      waiting.child.kill('SIGINT');
      await waiting.ended;
      const { reply } = await runJson(['status', id], env);
      expect(reply.data?.['safe']).toMatch(/^Its workflow code fails: attempt \d+ .*Add a MediaPlugin/);
      await bench.server.client.workflow.getHandle(id).terminate();
    });
  });
});
