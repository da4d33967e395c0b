import { batchWorkflowId } from '../../src/domain/campaign/budget-book';
import { type CampaignResult } from '../../src/domain/campaign/campaign-state';
import { campaignStateOf, queuesOf, startCampaign } from '../support/campaign';
import { accepted, bought, expectExact, PRICE, total, videos } from '../support/campaign-books';
import { eventually } from '../support/eventually';
import { resetWorkflow } from '../support/reset-workflow';
import { sharedStack } from '../support/shared-stack';

const LIMIT_MS = 120_000;

describe('what a campaign holds when it leaves something behind', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 }, videos: 'shared' } });

  it.concurrent(
    'batches whose histories are full as soon as their pages are open get on with the rows all the same',
    async () => {
      const media = await stack();
      const rows = videos(20, 'full', '[run:3s] ');
      const handle = await startCampaign(media, rows, { concurrency: 20, eventsPerRun: 8 });
      const result = await handle.result();
      expect(result.counts).toEqual({ completed: 20 });
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );

  it.concurrent(
    'a batch whose history is full while creates wait for a worker fetches what is ready, and does not spin',
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
      // The second group is on its queue, and nobody takes it until the first one is ready for long.
      await worker.stop();
      const ready = async () => (await campaignStateOf(handle)).counts.completed === 25;
      await eventually('what is ready, fetched', ready, LIMIT_MS);
      const batch = media.server.client.workflow.getHandle(batchWorkflowId(handle.workflowId, 0));
      expect((await batch.describe()).historyLength).toBeLessThan(200);
      await narrow();
      const result = await handle.result();
      expect(result.counts).toEqual({ completed: 30 });
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] cancelled, it collects an attempt that was bought by a batch that is gone, whatever the row was before',
    async () => {
      const media = await stack();
      const refused = videos(2, 'tried', '[run:6s] ');
      const slow = videos(1, 'beside', '[run:20s] ');
      const rows = [...refused, ...slow];
      await media.sandbox.admin.addFaults([
        { operation: 'create', promptIncludes: 'tried', times: 2, action: { type: 'status', status: 400 } },
      ]);
      // A request that the service validated and refused may cost its price too.
      const budget = { microUnits: (refused.length + rows.length) * PRICE, currency: 'USD' };
      const handle = await startCampaign(media, rows, { budget });
      await eventually(
        'refusals',
        async () => (await campaignStateOf(handle)).counts.rejected === 2,
        LIMIT_MS,
      );
      const answer = await handle.executeUpdate('resumeRows', { args: [{ select: { rows: 'retry' } }] });
      expect(answer).toMatchObject({ accepted: true, rows: 2 });
      await bought(media, rows, 3);
      await handle.executeUpdate('cancel');
      await media.server.client.workflow.getHandle(batchWorkflowId(handle.workflowId, 1)).terminate('gone');
      const result = await handle.result();
      expect(result.counts).toEqual({ completed: 3 });
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] terminated and reset at once, its creates still on their way, it spends its budget and no more',
    async () => {
      const media = await stack();
      const rows = [...videos(2, 'late', '[run:12s] '), ...videos(38, 'twice')];
      const budget = { microUnits: 12 * PRICE, currency: 'USD' };
      await media.sandbox.admin.addFaults([
        { operation: 'create', promptIncludes: 'twice', times: 0, action: { type: 'delay', ms: 500 } },
      ]);
      const handle = await startCampaign(media, rows, { concurrency: 8, rowsPerBatch: 15, budget });
      const completed = async () => (await campaignStateOf(handle)).counts.completed ?? 0;
      await eventually('results', async () => (await completed()) >= 2, LIMIT_MS);
      await handle.terminate('gone');
      const reset = await resetWorkflow(media.server, handle.workflowId);
      // An order: batches that say nothing are looked for after minutes otherwise.
      await reset.executeUpdate('setConcurrency', { args: [{ concurrency: 60 }] });
      const result = (await reset.result()) as CampaignResult;
      expect(result.counts).toEqual({ completed: 12, skipped_budget: 28 });
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] a batch of a campaign that was reset and then terminated ends by itself, and buys nothing beyond the budget',
    async () => {
      const shared = await stack();
      const taskQueue = shared.server.uniqueId('orphans');
      const media = { ...shared, taskQueue };
      const startWorker = () =>
        media.startWorker({ env: { MEDIA_TASK_QUEUE: taskQueue }, ownConnection: true });
      const rows = videos(24, 'orphan', '[run:2s] ');
      const input = {
        concurrency: 5,
        rowsPerBatch: 12,
        budget: { microUnits: 16 * PRICE, currency: 'USD' },
      };
      const worker = await startWorker();
      const { workflowId } = await startCampaign(media, rows, input);
      await bought(media, rows, 4, LIMIT_MS);
      // A campaign that is reset leaves its batches behind, and no server ends them with it afterwards.
      // Nobody works meanwhile: the run that the reset begins never looks for what it had started before.
      await worker.stop();
      const reset = await resetWorkflow(media.server, workflowId);
      await reset.terminate('gone');
      const batch = media.server.client.workflow.getHandle(batchWorkflowId(workflowId, 0));
      expect((await batch.describe()).status.name).toBe('RUNNING');

      await startWorker();
      await batch.result();
      const before = total(await accepted(media, rows));
      expect(before).toBeLessThanOrEqual(12);
      expect((await reset.describe()).status.name).toBe('TERMINATED');

      const again = await startCampaign(media, rows, input, workflowId);
      const result = await again.result();
      expect(result.counts).toEqual({ completed: 16, skipped_budget: 8 });
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );
});
