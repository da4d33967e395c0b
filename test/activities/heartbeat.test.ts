import { once } from 'node:events';
import { MockActivityEnvironment } from '@temporalio/testing';
import { startHeartbeat } from '../../src/activities/heartbeat';

it('beats in the background with the details of the moment, and when it is told to, until it is stopped', async () => {
  const environment = new MockActivityEnvironment({ heartbeatTimeoutMs: 40 });
  const seen: unknown[] = [];
  environment.on('heartbeat', (details) => seen.push(details));
  await environment.run(async () => {
    let position = 0;
    const beat = startHeartbeat(() => ({ position }));
    // What is over soon costs the server no heartbeat.
    expect(seen).toEqual([]);
    position = 7;
    await once(environment, 'heartbeat');
    expect(seen.at(-1)).toEqual({ position: 7 });
    position = 9;
    beat.beat();
    expect(seen.at(-1)).toEqual({ position: 9 });
    beat.stop();
  });
});

it('does nothing without a heartbeat timeout', async () => {
  const environment = new MockActivityEnvironment({});
  environment.on('heartbeat', () => {
    throw new Error('must not beat');
  });
  await environment.run(async () => startHeartbeat().stop());
});

it('swallows an error of its details, and of nothing else', async () => {
  const environment = new MockActivityEnvironment({ heartbeatTimeoutMs: 1000 });
  const work = environment.run(async () => {
    const beat = startHeartbeat(() => {
      throw new Error('details broke');
    });
    beat.stop();
    throw new Error('work broke');
  });
  await expect(work).rejects.toThrow('work broke');
});
