import { join } from 'node:path';
import { type BatchResult } from '../../src/domain/campaign/batch-messages';
import { batchNumber, batchWorkflowId } from '../../src/domain/campaign/budget-book';
import { type CampaignInput } from '../../src/domain/campaign/plan';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { campaignStateOf, resultsOf, startCampaign } from '../support/campaign';
import { accepted, bought, expectExact, PRICE, total, videos } from '../support/campaign-books';
import { eventually } from '../support/eventually';
import { resetWorkflow } from '../support/reset-workflow';
import { runChain } from '../support/run-chain';
import { sharedStack } from '../support/shared-stack';

const LIMIT_MS = 240_000;

/** Rows go through the hands of several batches: nothing of them is lost, bought again or waited for twice. */
describe('rows that a batch hands back', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 }, videos: 'shared' } });
  const budgetOf = (rows: number) => ({ microUnits: rows * PRICE, currency: 'USD' });

  it.concurrent(
    '[C4.4a] keep their deadline: a video is still running at the end of its time, however often it was handed back',
    async () => {
      const media = await stack();
      // It would be ready if any hand back gave it another 20 seconds: there is one every few seconds.
      const rows = videos(2, 'endless', '[run:70s] ');
      const handle = await startCampaign(media, rows, { waitFor: '20 seconds', eventsPerRun: 12 });
      const result = await handle.result();
      expect(result.counts).toEqual({ still_running: 2 });
      await expectExact(media, rows, result);
      // They were handed back: another batch had them too.
      const second = media.server.client.workflow.getHandle(batchWorkflowId(handle.workflowId, 1));
      expect((await second.describe()).status.name).toBe('COMPLETED');
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] are neither lost nor bought again when the campaign leaves its run under load',
    async () => {
      const media = await stack();
      const rows = videos(60, 'leaving', '[run:2s] ');
      const handle = await startCampaign(media, rows, {
        concurrency: 20,
        rowsPerBatch: 30,
        eventsPerRun: 30,
        budget: budgetOf(60),
      });
      const result = await handle.result();
      expect(result.counts).toEqual({ completed: 60 });
      await expectExact(media, rows, result);
      const { workflowId, firstExecutionRunId } = handle;
      const runs = await runChain<CampaignInput>(media.server.client, workflowId, firstExecutionRunId);
      expect(runs.length).toBeGreaterThan(2);
      const batch = media.server.client.workflow.getHandle(batchWorkflowId(workflowId, 0));
      expect((await batch.result()) as BatchResult).toMatchObject({ why: 'handed_back' });
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] money that comes back after rows were skipped for want of it buys some of them in another round',
    async () => {
      const media = await stack();
      const lost = videos(2, 'lost');
      const rows = [...lost, ...videos(1, 'slow', '[run:15s] '), ...videos(4, 'skipped')];
      await media.sandbox.admin.addFaults([
        {
          operation: 'create',
          promptIncludes: 'lost ',
          times: 2,
          action: { type: 'lose_reply', accepted: false, how: 'reset' },
        },
      ]);
      const handle = await startCampaign(media, rows, { budget: budgetOf(3) });
      const unclear = async () => {
        const state = await campaignStateOf(handle);
        return state.counts.unconfirmed === 2 && state.results;
      };
      const lines = await resultsOf(media, await eventually('what nobody knows', unclear, LIMIT_MS));
      const who = { by: 'the operator of the test', reason: 'not in the log of the service' };
      for (const { ledger } of lines.values())
        for (const { creationKey } of ledger)
          await media.media.resolveUnconfirmed({ creationKey, decision: 'declareLost', ...who });
      const select = { rows: 'again', outcomes: ['unconfirmed'] };
      await handle.executeUpdate('resumeRows', { args: [{ select }] });
      const result = await handle.result();
      expect(result.counts).toEqual({ rejected: 2, completed: 3, skipped_budget: 2 });
      expect(result.budget).toMatchObject({ spent: 3 * PRICE, reserved: 0, review: 0, free: 0 });
      expect(total(await accepted(media, rows))).toBe(3);
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] a batch that waits for money holds no place that a batch with money waits for',
    async () => {
      const media = await stack();
      // The first batch has all places, and wants more money for its second attempts; the second one has the money.
      const rows = [...videos(3, 'full', '[fail:capacity] '), ...videos(3, 'waiting')];
      const input = { concurrency: 3, rowsPerBatch: 3, budget: budgetOf(6) };
      const handle = await startCampaign(media, rows, input);
      const result = await handle.result();
      expect(result.counts).toEqual({ failed: 3, completed: 3 });
      expect(total(await accepted(media, rows))).toBe(6);
      await expectExact(media, rows, result);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] of a batch that is reset by hand are in another one: its old number sends nothing more',
    async () => {
      const media = await stack();
      const rows = videos(18, 'again', '[run:3s] ');
      const handle = await startCampaign(media, rows, { concurrency: 4, budget: budgetOf(12) });
      await bought(media, rows, 6, LIMIT_MS);
      const batch = await resetWorkflow(media.server, batchWorkflowId(handle.workflowId, 0));
      const { why, report } = (await batch.result()) as BatchResult;
      const result = await handle.result();
      expect(result.counts).toEqual({ completed: 12, skipped_budget: 6 });
      await expectExact(media, rows, result);
      expect([...(await accepted(media, rows)).values()].every((count) => count === 1)).toBe(true);
      // It asked, and was told that another run spends the money of this batch.
      expect([why, report.batch]).toEqual(['closed', 0]);
    },
    LIMIT_MS,
  );

  it.concurrent(
    'a batch that is reset by hand is heard at once, however much it had said before',
    async () => {
      const media = await stack();
      const rows = [...videos(3, 'said'), ...videos(2, 'unsaid', '[run:20s] ')];
      const handle = await startCampaign(media, rows, { concurrency: 1 });
      const batch = batchWorkflowId(handle.workflowId, 0);
      await bought(media, rows, 4, LIMIT_MS);
      await resetWorkflow(media.server, batch);
      const resetAt = (await media.server.client.workflow.getHandle(batch).describe()).startTime.getTime();
      const heard = async () => {
        const [{ lastReportAt } = { lastReportAt: null }] = (await campaignStateOf(handle)).batches;
        return Date.parse(lastReportAt ?? '') > resetAt;
      };
      await eventually('a report', heard, 30_000);
      await handle.executeUpdate('cancel');
      await handle.result();
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] are bought at once by a campaign that was terminated under load and is started again',
    async () => {
      const media = await stack();
      const rows = videos(60, 'at-once', '[run:4s] ');
      const input = { concurrency: 20, rowsPerBatch: 12, budget: budgetOf(50) };
      const handle = await startCampaign(media, rows, input);
      await bought(media, rows, 16, LIMIT_MS);
      await handle.terminate('gone');
      const { batches } = await campaignStateOf(handle);
      const last = Math.max(...batches.map(({ batch }) => batch));
      const started = Date.now();
      // Places are free: what is under way does not keep it from buying on.
      const again = await startCampaign(media, rows, { ...input, concurrency: 60 }, handle.workflowId);
      const result = await again.result();
      expect(result.counts).toEqual({ completed: 50, skipped_budget: 10 });
      await expectExact(media, rows, result);
      // What the first one had on its way is not counted: it names the batches that were to pay for it.
      const paidAnew = new Set<string>();
      const { logs } = await createFileJournal({ root: join(media.dataDir, 'journal') }).scan(null, 10_000);
      for (const entry of logs.flat())
        if (entry.kind === 'intent' && (batchNumber(handle.workflowId, entry.payer ?? '') ?? -1) > last)
          paidAnew.add(entry.creationKey.split('/').at(-2) as string);
      const ids = new Map(rows.map(({ prompt, id }) => [prompt, id as string]));
      const creates = await media.sandbox.admin.requests({ operation: 'create' });
      const first = creates.find(({ json }) =>
        paidAnew.has(ids.get((json as { prompt: unknown }).prompt) ?? ''),
      );
      expect(paidAnew.size).toBeGreaterThan(0);
      process.stdout.write(
        `terminated under load, it buys on ${(first?.at ?? NaN) - started} ms after its start\n`,
      );
    },
    LIMIT_MS,
  );
});
