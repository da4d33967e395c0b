import { deferred } from '../../support/deferred';
import { startFlakyWorker } from './flaky-worker';
import { ONCE, OPERATIONS, type Schedule, type Seen } from './schedule';

const NOTHING: Seen = { sends: 0, accepted: 0, outcomes: ['rejected'] };

/** What is too short for the service's answer is refused before it is sent (architecture: Wait). */
const tooShort = OPERATIONS.flatMap((operation) =>
  (['workflowExecutionTimeout', 'workflowRunTimeout'] as const).map((limit): Schedule => ({
    operation,
    name: `a ${limit} of 45 s, too short for an answer`,
    size: operation === 'edit_image' ? 'deep' : 'change',
    expected: NOTHING,
    run: async (cell) => {
      const outcome = await cell.outcome(await cell.start({}, { [limit]: '45s' }));
      expect(outcome).toMatchObject({
        reason: 'not_sent',
        message: expect.stringContaining('longer execution or run timeout') as string,
        sends: 0,
      });
      return [outcome];
    },
  })),
);

/** What would expire in a wait or a download ends before, and names its task (C3.4). */
const cutShort = (['workflowExecutionTimeout', 'workflowRunTimeout'] as const).flatMap(
  (limit): Schedule[] => [
    {
      operation: 'create_video',
      name: `a ${limit} of 75 s that would pass while it watches`,
      rules: '[C3.4]',
      size: limit === 'workflowExecutionTimeout' ? 'change' : 'deep',
      directives: '[run:300s]',
      expected: { ...ONCE, outcomes: ['still_running'] },
      run: async (cell) => {
        const outcome = await cell.outcome(await cell.start({}, { [limit]: '75s' }));
        expect(outcome).toMatchObject({ video: { taskId: await cell.task() } });
        return [outcome];
      },
    },
    {
      operation: 'create_video',
      name: `a ${limit} of 75 s that would pass in a download`,
      rules: '[C3.4]',
      size: limit === 'workflowExecutionTimeout' ? 'change' : 'deep',
      expected: { ...ONCE, outcomes: ['still_running'] },
      run: async (cell) => {
        await cell.fault({ type: 'slow_body', bytesPerSecond: 100 }, 1, 'content');
        const outcome = await cell.outcome(await cell.start({}, { [limit]: '75s' }));
        expect(outcome).toMatchObject({ lastStatus: 'completed', video: { taskId: await cell.task() } });
        return [outcome];
      },
    },
    {
      operation: 'create_video',
      name: `a ${limit} that passes while the request is on its way: the same id gets the task`,
      rules: '[C4.4a]',
      size: 'deep',
      expected: { ...ONCE, outcomes: ['still_running'] },
      directives: '[run:300s]',
      run: async (cell) => {
        // The attempt starts with a second to spare beyond the service's time, and the service takes all of it.
        await cell.slow(55_000);
        const id = cell.uniqueId('order');
        const input = { creationKey: id, waitFor: '1s' };
        const first = await cell.start(input, { workflowId: id, [limit]: '75s' });
        await cell.sent();
        // Nobody may run the workflow any more when the reply comes, so that its limit passes.
        await cell.until('the limit', async () => (await first.describe()).status.name !== 'RUNNING');
        return [await cell.outcome(await cell.start(input, { workflowId: id }))];
      },
    },
  ],
);

/** No worker within the start limit: nothing is sent, also when one comes afterwards (failure model: row 2). */
const noWorker = OPERATIONS.map((operation): Schedule => ({
  operation,
  name: 'no worker serves its queue within the start limit, and one that comes later sends nothing',
  // A video waits a minute for a worker and another one for a look into the journal.
  size: operation === 'generate_image' ? 'change' : 'deep',
  expected: NOTHING,
  run: async (cell) => {
    const queue = cell.uniqueId('nobody');
    const outcome = await cell.outcome(
      await cell.start({ queues: { [cell.kind.queue]: queue }, startLimit: '1s' }),
    );
    const late = await startFlakyWorker(cell.bench.stack, queue);
    const came = deferred<void>();
    const barrier = `${cell.prompt} barrier`;
    late.script(barrier, async () => {
      came.resolve();
      throw new Error('that is all');
    });
    try {
      // Whatever waited in the queue before this one has gone by then.
      const input = { request: { ...cell.request, prompt: barrier }, queues: { [cell.kind.queue]: queue } };
      const handle = await cell.workflow(cell.kind.workflow, [input]);
      await came.promise;
      await handle.terminate('it was a barrier');
    } finally {
      await late.stop();
    }
    return [outcome];
  },
}));

/** A worker that comes late, but within the limit. */
const lateWorker = OPERATIONS.map((operation): Schedule => ({
  operation,
  name: 'a worker that comes after the request was scheduled',
  size: operation === 'generate_image' ? 'change' : 'deep',
  expected: ONCE,
  commands: 'golden',
  run: async (cell) => {
    const queue = cell.uniqueId('late');
    const handle = await cell.startOn(queue);
    await cell.pending(handle);
    const late = await startFlakyWorker(cell.bench.stack, queue);
    try {
      return [await cell.outcome(handle)];
    } finally {
      await late.stop();
    }
  },
}));

export const timeoutSchedules: readonly Schedule[] = [...tooShort, ...cutShort, ...noWorker, ...lateWorker];
