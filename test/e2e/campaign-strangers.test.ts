import { campaignStateOf, queuesOf, startCampaign } from '../support/campaign';
import { accepted, expectExact, PRICE, total, videos } from '../support/campaign-books';
import { eventually } from '../support/eventually';
import { sharedStack } from '../support/shared-stack';

const LIMIT_MS = 240_000;

/** Lanes outlive a campaign that was terminated: they are strangers to the next one under its id. */
describe('a campaign that follows another one', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 }, videos: 'shared' } });

  it(
    '[C4.4a] gives out no money while lanes of that one, which nobody has heard of, still have creates that wait for a worker',
    async () => {
      const media = await stack();
      const rows = videos(240, 'waiting');
      const priceOf = (count: number) => ({ microUnits: count * PRICE, currency: 'USD' });
      // A queue without a worker, until there is a narrow one: batches wait for each other.
      const create = media.server.uniqueId('creates');
      const queues = { ...queuesOf(media), create };
      await media.sandbox.admin.addFaults([
        { operation: 'create', promptIncludes: 'waiting', times: 0, action: { type: 'delay', ms: 2_000 } },
      ]);
      const wide = { concurrency: 1_001, budget: priceOf(240), queues };
      const first = await startCampaign(media, rows, wide);
      await eventually(
        'a batch of each lane',
        async () => (await campaignStateOf(first)).inFlight === 75,
        LIMIT_MS,
      );
      const { results } = await campaignStateOf(first);
      await first.terminate('gone');

      const narrow = { concurrency: 30, budget: priceOf(100), queues, previous: results };
      const again = await startCampaign(media, rows, narrow, first.workflowId);
      await media.startWorker({
        env: { MEDIA_TASK_QUEUE: create },
        worker: { maxConcurrentActivityTaskExecutions: 1 },
        ownConnection: true,
      });
      const result = await again.result();
      expect(total(await accepted(media, rows))).toBe(100);
      expect(result.counts).toEqual({ completed: 100, skipped_budget: 140 });
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );
});
