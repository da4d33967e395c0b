import { type MediaActivities } from '../../src/domain/activities';
import { ACTIVITY } from '../../src/domain/names';
import { campaignStateOf, type Row, startCampaign } from '../support/campaign';
import { deferred } from '../support/deferred';
import { eventually } from '../support/eventually';
import { handMadeWorker } from '../support/hand-made-worker';
import { sharedStack } from '../support/shared-stack';

describe('plans of a campaign', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 100 }, videos: 'shared' } });

  it('rows go on while a manifest is read again for those that are resumed', async () => {
    const media = await stack();
    const read = deferred<void>();
    const worker = await handMadeWorker(media, {}, (activities: MediaActivities) => ({
      [ACTIVITY.planCampaign]: async (input) => {
        if (input.select.rows !== 'missing') await read.promise;
        return activities[ACTIVITY.planCampaign](input);
      },
    }));
    const { taskQueue } = worker;
    // More rows than the open batches take: somebody has to give them out.
    const rows = Array.from({ length: 40 }, (_, n): Row => {
      const prompt = n === 0 ? '[fail:invalid] a kite' : `a kite ${n}`;
      return { id: `row-${n}`, model: 'cine-1', prompt, duration: 2 };
    });
    const result = await worker.runUntil(async () => {
      const input = { concurrency: 2, rowsPerBatch: 2, maxAttempts: 1 };
      const handle = await startCampaign({ ...media, taskQueue }, rows, input);
      const counts = async () => (await campaignStateOf(handle)).counts;
      await eventually('a failed row', async () => (await counts()).failed === 1, 60_000);
      await handle.executeUpdate('resumeRows', { args: [{ select: { rows: 'retry' } }] });
      expect((await counts()).completed ?? 0).toBeLessThan(20);
      await handle.executeUpdate('setConcurrency', { args: [{ concurrency: 20 }] });
      await eventually('all other rows', async () => (await counts()).completed === 39, 200_000);
      expect(await campaignStateOf(handle)).toMatchObject({ phase: 'running', plan: { generation: 0 } });
      read.resolve();
      return handle.result();
    });
    expect(result).toMatchObject({
      outcome: 'completed',
      counts: { completed: 39, failed: 1 },
      plan: { generation: 1, planned: 1 },
    });
    expect(await media.sandbox.admin.counters()).toMatchObject({ creates: { accepted: 41 } });
  });
});
