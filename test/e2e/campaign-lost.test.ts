import { type WorkflowHandle } from '@temporalio/client';
import { batchWorkflowId } from '../../src/domain/campaign/budget-book';
import { type CampaignResult, type CampaignState } from '../../src/domain/campaign/campaign-state';
import { type Money } from '../../src/domain/money';
import { campaignStateOf, type Row, startCampaign } from '../support/campaign';
import { accepted, bought, expectExact, PRICE, total, videos } from '../support/campaign-books';
import { eventually } from '../support/eventually';
import { type MediaStack } from '../support/media-stack';
import { resetWorkflow } from '../support/reset-workflow';
import { sharedStack } from '../support/shared-stack';

const LIMIT_MS = 400_000;

/** Workflows of a campaign that are gone: terminated, reset, started again. */
describe('a campaign of which a part is lost', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 }, videos: 'shared' } });

  /** A campaign with several open batches and few rows in flight: each of them holds money for long. */
  async function startWide(
    media: MediaStack,
    rows: readonly Row[],
    budget: Money,
    concurrency: number,
    id?: string,
  ) {
    return startCampaign(media, rows, { concurrency, rowsPerBatch: 10, budget }, id);
  }

  async function ended(handle: WorkflowHandle, count: number): Promise<CampaignState> {
    return eventually(
      `${count} results`,
      async () => {
        const state = await campaignStateOf(handle);
        const sum = Object.values(state.counts).reduce((all, n) => all + n, 0);
        return sum >= count && state;
      },
      LIMIT_MS,
    );
  }

  it.concurrent(
    '[C4.4a] the rows of a batch that is terminated in the middle go to another one, and nothing is bought twice',
    async () => {
      const media = await stack();
      const rows = videos(15, 'batch');
      const budget = { microUnits: 15 * PRICE, currency: 'USD' };
      const handle = await startCampaign(media, rows, { concurrency: 5, budget });
      await bought(media, rows, 6, LIMIT_MS);
      await media.server.client.workflow.getHandle(batchWorkflowId(handle.workflowId, 0)).terminate('gone');
      const result = await handle.result();
      // A budget for exactly this: what the dead batch bought is not counted twice, nor forgotten.
      expect(result.counts).toEqual({ completed: 15 });
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] the batch after one that is gone buys no earlier attempt of a row that was refused and tried again',
    async () => {
      const media = await stack();
      const rows = videos(2, 'refused', '[fail:capacity] [run:1s] ');
      const handle = await startCampaign(media, rows, { maxAttempts: 2 });
      await bought(media, rows, 3, LIMIT_MS);
      await media.server.client.workflow.getHandle(batchWorkflowId(handle.workflowId, 0)).terminate('gone');
      const result = await handle.result();
      expect(result.counts).toEqual({ failed: 2 });
      expect(total(await accepted(media, rows))).toBe(4);
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] terminated, a campaign buys nothing more; reset, it loses and repeats no row',
    async () => {
      const media = await stack();
      const rows = videos(40, 'reset');
      // Money for a part of them: what a batch had before the reset is no money for another one after it.
      const budget = { microUnits: 25 * PRICE, currency: 'USD' };
      const handle = await startWide(media, rows, budget, 7);
      await ended(handle, 5);
      await handle.terminate('gone');
      await quiet(media, rows);
      expect(total(await accepted(media, rows))).toBeLessThan(25);

      const again = await resetWorkflow(media.server, handle.workflowId);
      // An order: batches that say nothing are looked for after minutes otherwise.
      await again.executeUpdate('setConcurrency', { args: [{ concurrency: 60 }] });
      const result = (await again.result()) as CampaignResult;
      const { completed = 0, skipped_budget: skipped = 0 } = result.counts;
      expect([completed, skipped]).toEqual([25, 15]);
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );

  it.concurrent.each([0.5, 0.9])(
    '[C4.4a] a campaign that is reset while its batches buy, with %d of its history kept, gives out no money twice',
    async (place) => {
      const media = await stack();
      const rows = videos(30, `undone-${place * 10}`);
      const budget = { microUnits: 18 * PRICE, currency: 'USD' };
      const handle = await startWide(media, rows, budget, 6);
      await bought(media, rows, 8, LIMIT_MS);
      const again = await resetWorkflow(media.server, handle.workflowId, place);
      const result = (await again.result()) as CampaignResult;
      expect(result.counts).toEqual({ completed: 18, skipped_budget: 12 });
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] a campaign that is reset after rows were skipped counts each of them once',
    async () => {
      const media = await stack();
      // Some are under way for long, so that the campaign has not ended when the others have.
      const rows = [...videos(4, 'slow', '[run:20s] '), ...videos(36, 'quick')];
      const budget = { microUnits: 8 * PRICE, currency: 'USD' };
      const handle = await startWide(media, rows, budget, 6);
      await ended(handle, 33);
      await handle.terminate('gone');
      const again = await resetWorkflow(media.server, handle.workflowId);
      await again.executeUpdate('setConcurrency', { args: [{ concurrency: 60 }] });
      const result = (await again.result()) as CampaignResult;
      expect(result.counts).toEqual({ completed: 8, skipped_budget: 32 });
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] started again under its id with what was known of it, a terminated campaign buys only what is missing',
    async () => {
      const media = await stack();
      const rows = videos(16, 'again');
      const input = { concurrency: 4, budget: { microUnits: 16 * PRICE, currency: 'USD' } };
      const handle = await startCampaign(media, rows, input);
      await ended(handle, 4);
      const { results } = await campaignStateOf(handle);
      await bought(media, rows, 9, LIMIT_MS);
      await handle.terminate('gone');
      const again = await startCampaign(media, rows, { ...input, previous: results }, handle.workflowId);
      const result = await again.result();
      expect(result.counts).toEqual({ completed: 16 });
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] started again, a campaign that was terminated while it retried rows has on its books what it bought for them',
    async () => {
      const media = await stack();
      const refused = videos(2, 'retried', '[run:8s] ');
      const slow = videos(2, 'meanwhile', '[run:25s] ');
      // A request that the service validated and refused may cost its price too.
      const budget = { microUnits: (2 + 4) * PRICE, currency: 'USD' };
      await media.sandbox.admin.addFaults([
        { operation: 'create', promptIncludes: 'retried', times: 2, action: { type: 'status', status: 400 } },
      ]);
      const first = [...refused, ...slow];
      const handle = await startCampaign(media, first, { budget });
      const { results } = await eventually(
        'the refusals',
        async () => {
          const state = await campaignStateOf(handle);
          return state.counts.rejected === 2 && state;
        },
        LIMIT_MS,
      );
      const answer = await handle.executeUpdate('resumeRows', { args: [{ select: { rows: 'retry' } }] });
      expect(answer).toMatchObject({ accepted: true, rows: 2 });
      await bought(media, first, 4, LIMIT_MS);
      await handle.terminate('gone');
      // As far as the results say, nothing of the two is missing; and others would like the money.
      const rows = [...first, ...videos(2, 'late')];
      const again = await startCampaign(media, rows, { budget, previous: results }, handle.workflowId);
      const result = await again.result();
      expect(result.counts).toEqual({ completed: 4, skipped_budget: 2 });
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );

  it.concurrent.each(['started again', 'reset to its beginning', 'reset to a late moment'])(
    '[C4.4a] a campaign whose workflows are all gone, %s, spends what is left of its budget and no more',
    async (how) => {
      const media = await stack();
      const name = how.replaceAll(' ', '-');
      // All of the budget is spent: by one batch much less than by the others, which would like to go on.
      const rows = [...videos(2, `${name}-slow`, '[run:10s] '), ...videos(38, `${name}-quick`)];
      const budget = { microUnits: 8 * PRICE, currency: 'USD' };
      const handle = await startWide(media, rows, budget, 6);
      await bought(media, rows, 8, LIMIT_MS);
      await handle.terminate('gone');
      // What the journal alone knows of is money too: nobody has results of it.
      const again =
        how === 'started again'
          ? await startWide(media, rows, budget, 6, handle.workflowId)
          : await resetWorkflow(media.server, handle.workflowId, how === 'reset to its beginning' ? 0 : 0.8);
      // An order more: whoever is silent is looked for after minutes otherwise.
      await again.executeUpdate('setConcurrency', { args: [{ concurrency: 60 }] });
      const result = (await again.result()) as CampaignResult;
      expect(result.counts).toEqual({ completed: 8, skipped_budget: 32 });
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );

  it.concurrent.each([{ concurrency: 1_001 }, { concurrency: 5, rowsPerBatch: 10 }])(
    '[C4.4a] terminated and started again at once, its creates still on their way, a campaign spends its budget and no more ($concurrency at a time)',
    async (many) => {
      const media = await stack();
      const name = `at-once-${many.concurrency}`;
      const rows = videos(40, name);
      const budget = { microUnits: 12 * PRICE, currency: 'USD' };
      await media.sandbox.admin.addFaults([
        { operation: 'create', promptIncludes: name, times: 0, action: { type: 'delay', ms: 1_000 } },
      ]);
      const handle = await startWide(media, rows, budget, 8);
      await bought(media, rows, 2, LIMIT_MS);
      await handle.terminate('gone');
      const again = await startCampaign(media, rows, { ...many, budget }, handle.workflowId);
      const result = await again.result();
      const { notes } = await campaignStateOf(again);
      expect(notes).toEqual(['The budget is spent. Rows that were not bought are skipped.']);
      expect(result.counts).toEqual({ completed: 12, skipped_budget: 28 });
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );

  /** Until the service has seen no create for some seconds. */
  async function quiet(media: MediaStack, rows: readonly Row[]): Promise<void> {
    let last = -1;
    let since = Date.now();
    await eventually(
      'silence',
      async () => {
        const now = total(await accepted(media, rows));
        if (now !== last) since = Date.now();
        last = now;
        return Date.now() - since > 6_000;
      },
      LIMIT_MS,
    );
  }
});
