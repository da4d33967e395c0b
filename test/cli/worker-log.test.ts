import '../support/quiet-temporal';
import { Worker } from '@temporalio/worker';
import { canary, CanarySearch } from '../support/canary';
import { TEST_WORKFLOWS, testBundle } from '../support/test-bundle';
import { type runBareActivity } from '../support/workflows/untyped-buyers';
import { type CliBench, openCliBench } from './support/cli-bench';
import { startCli } from './support/run-cli';

const PROMPT = canary('prompt', 'PRMPTc13w', (core) => `a ${core} in the rain at night`);
/** An activity of a newer version, while this worker is not updated yet. */
const NEWER = 'media.fromTheNextVersion';

describe('the log of temporal-media worker', () => {
  let bench: CliBench;
  let caller: Worker;
  let running: Promise<void>;
  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 0 } });
    const { nativeConnection: connection, namespace } = bench.server;
    caller = await Worker.create({
      connection,
      namespace,
      taskQueue: bench.server.uniqueId('callers'),
      workflowBundle: await testBundle(TEST_WORKFLOWS),
    });
    running = caller.run();
  });
  afterAll(async () => {
    caller.shutdown();
    await running;
    await bench.close();
  });

  /** Runs one activity on the queue of the creates of a worker. */
  const call = (queue: string, name: string): Promise<unknown> =>
    bench.server.client.workflow.execute<typeof runBareActivity>('runBareActivity', {
      taskQueue: caller.options.taskQueue,
      workflowId: bench.server.uniqueId('bare'),
      args: [
        name,
        {
          creationKey: bench.server.uniqueId('key'),
          request: { model: 'cine-1', prompt: PROMPT.value },
        },
        { taskQueue: `${queue}/create`, retry: { maximumAttempts: 1 } },
      ],
    });

  it.each([
    ['text', 'INFO'],
    ['text', 'TRACE'],
    ['json', 'TRACE'],
  ])(
    '[C5.4c] as %s at %s does not hold the input of an activity, also of one that it does not have',
    async (format, level) => {
      const queue = bench.server.uniqueId('cli');
      const env = { ...bench.workerEnv, MEDIA_TASK_QUEUE: queue, MEDIA_JOURNAL: `${bench.dir}/${queue}` };
      const worker = startCli(['worker', '--log-format', format, '--log-level', level], env);
      await worker.untilLine('stderr', /Ready: task queue/);
      await expect(call(queue, NEWER)).rejects.toThrow('Workflow execution failed');
      await call(queue, 'media.createVideo');
      worker.child.kill('SIGTERM');
      const { stdout, stderr } = await worker.ended;
      expect(stderr).toContain(`Activity function ${NEWER} is not registered`);
      expect(new CanarySearch([PROMPT]).hits(Buffer.from(stdout + stderr))).toEqual([]);
      // Bytes are written as numbers at the level TRACE.
      const bytes = [...Buffer.from(PROMPT.core)].slice(0, 4);
      expect(stderr.replace(/\s+/g, '')).not.toContain(bytes.join(','));
      expect(stderr).not.toContain(bytes.map((byte) => byte.toString(16)).join(' '));
    },
  );
});
