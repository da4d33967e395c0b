import { type CampaignRowResult } from '../../src/domain/campaign/row';
import { type CampaignResult } from '../../src/domain/campaign/campaign-state';
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
      const old = videos(6, 'wrong', '[run:20s] ');
      const handle = await startCampaign(media, old, { budget: budgetOf(10) });
      await bought(media, old, 6);
      const { results } = await campaignStateOf(handle);
      await handle.terminate('wrong prompts');

      const rows = [...edited(old), ...videos(8, 'right')];
      const input = { previous: results, budget: budgetOf(10) };
      const again = await startCampaign(media, rows, input, handle.workflowId);
      const result = await again.result();
      for (const line of await linesOf(media, old, result)) {
        expect(line).toMatchObject({ outcome: 'changed', ledger: [{ attempt: 0, state: 'needs_review' }] });
        expect(line?.message).toMatch(/^Another text was bought under this key before as the task video_/);
      }
      expect(result.counts).toEqual({ changed: 6, completed: 4, skipped_budget: 4 });
      expect(result.money).toEqual({ settled: 4 * PRICE, needsReview: 6 * PRICE, reserved: 0, unknown: 0 });

      // The new text is bought when a person says so, under keys of its own.
      const more = { previous: result.results, rebuyChanged: true, budget: budgetOf(16) };
      const rebuying = await startCampaign(media, edited(old), more, handle.workflowId);
      expect((await rebuying.result()).counts).toMatchObject({ completed: 10 });
      expect(total(await accepted(media, edited(old)))).toBe(6);
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
      const old = videos(3, 'retried', '[run:30s] ');
      await media.sandbox.admin.addFaults([
        {
          operation: 'poll',
          promptIncludes: 'retried',
          times: 3,
          action: { type: 'record', patch: { status: 'failed', error: { code: 'invalid_request' } } },
        },
      ]);
      // One goes on for long, so that the campaign has not ended when the others have failed.
      const handle = await startCampaign(media, [...old, ...videos(1, 'meanwhile', '[run:60s] ')], {});
      await eventually('failures', async () => (await campaignStateOf(handle)).counts.failed === 3, LIMIT_MS);
      await handle.executeUpdate('resumeRows', { args: [{ select: { rows: 'retry' } }] });
      await bought(media, old, 6);
      const { results } = await campaignStateOf(handle);
      await handle.terminate('wrong prompts');

      const again = await startCampaign(media, edited(old), { previous: results }, handle.workflowId);
      const result = await again.result();
      expect(result.counts).toEqual({ changed: 3 });
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
      const rows = videos(240, 'waiting');
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
      const wide = { concurrency: 75, rowsPerBatch: 80, budget: budgetOf(240), queues };
      const first = await startCampaign(media, rows, wide);
      await bought(media, rows, 1);
      const { results } = await campaignStateOf(first);
      await first.terminate('gone');

      const narrow = { concurrency: 30, budget: budgetOf(100), queues, previous: results };
      const again = await startCampaign(media, rows, narrow, first.workflowId);
      const result = await again.result();
      expect(total(await accepted(media, rows))).toBe(100);
      expect(result.counts).toEqual({ completed: 100, skipped_budget: 140 });
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );
});
