import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetch } from 'undici';
import { type ImageOutcome, type VideoOutcome } from '../../src/domain';
import { type BillEntry } from '../../src/domain/log-entries';
import { WORKFLOW } from '../../src/domain/names';
import { stateOf } from '../../src/domain/paid-log';
import { recordBill } from '../../src/domain/record-bill';
import { type generateImage } from '../../src/workflows';
import { makePng } from '../stores/artifacts/make-media';
import { campaignStateOf, resultsOf, type Row, startCampaign } from '../support/campaign';
import { eventually } from '../support/eventually';
import { type MediaStack } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';
import { journalAt } from '../support/store-places';

/** The sandbox charges 0.25 for each second. The price rule expects twice as much, or for 1080p a tenth. */
const MODEL = 'cine-1-pro';
const ACTUAL = 1_000_000;
const [DEAR, CHEAP] = [2 * ACTUAL, ACTUAL / 10];
const usd = (microUnits: number) => ({ microUnits, currency: 'USD' });

describe('what the service has charged', () => {
  let folder: string | undefined;
  const stack = sharedStack(
    { sandbox: { timing: { queuedMs: 0, runningMs: 300 }, videos: 'shared' } },
    async (media) => {
      folder = await mkdtemp(join(tmpdir(), 'temporal-media-actual-'));
      const models = join(folder, 'models.json');
      await writeFile(models, JSON.stringify(await billedModels(media.sandbox.modelsUrl)));
      return media.startWorker({ env: { MEDIA_MODELS: models } });
    },
  );
  afterAll(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const film = (prompt: string, resolution = '720p') => ({
    model: MODEL,
    prompt,
    durationSeconds: 4,
    resolution,
  });
  const row = (id: string, resolution = '720p', directives = ''): Row => ({
    ...{ id, model: MODEL, prompt: `${directives} billed ${id}`, duration: 4, resolution },
  });

  async function sendsOf(media: MediaStack, creationKey: string) {
    const journal = await journalAt(media.env['MEDIA_JOURNAL'] ?? '');
    return stateOf(await journal.read({ namespace: media.server.namespace, creationKey })).sends;
  }
  async function bill(media: MediaStack, creationKey: string, microUnits: number): Promise<void> {
    const journal = await journalAt(media.env['MEDIA_JOURNAL'] ?? '');
    const key = { namespace: media.server.namespace, creationKey };
    const [send] = stateOf(await journal.read(key)).sends;
    const entry: BillEntry = {
      ...{ v: 1, kind: 'bill', about: send!.sent.nonce, ...usd(microUnits), source: 'invoice' },
      ...{ reference: `invoice ${microUnits}`, by: 'ada', reason: 'r', at: new Date().toISOString() },
    };
    expect(await recordBill(journal, key, entry)).toMatchObject({ isNew: true });
  }

  it.concurrent('[C1.9] for a video is in its final record, settles it, and is a bill in the journal', async () => {
    const media = await stack();
    const id = media.server.uniqueId('billed');
    const outcome: VideoOutcome = await (
      await media.media.startVideo({ request: film('a billed film') }, { id })
    ).result();
    expect(outcome).toMatchObject({
      outcome: 'completed',
      billing: { estimate: DEAR, actual: ACTUAL, currency: 'USD', usage: { cost: 1 }, state: 'settled' },
    });
    const { video } = outcome as Extract<VideoOutcome, { outcome: 'completed' }>;
    const [send] = await sendsOf(media, id);
    const reference = { source: 'service', reference: video.taskId };
    expect(send?.bill).toMatchObject({ ...usd(ACTUAL), ...reference, by: 'service' });

    // Waiting again finds the same amount, and records it once.
    const again = await (await media.media.resume(video.taskId)).result();
    expect(again.billing).toMatchObject({ actual: ACTUAL, state: 'settled' });
    const journal = await journalAt(media.env['MEDIA_JOURNAL'] ?? '');
    const log = await journal.read({ namespace: media.server.namespace, creationKey: id });
    expect(log.filter(({ kind }) => kind === 'bill')).toHaveLength(1);
  });

  it.concurrent('for an image is in its reply, without an entry of its own; a newer bill takes precedence', async () => {
    const media = await stack();
    const id = media.server.uniqueId('image');
    const prompt = 'a billed picture';
    const data = [{ b64_json: makePng(2, 3).toString('base64') }];
    await media.sandbox.admin.addFaults([
      {
        operation: 'generate',
        promptIncludes: prompt,
        action: {
          ...{ type: 'accept_then_status', status: 200, headers: { 'x-cost': '0.0125' } },
          body: { created: 7, data },
        },
      },
    ]);
    const generate = (workflowId: string): Promise<ImageOutcome> =>
      media.server.client.workflow.execute<typeof generateImage>(WORKFLOW.generateImage, {
        taskQueue: media.taskQueue,
        workflowId,
        args: [{ request: { model: 'image-2', prompt }, creationKey: id }],
      });
    expect((await generate(id)).billing).toMatchObject({ actual: 12_500, currency: 'USD', state: 'settled' });
    const journal = await journalAt(media.env['MEDIA_JOURNAL'] ?? '');
    const log = await journal.read({ namespace: media.server.namespace, creationKey: id });
    expect(log.map(({ kind }) => kind)).toEqual(['intent', 'answer']);
    expect(stateOf(log).sends[0]?.bill).toMatchObject({ microUnits: 12_500, source: 'service' });

    await bill(media, id, 9_000);
    // Another workflow that has the same key finds what was bought.
    expect((await generate(`${id}-again`)).billing).toMatchObject({ actual: 9_000, state: 'settled' });
  });

  it.concurrent('[C4.4a] below the estimates frees money of a running campaign', async () => {
    const media = await stack();
    const rows = Array.from({ length: 8 }, (_, n) => row(`cheaper-${n}`));
    const input = { budget: usd(3 * DEAR), concurrency: 8 };
    const result = await (await startCampaign(media, rows, input)).result();
    // Money for three at the estimate is money for six at the price that was charged, less the last one's estimate.
    expect(result.counts).toEqual({ completed: 5, skipped_budget: 3 });
    expect(result.money).toMatchObject({
      ...{ settled: 5 * ACTUAL, estimated: 0, estimate: 5 * DEAR, actual: 5 * ACTUAL, billed: 5 },
    });
    expect(result.budget).toMatchObject({ spent: 5 * ACTUAL, free: ACTUAL, reserved: 0, over: 0 });
    const lines = await resultsOf(media, result.results);
    const ledger = [{ estimate: DEAR, actual: ACTUAL, state: 'settled' }];
    expect(
      lines.get('cheaper-0')?.outcome === 'completed' ? lines.get('cheaper-0') : undefined,
    ).toMatchObject({
      ledger,
    });
  });

  it.concurrent('[C4.4a] above the estimates counts beyond the budget, which says so, and nothing more is bought', async () => {
    const media = await stack();
    const rows = Array.from({ length: 6 }, (_, n) => row(`dearer-${n}`, '1080p'));
    const handle = await startCampaign(media, rows, { budget: usd(3 * CHEAP + 1), concurrency: 6 });
    const result = await handle.result();
    expect(result.counts).toEqual({ completed: 3, skipped_budget: 3 });
    const over = 3 * ACTUAL - (3 * CHEAP + 1);
    expect(result.budget).toMatchObject({ spent: 3 * ACTUAL, free: 0, reserved: 0, over });
    const { notes } = await campaignStateOf(handle);
    expect(notes.join(' ')).toContain('the campaign has cost 2.699999 USD more than its budget');
  });

  it.concurrent('according to an invoice frees money of a running campaign, also after its row has ended', async () => {
    const media = await stack();
    const slow = row('invoiced-1', '720p', '[run:8s]');
    const rows = [{ ...row('invoiced-0') }, slow, row('invoiced-2')];
    const handle = await startCampaign(media, rows, { budget: usd(2 * DEAR), concurrency: 3 });
    const key = await eventually(
      'the first row',
      async () => {
        const { results, money } = await campaignStateOf(handle);
        if (money.billed === 0) return false;
        const lines = await resultsOf(media, results);
        return lines.get('invoiced-0')?.ledger[0]?.creationKey ?? false;
      },
      60_000,
    );
    await bill(media, key, 0);
    const result = await handle.result();
    expect(result.counts).toEqual({ completed: 3 });
  });
});

async function billedModels(url: string): Promise<unknown> {
  const { version, models } = (await (await fetch(url)).json()) as {
    version: 1;
    models: readonly { readonly id: string }[];
  };
  const currency = 'USD';
  const own: { readonly [id: string]: object } = {
    [MODEL]: {
      polling: { minSeconds: 3, maxSeconds: 3.2, firstPollSeconds: 3 },
      price: {
        ...{ per: 'specification', currency },
        specifications: [{ resolution: '1080p', microUnits: CHEAP }, { microUnits: DEAR }],
      },
      actual: { path: 'usage.cost', currency },
    },
    'image-2': {
      price: { per: 'task', microUnits: 20_000, currency },
      actual: { header: 'X-Cost', currency },
    },
  };
  return { version, models: models.map((model) => ({ ...model, ...own[model.id] })) };
}
