import { MockActivityEnvironment } from '@temporalio/testing';
import { startAcknowledgedHeartbeat } from '../../src/activities/heartbeat';
import { deferred } from '../support/deferred';

describe('the beats of an attempt', () => {
  it('end with the time that it may take, so that one that hangs is given up', async () => {
    const environment = new MockActivityEnvironment({ heartbeatTimeoutMs: 20 });
    let beats = 0;
    environment.on('heartbeat', () => (beats += 1));
    await environment.run(async () => {
      const looks: number[] = [];
      const looked = deferred<void>();
      const heartbeat = startAcknowledgedHeartbeat({
        details: () => ({}),
        careful: () => ({}),
        isOver: () => {
          looks.push(beats);
          if (looks.length === 8) looked.resolve();
          return looks.length > 3;
        },
      });
      await looked.promise;
      heartbeat.stop();
      expect(looks[2]).toBeGreaterThan(looks[0] as number);
      expect(new Set(looks.slice(4)).size).toBe(1);
    });
  });
});
