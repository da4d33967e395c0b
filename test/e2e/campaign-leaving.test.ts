import { type CampaignResult, laneWorkflowId } from '../../src/domain/campaign/state';
import { campaignStateOf, queuesOf, startCampaign } from '../support/campaign';
import { bought, expectExact, PRICE, videos } from '../support/campaign-books';
import { eventually } from '../support/eventually';
import { resetWorkflow } from '../support/reset-workflow';
import { sharedStack } from '../support/shared-stack';

const LIMIT_MS = 120_000;

describe('what a campaign holds when it leaves something behind', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 }, videos: 'shared' } });

  it.concurrent(
    'a lane whose next run is full as soon as its pages are open goes on with its rows all the same',
    async () => {
      const media = await stack();
      const rows = videos(100, 'full', '[run:3s] ');
      const handle = await startCampaign(media, rows, { concurrency: 100, eventsPerRun: 8 });
      const result = await handle.result();
      expect(result.counts).toEqual({ completed: 100 });
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );

  it.concurrent(
    'a lane whose run is full while creates wait for a worker fetches what is ready, and does not spin',
    async () => {
      const media = await stack();
      const rows = videos(30, 'held', '[run:14s] ');
      const create = media.server.uniqueId('creates');
      const narrow = () =>
        media.startWorker({
          env: { MEDIA_TASK_QUEUE: create },
          worker: { maxConcurrentActivityTaskExecutions: 1 },
          ownConnection: true,
        });
      const worker = await narrow();
      const queues = { ...queuesOf(media), create };
      const handle = await startCampaign(media, rows, { concurrency: 30, eventsPerRun: 40, queues });
      await bought(media, rows, 25);
      // The second batch is on its queue, and nobody takes it until the first one is ready for long.
      await worker.stop();
      const ready = async () => (await campaignStateOf(handle)).counts.completed === 25;
      await eventually('what is ready, fetched', ready, LIMIT_MS);
      const lane = media.server.client.workflow.getHandle(laneWorkflowId(handle.workflowId, 0));
      expect((await lane.describe()).historyLength).toBeLessThan(200);
      await narrow();
      const result = await handle.result();
      expect(result.counts).toEqual({ completed: 30 });
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] cancelled, it collects an attempt that was bought by a lane that is gone, whatever the row was before',
    async () => {
      const media = await stack();
      const refused = videos(4, 'tried', '[run:6s] ');
      const slow = videos(2, 'beside', '[run:12s] ');
      const rows = [...refused, ...slow];
      await media.sandbox.admin.addFaults([
        { operation: 'create', promptIncludes: 'tried', times: 4, action: { type: 'status', status: 400 } },
      ]);
      // A request that the service judged and refused may cost its price too.
      const budget = { microUnits: (refused.length + rows.length) * PRICE, currency: 'USD' };
      const handle = await startCampaign(media, rows, { budget });
      await eventually(
        'refusals',
        async () => (await campaignStateOf(handle)).counts.rejected === 4,
        LIMIT_MS,
      );
      const answer = await handle.executeUpdate('takeUp', { args: [{ select: { rows: 'retry' } }] });
      expect(answer).toMatchObject({ accepted: true, rows: 4 });
      await bought(media, rows, 6);
      await handle.executeUpdate('cancel');
      await media.server.client.workflow.getHandle(laneWorkflowId(handle.workflowId, 0)).terminate('gone');
      const result = await handle.result();
      expect(result.counts).toEqual({ completed: 6 });
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] what an earlier one had counted twice is counted again before money is called spent',
    async () => {
      const media = await stack();
      const first = videos(6, 'once');
      const input = { concurrency: 10, budget: { microUnits: 10 * PRICE, currency: 'USD' } };
      const handle = await startCampaign(media, first, input);
      const { results } = await handle.result();
      const rows = [...first, ...videos(8, 'more')];
      const previous = {
        ...results,
        doubled: true as const,
        counts: { completed: 9 },
        money: { ...results.money, settled: 9 * PRICE },
      };
      const again = await startCampaign(media, rows, { ...input, previous }, handle.workflowId);
      const result = await again.result();
      expect(result.counts).toEqual({ completed: 10, skipped_budget: 4 });
      expect(result.results.doubled).toBeUndefined();
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );

  it.concurrent.each([1, 2])(
    '[C4.4a] terminated and reset at once, its lanes still buying, it spends its budget and no more (%i)',
    async (place) => {
      const media = await stack();
      const rows = [...videos(10, `late-${place}`, '[run:12s] '), ...videos(230, `twice-${place}`)];
      const budget = { microUnits: 60 * PRICE, currency: 'USD' };
      const handle = await startCampaign(media, rows, { concurrency: 1_001, budget });
      const completed = async () => (await campaignStateOf(handle)).counts.completed ?? 0;
      await eventually('results', async () => (await completed()) >= 20, LIMIT_MS);
      await handle.terminate('gone');
      // A lane that is told of pages that it had before takes what it bought in them twice, until it learns better.
      const reset = await resetWorkflow(media.server, handle.workflowId);
      const result = (await reset.result()) as CampaignResult;
      expect(result.counts).toEqual({ completed: 60, skipped_budget: 180 });
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );
});
