import { type CampaignResult } from '../../src/domain/campaign/campaign-state';
import { NO_MONEY } from '../../src/domain/campaign/results';
import { type CampaignRowResult } from '../../src/domain/campaign/row';
import { campaignStateOf, queuesOf, resultsOf, type Row, startCampaign } from '../support/campaign';
import { accepted, bought, expectExact, PRICE, total, videos } from '../support/campaign-books';
import { eventually } from '../support/eventually';
import { type MediaStack } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';

const LIMIT_MS = 240_000;

/** Terminated, and started again under its id: with other prompts, or while its creates are on their way. */
describe('a campaign that follows another one', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 }, videos: 'shared' } });
  const budgetOf = (rows: number) => ({ microUnits: rows * PRICE, currency: 'USD' });
  const edited = (rows: readonly Row[]): Row[] =>
    rows.map((row) => ({ ...row, prompt: `another text of ${String(row['id'])}.` }));

  /** Nothing was bought with the new text of these rows; says what their lines are. */
  async function linesOf(
    media: MediaStack,
    rows: readonly Row[],
    { results }: CampaignResult,
  ): Promise<(CampaignRowResult | undefined)[]> {
    expect(total(await accepted(media, edited(rows)))).toBe(0);
    const lines = await resultsOf(media, results);
    return rows.map(({ id }) => lines.get(id as string));
  }

  it.concurrent(
    '[C4.4a] with other prompts has what it bought with the old text on its books, says so, and buys within what is left',
    async () => {
      const media = await stack();
      const old = videos(3, 'wrong', '[run:20s] ');
      const handle = await startCampaign(media, old, { budget: budgetOf(5) });
      await bought(media, old, 3);
      const { results } = await campaignStateOf(handle);
      await handle.terminate('wrong prompts');

      const rows = [...edited(old), ...videos(4, 'right')];
      const input = { previous: results, budget: budgetOf(5) };
      const again = await startCampaign(media, rows, input, handle.workflowId);
      const result = await again.result();
      for (const line of await linesOf(media, old, result)) {
        expect(line).toMatchObject({ outcome: 'changed', ledger: [{ attempt: 0, state: 'needs_review' }] });
        expect(line?.message).toMatch(
          /^A different text may already have been bought under this key as task video_/,
        );
      }
      expect(result.counts).toEqual({ changed: 3, completed: 2, skipped_budget: 2 });
      expect(result.money).toEqual({
        ...NO_MONEY,
        estimated: 2 * PRICE,
        needsReview: 3 * PRICE,
        estimate: 5 * PRICE,
      });

      // The new text is bought when a person says so, under keys of its own.
      const more = { previous: result.results, rebuyChanged: true, budget: budgetOf(8) };
      const rebuying = await startCampaign(media, edited(old), more, handle.workflowId);
      expect((await rebuying.result()).counts).toMatchObject({ completed: 5 });
      expect(total(await accepted(media, edited(old)))).toBe(3);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] the same of an image that was drawn',
    async () => {
      const media = await stack();
      const image = { id: 'map', operation: 'image', model: 'image-2', size: '512x512' };
      const old = [{ ...image, prompt: '[run:4s] a wrong map' }];
      const handle = await startCampaign(media, old, {});
      const { admin } = media.sandbox;
      await eventually('the call', async () => (await admin.counters()).images.received === 1, LIMIT_MS);
      await handle.terminate('wrong prompts');
      const { results } = await campaignStateOf(handle);
      const again = await startCampaign(media, edited(old), { previous: results }, handle.workflowId);
      const result = await again.result();
      expect(result.counts).toEqual({ changed: 1 });
      const [line] = await linesOf(media, old, result);
      expect(line?.ledger).toMatchObject([{ attempt: 0, state: 'needs_review' }]);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] the same of a new attempt that only the journal knows',
    async () => {
      const media = await stack();
      const old = videos(2, 'retried', '[run:30s] ');
      await media.sandbox.admin.addFaults([
        {
          operation: 'poll',
          promptIncludes: 'retried',
          times: 2,
          action: { type: 'record', patch: { status: 'failed', error: { code: 'invalid_request' } } },
        },
      ]);
      // One goes on for long, so that the campaign has not ended when the others have failed.
      const handle = await startCampaign(media, [...old, ...videos(1, 'meanwhile', '[run:60s] ')], {});
      await eventually('failures', async () => (await campaignStateOf(handle)).counts.failed === 2, LIMIT_MS);
      await handle.executeUpdate('resumeRows', { args: [{ select: { rows: 'retry' } }] });
      await bought(media, old, 4);
      const { results } = await campaignStateOf(handle);
      await handle.terminate('wrong prompts');

      const again = await startCampaign(media, edited(old), { previous: results }, handle.workflowId);
      const result = await again.result();
      expect(result.counts).toEqual({ changed: 2 });
      for (const line of await linesOf(media, old, result))
        expect(line?.ledger).toMatchObject([
          { attempt: 0, state: 'needs_review' },
          { attempt: 1, state: 'needs_review' },
        ]);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] buys at once, although creates of that one wait for a worker: they are never sent',
    async () => {
      const media = await stack();
      const rows = videos(40, 'waiting');
      // Its worker has one place: groups of creates wait for each other.
      const create = media.server.uniqueId('creates');
      const queues = { ...queuesOf(media), create };
      await media.startWorker({
        env: { MEDIA_TASK_QUEUE: create },
        worker: { maxConcurrentActivityTaskExecutions: 1 },
        ownConnection: true,
      });
      await media.sandbox.admin.addFaults([
        { operation: 'create', promptIncludes: 'waiting', times: 0, action: { type: 'delay', ms: 1_000 } },
      ]);
      const wide = { concurrency: 12, rowsPerBatch: 4, budget: budgetOf(40), queues };
      const first = await startCampaign(media, rows, wide);
      await bought(media, rows, 1);
      const { results } = await campaignStateOf(first);
      await first.terminate('gone');

      const narrow = { concurrency: 5, budget: budgetOf(16), queues, previous: results };
      const again = await startCampaign(media, rows, narrow, first.workflowId);
      const result = await again.result();
      expect(total(await accepted(media, rows))).toBe(16);
      expect(result.counts).toEqual({ completed: 16, skipped_budget: 24 });
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );
});
