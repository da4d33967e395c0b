import { batchWorkflowId } from '../../src/domain/campaign/budget-book';
import { startCampaign } from '../support/campaign';
import { accepted, bought, expectExact, PRICE, total, videos } from '../support/campaign-books';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { resetWorkflow } from '../support/reset-workflow';

const LIMIT_MS = 240_000;

/** A campaign that is reset leaves its batches behind, and no server ends them with it afterwards. */
describe('a batch without a campaign', () => {
  let media: MediaStack;

  beforeAll(async () => {
    media = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 }, videos: 'shared' } });
  });
  afterAll(() => media.stop());

  it(
    '[C4.4a] of a campaign that was reset and then terminated ends by itself, and buys nothing beyond the budget',
    async () => {
      const rows = videos(24, 'orphan', '[run:2s] ');
      const input = {
        concurrency: 5,
        rowsPerBatch: 12,
        budget: { microUnits: 16 * PRICE, currency: 'USD' },
      };
      const worker = await media.startWorker();
      const { workflowId } = await startCampaign(media, rows, input);
      await bought(media, rows, 4, LIMIT_MS);
      // Nobody works meanwhile: the run that the reset begins never looks for what it had started before.
      await worker.stop();
      const reset = await resetWorkflow(media.server, workflowId);
      await reset.terminate('gone');
      const batch = media.server.client.workflow.getHandle(batchWorkflowId(workflowId, 0));
      expect((await batch.describe()).status.name).toBe('RUNNING');

      await media.startWorker();
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
