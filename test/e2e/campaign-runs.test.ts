import { type CampaignUpdateResult, type CampaignUpdates } from '../../src/domain/campaign/campaign-state';
import { NO_MONEY } from '../../src/domain/campaign/results';
import { campaignStateOf, resultsOf, type Row, startCampaign } from '../support/campaign';
import { eventually } from '../support/eventually';
import { type MediaStack } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';

const video = (id: string, prompt: string, more: Row = {}): Row => ({
  id,
  model: 'cine-1',
  prompt,
  duration: 2,
  ...more,
});
const videos = (count: number, name: string, directives = ''): Row[] =>
  Array.from({ length: count }, (_, n) => video(`${name}-${n}`, `${directives} ${name} ${n}`));

/** Micro-units of one of these videos. */
const PRICE = 100_000;

describe('a campaign', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 }, videos: 'shared' } });

  async function acceptedOf(media: MediaStack, rows: readonly Row[]): Promise<number> {
    const prompts = new Set(rows.map(({ prompt }) => prompt));
    const requests = await media.sandbox.admin.requests();
    return requests.filter(({ operation, status, json }) => {
      const { prompt } = (json ?? {}) as { prompt?: unknown };
      return operation === 'create' && (status ?? 0) < 300 && prompts.has(prompt);
    }).length;
  }

  it.concurrent('is worked on batch by batch, several at a time, within its concurrency', async () => {
    const media = await stack();
    const rows = videos(40, 'batches', '[run:2s]');
    const handle = await startCampaign(media, rows, { concurrency: 16, rowsPerBatch: 8 });
    const open = await eventually(
      'several batches',
      async () => {
        const { batches } = await campaignStateOf(handle);
        return batches.filter(({ inFlight }) => inFlight > 0).length > 1 && batches;
      },
      60_000,
    );
    expect(open.reduce((sum, { inFlight }) => sum + inFlight, 0)).toBeLessThanOrEqual(16);
    const result = await handle.result();
    expect(result.counts).toEqual({ completed: 40 });
    const state = await campaignStateOf(handle);
    expect(state).toMatchObject({ phase: 'done', remaining: 0, inFlight: 0, batches: [] });
    expect(await acceptedOf(media, rows)).toBe(40);
  });

  it.concurrent('[C4.4a] spends its budget and not a micro-unit more; raised, it goes on', async () => {
    const media = await stack();
    const rows = videos(16, 'budget');
    const input = { budget: { microUnits: 6 * PRICE + PRICE / 2, currency: 'USD' }, concurrency: 1_000 };
    const handle = await startCampaign(media, rows, input);
    const result = await handle.result();
    expect(result.counts).toEqual({ completed: 6, skipped_budget: 10 });
    expect(result.money.estimated).toBe(6 * PRICE);
    expect(await acceptedOf(media, rows)).toBe(6);

    const raised = { microUnits: 10 * PRICE, currency: 'USD' };
    const again = await startCampaign(
      media,
      rows,
      { ...input, budget: raised, previous: result.results },
      handle.workflowId,
    );
    const second = await again.result();
    expect(second.counts).toEqual({ completed: 10, skipped_budget: 6 });
    expect(second.money.estimated).toBe(10 * PRICE);
    expect(await acceptedOf(media, rows)).toBe(10);
  });

  it.concurrent('pauses, resumes, and lets its budget be raised in flight', async () => {
    const media = await stack();
    const rows = videos(16, 'paused', '[run:2s]');
    const handle = await startCampaign(media, rows, {
      concurrency: 4,
      budget: { microUnits: 12 * PRICE, currency: 'USD' },
    });
    const update = <Name extends keyof CampaignUpdates>(name: Name, input: CampaignUpdates[Name]) =>
      handle.executeUpdate<CampaignUpdateResult, [CampaignUpdates[Name]]>(name, { args: [input] });
    await eventually(
      'a finished row',
      async () => ((await campaignStateOf(handle)).counts.completed ?? 0) > 0,
      60_000,
    );
    await handle.executeUpdate('pause');
    expect((await campaignStateOf(handle)).phase).toBe('paused');
    await eventually('nothing in flight', async () => (await campaignStateOf(handle)).inFlight === 0, 60_000);
    const bought = await acceptedOf(media, rows);
    expect(bought).toBeLessThan(16);
    expect(await update('raiseBudget', { budget: { microUnits: PRICE, currency: 'USD' } })).toMatchObject({
      accepted: false,
    });
    expect(
      await update('raiseBudget', { budget: { microUnits: 16 * PRICE, currency: 'USD' } }),
    ).toMatchObject({ accepted: true });
    expect(await update('setConcurrency', { concurrency: 16 })).toMatchObject({ accepted: true });
    expect(await update('setPriority', { priority: 1 })).toMatchObject({ accepted: true });
    await handle.executeUpdate('resume');
    const result = await handle.result();
    expect(result.counts).toEqual({ completed: 16 });
    expect(await acceptedOf(media, rows)).toBe(16);
  });

  it.concurrent('[C7.8] tries again what the service had no room for, each time under a key of its own', async () => {
    const media = await stack();
    const rows = [video('full', '[fail:capacity] always full'), video('shut', '[http:429:1] shut for now')];
    const handle = await startCampaign(media, rows, { maxAttempts: 2 });
    const result = await handle.result();
    const lines = await resultsOf(media, result.results);
    expect(lines.get('shut')).toMatchObject({ outcome: 'completed', attempt: 0 });
    expect(lines.get('full')).toMatchObject({
      outcome: 'failed',
      attempt: 1,
      errorKind: 'capacity',
      ledger: [
        { attempt: 0, creationKey: `media-row/${handle.workflowId}/full/0`, state: 'needs_review' },
        { attempt: 1, creationKey: `media-row/${handle.workflowId}/full/1`, state: 'needs_review' },
      ],
    });
    expect(result.money).toEqual({
      ...NO_MONEY,
      estimated: PRICE,
      needsReview: 2 * PRICE,
      estimate: 3 * PRICE,
    });
    expect(await acceptedOf(media, rows)).toBe(3);
  });

  it.concurrent('run again under its id it submits only what is missing, and shows what has changed', async () => {
    const media = await stack();
    const rows = [
      video('a', 'a first boat'),
      video('b', '[run:600s] a slow boat'),
      video('c', 'a third boat'),
    ];
    const handle = await startCampaign(media, rows, { waitFor: '6s' });
    const first = await handle.result();
    expect(first.counts).toEqual({ completed: 2, still_running: 1 });
    const changed = [
      rows[0] as Row,
      rows[1] as Row,
      video('c', 'another third boat'),
      video('d', 'a fourth boat'),
    ];
    const previous = first.results;
    const again = await startCampaign(media, changed, { previous, waitFor: '6s' }, handle.workflowId);
    const second = await again.result();
    const lines = await resultsOf(media, second.results);
    expect(lines.get('d')).toMatchObject({ outcome: 'completed' });
    expect(lines.get('c')).toMatchObject({ outcome: 'changed' });
    expect(lines.get('b')).toMatchObject({ outcome: 'still_running', attempt: 0 });
    expect(second.counts).toEqual({ completed: 2, still_running: 1, changed: 1 });
    expect(await acceptedOf(media, [...rows, ...changed])).toBe(4);
    // Money of the boat that was bought with the old text stays on the books.
    expect(second.money).toEqual({
      ...NO_MONEY,
      estimated: 3 * PRICE,
      reserved: PRICE,
      estimate: 4 * PRICE,
    });
  });

  it.concurrent('cancelled, it buys nothing more and collects what runs', async () => {
    const media = await stack();
    const rows = videos(9, 'cancelled', '[run:3s]');
    const handle = await startCampaign(media, rows, { concurrency: 3 });
    await eventually('rows in flight', async () => (await campaignStateOf(handle)).inFlight > 0, 60_000);
    await handle.executeUpdate('cancel');
    const result = await handle.result();
    const bought = await acceptedOf(media, rows);
    expect(result.outcome).toBe('cancelled');
    expect(result.counts).toEqual({ completed: bought, cancelled: 9 - bought });
  });

  it.concurrent('retries rows that failed when it is asked to, while it runs', async () => {
    const media = await stack();
    const rows = [video('bad', '[fail:invalid] bad'), ...videos(1, 'slow', '[run:25s]')];
    const handle = await startCampaign(media, rows, { maxAttempts: 1 });
    await eventually(
      'the failed row',
      async () => (await campaignStateOf(handle)).counts.failed === 1,
      60_000,
    );
    const answer = await handle.executeUpdate<CampaignUpdateResult, [CampaignUpdates['resumeRows']]>(
      'resumeRows',
      {
        args: [{ select: { rows: 'retry' } }],
      },
    );
    expect(answer).toMatchObject({ accepted: true, rows: 1 });
    const result = await handle.result();
    expect(result.counts).toEqual({ failed: 1, completed: 1 });
    const lines = await resultsOf(media, result.results);
    expect(lines.get('bad')).toMatchObject({ attempt: 1, generation: 1 });
    expect(lines.get('bad')?.ledger).toHaveLength(2);
    expect(await acceptedOf(media, rows)).toBe(3);
  });
});
