import { type Worker } from '@temporalio/worker';
import { runAlongside, runTogether } from '../../src/worker/activity-workers';
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

describe('workers beside one that its owner runs', () => {
  it('are shut down with it, and it with them', async () => {
    const [own, other] = [fakeWorker(never), fakeWorker(never)];
    const ended = runAlongside(
      own.worker,
      () => own.worker.run(),
      async () => [other.worker],
    );
    // After its making, in which others are made.
    await Promise.resolve();
    own.worker.shutdown();
    await ended;
    expect([own.calls, other.calls]).toEqual([{ shutdown: 1 }, { shutdown: 1 }]);
  });

  it('one that fails ends the owner as well, with its error', async () => {
    const own = fakeWorker(never);
    const failing = fakeWorker(Promise.reject(new Error('the connection is gone')));
    const other = fakeWorker(never);
    const ended = runAlongside(
      own.worker,
      () => own.worker.run(),
      async () => [failing.worker, other.worker],
    );
    await expect(ended).rejects.toThrow('the connection is gone');
    expect([own.calls, other.calls]).toEqual([{ shutdown: 1 }, { shutdown: 1 }]);
  });

  it('that cannot be made end the owner, with their error', async () => {
    const own = fakeWorker(never);
    const ended = runAlongside(
      own.worker,
      () => own.worker.run(),
      () => Promise.reject(new Error('no rights on the queue')),
    );
    await expect(ended).rejects.toThrow('no rights on the queue');
    expect(own.calls).toEqual({ shutdown: 1 });
  });

  it('that fail or cannot be made leave the owner alone where that is wanted, and are made again', async () => {
    const own = fakeWorker(never);
    const failing = fakeWorker(Promise.reject(new Error('the connection is gone')));
    const other = fakeWorker(never);
    const makings = [
      () => Promise.reject(new Error('no rights on the queue')),
      async () => [failing.worker],
      async () => [other.worker],
    ];
    const faults: string[] = [];
    const isMade = deferred<void>();
    const ended = runAlongside(
      own.worker,
      () => own.worker.run(),
      async () => {
        if (makings.length === 1) isMade.resolve();
        return (await makings.shift()?.()) ?? [];
      },
      async (error) => void faults.push((error as Error).message),
    );
    await isMade.promise;
    expect(faults).toEqual(['no rights on the queue', 'the connection is gone']);
    expect(own.calls.shutdown).toBe(0);
    own.worker.shutdown();
    await ended;
    expect(other.calls.shutdown).toBe(1);
  });

  it('are not waited for between two tries when the owner has ended', async () => {
    const own = fakeWorker(never);
    const told = deferred<void>();
    const ended = runAlongside(
      own.worker,
      () => own.worker.run(),
      () => Promise.reject(new Error('no rights on the queue')),
      () => {
        told.resolve();
        return never;
      },
    );
    await told.promise;
    own.worker.shutdown();
    await ended;
  });
});
