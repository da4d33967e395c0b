import { type Worker } from '@temporalio/worker';
import { runTogether } from '../../src/activity-workers';
import { deferred } from '../support/deferred';

/** A worker as far as running together goes. */
function fakeWorker(end: Promise<void>) {
  const stopped = deferred<void>();
  let state = 'RUNNING';
  const calls = { shutdown: 0 };
  const worker = {
    run: () => Promise.race([end, stopped.promise]).finally(() => (state = 'STOPPED')),
    getState: () => state,
    shutdown: () => {
      calls.shutdown += 1;
      state = 'DRAINING';
      stopped.resolve();
    },
  } as unknown as Worker;
  return { worker, calls };
}

const never = new Promise<void>(() => undefined);

describe('workers that run together', () => {
  it('one that fails ends the others, and its error is thrown once they have drained', async () => {
    const failing = fakeWorker(Promise.reject(new Error('the connection is gone')));
    const others = [fakeWorker(never), fakeWorker(never)];
    const workers = [others[0]!, failing, others[1]!].map(({ worker }) => worker);
    await expect(runTogether(workers)).rejects.toThrow('the connection is gone');
    expect(others.map(({ calls }) => calls.shutdown)).toEqual([1, 1]);
    expect(workers.map((worker) => worker.getState())).toEqual(['STOPPED', 'STOPPED', 'STOPPED']);
    expect(failing.calls.shutdown).toBe(0);
  });

  it('one that is shut down from outside ends the others without an error', async () => {
    const others = [fakeWorker(never), fakeWorker(never)];
    const workers = others.map(({ worker }) => worker);
    const ended = runTogether(workers);
    workers[0]!.shutdown();
    await ended;
    expect(others.map(({ calls }) => calls.shutdown)).toEqual([1, 1]);
  });
});
