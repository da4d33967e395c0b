import { ApplicationFailure } from '@temporalio/common';
import { type MediaActivities } from '../../src/domain/activities';
import { ACTIVITY } from '../../src/domain/names';
import { startCampaign } from '../support/campaign';
import { handMadeWorker } from '../support/hand-made-worker';
import { sharedStack } from '../support/shared-stack';

const KEEPING = [ACTIVITY.openPage, ACTIVITY.recordRows, ACTIVITY.foldResults] as const;

/** `temporal activity fail`: an activity that ends without being tried again. */
describe('activities of a campaign that somebody fails by hand', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 100 } } });

  it('are started anew, so that no row that was bought is forgotten', async () => {
    const media = await stack();
    const failed = new Set<string>();
    const failsOnce =
      (activities: MediaActivities, name: (typeof KEEPING)[number]) => async (input: never) => {
        if (failed.has(name)) return activities[name](input);
        failed.add(name);
        throw ApplicationFailure.nonRetryable('failed by an operator');
      };
    const worker = await handMadeWorker(media, {}, (activities) =>
      Object.fromEntries(KEEPING.map((name) => [name, failsOnce(activities, name)])),
    );
    const { taskQueue } = worker;
    const rows = ['a', 'b'].map((id) => ({ id, model: 'cine-1', prompt: 'a kite', duration: 2 }));
    const result = await worker.runUntil(async () => {
      const handle = await startCampaign({ ...media, taskQueue }, rows);
      return handle.result();
    });
    expect([...failed]).toEqual([...KEEPING]);
    expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 2 } });
    expect(result.results).toMatchObject({ segments: [], indexes: [expect.any(String)] });
    const { creates } = await media.sandbox.admin.counters();
    expect(creates).toEqual({ received: 2, accepted: 2 });
  });
});
