import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createOpenPage, createPageReader } from '../../../src/activities/campaign/open-page';
import { createFoldResults, createRecordRows } from '../../../src/activities/campaign/settle-batch';
import { batchLog } from '../../../src/domain/campaign/budget-book';
import { type OpenedPage, type OpenPageInput } from '../../../src/domain/campaign/campaign-activities';
import { NO_MONEY } from '../../../src/domain/campaign/results';
import { type CampaignRowResult } from '../../../src/domain/campaign/row';
import { packRows } from '../../../src/domain/campaign/row-sets';
import { rowCreationKey } from '../../../src/domain/creation-key';
import { type CreateJournal, NO_JOURNAL } from '../../../src/domain/journal';
import { type JournalKey } from '../../../src/domain/log-entries';
import { readResults } from '../../../src/manifest/result-lines';
import { createFileJournal } from '../../../src/stores/journal/file-journal';
import { memoryStore } from '../../manifest/memory-store';
import { answerEntry, intentEntry } from '../../support/log-entries';
import { createdVideo } from '../created-video';
import { plannedRow as row, storedPages as stored } from './stored-pages';

describe('media.openPage', () => {
  it('[C5.4c] names each kind of call once, and no prompt, source or field of a model', async () => {
    const was = { outcome: 'failed', ledger: [] } as const;
    const { store, index } = await stored([
      [
        row(0),
        row(1, { attempt: 2, was }),
        row(2, { account: 'other', changed: true }),
        row(3, {
          rebought: true,
          estimate: null,
          call: {
            operation: 'create_video',
            request: {
              model: 'cine-1',
              prompt: 'canary',
              references: [
                { kind: 'image', source: { url: 'https://canary.invalid/1' } },
                { kind: 'audio', source: { url: 'https://canary.invalid/2' } },
              ],
              fields: { canary: 'canary' },
            },
          },
        }),
        row(4, {
          call: {
            operation: 'generate_image',
            request: { model: 'image-2', prompt: 'canary', size: 'auto' },
          },
        }),
      ],
    ]);
    const opened = await createOpenPage({ pages: createPageReader(store), journal: NO_JOURNAL })({
      index,
      page: 0,
    });
    const video = {
      operation: 'create_video',
      model: 'cine-1',
      account: null,
      durationSeconds: 4,
      resolution: '720p',
      referenceMode: 'none',
      estimate: 200_000,
    };
    expect(opened.specs).toEqual([
      video,
      { ...video, account: 'other' },
      { ...video, durationSeconds: null, resolution: null, referenceMode: 'image:1+audio:1', estimate: null },
      {
        ...video,
        operation: 'generate_image',
        model: 'image-2',
        durationSeconds: null,
        resolution: null,
        referenceMode: null,
      },
    ]);
    const common = { content: 'c'.repeat(64) };
    expect(opened.rows).toEqual([
      { ...common, row: 0, line: 2, key: 'r0', spec: 0 },
      { ...common, row: 1, line: 3, key: 'r1', spec: 0, attempt: 2, was },
      { ...common, row: 2, line: 4, key: 'r2', spec: 1, changed: true },
      { ...common, row: 3, line: 5, key: 'r3', spec: 2, rebought: true },
      { ...common, row: 4, line: 6, key: 'r4', spec: 3 },
    ]);
    expect(JSON.stringify(opened)).not.toContain('canary');
  });

  it('tells the rows that are wanted, and asks the journal about no others', async () => {
    const { store, index } = await stored([[row(0), row(1), row(2), row(3)]]);
    const asked: string[] = [];
    const keyOf = (number: number, attempt = 0) => rowCreationKey('spring', row(number), attempt);
    const started = keyOf(2);
    const journal = {
      read: ({ creationKey }: JournalKey) => {
        asked.push(creationKey);
        return Promise.resolve(creationKey === started ? [intentEntry()] : []);
      },
    } as unknown as CreateJournal;
    const openPage = createOpenPage({ pages: createPageReader(store), journal });
    const input = { index, page: 0, campaign: 'spring' };
    const environment = new MockActivityEnvironment();
    const { rows } = await environment.run<[OpenPageInput], OpenedPage, typeof openPage>(openPage, {
      ...input,
      rows: packRows([0, 2]),
    });
    expect(rows.map((opened) => opened && (opened.started ?? 'new'))).toEqual(['new', null, 0, null]);
    expect(asked.sort()).toEqual([keyOf(0), started, keyOf(2, 1)].sort());
    asked.length = 0;
    const only = { ...input, rows: packRows([1, 3]) };
    const part = await environment.run<[OpenPageInput], OpenedPage, typeof openPage>(openPage, only);
    expect(part.rows.map((opened) => opened?.key)).toEqual([undefined, 'r1', undefined, 'r3']);
    expect(asked.sort()).toEqual([keyOf(1), keyOf(3)].sort());
  });

  it('has the videos that batches of this plan have bought, and none that was bought with another text', async () => {
    const { store, index } = await stored([[row(0), row(1), row(2)]]);
    const journal = createFileJournal({ root: await mkdtemp(join(tmpdir(), 'open-page-')) });
    const namespace = 'default';
    const at = new Date(0).toISOString();
    const bought = async (number: number, payer: string) => {
      const key = { namespace, creationKey: rowCreationKey('spring', row(number), 0) };
      await journal.append(key, 0, intentEntry({ payer }));
      await journal.append(key, 1, answerEntry(createdVideo(`video_${number}`)));
    };
    const plan = async (payer: string, ofPlan: string) => {
      const rows = [{ index: ofPlan, page: 0, generation: 0, size: 3 }];
      await journal.putRecord(batchLog(namespace, payer), 0, { v: 1, kind: 'batch', nonce: 'n', at, rows });
    };
    await plan('spring/batch/0', 'e'.repeat(64));
    await plan('spring/batch/1', index);
    for (const number of [0, 1]) await bought(number, `spring/batch/${number}`);
    const openPage = createOpenPage({ pages: createPageReader(store), journal });
    const environment = new MockActivityEnvironment({ workflowNamespace: namespace });
    const input = { index, page: 0, campaign: 'spring' };
    const opened = await environment.run<[OpenPageInput], OpenedPage, typeof openPage>(openPage, input);
    expect(opened.rows.map((found) => found?.started)).toEqual([0, 0, undefined]);
    expect(opened.created).toEqual([[1, { ...createdVideo('video_1'), sent: false }]]);
    expect(await journal.findTask('video_1')).toHaveLength(1);
  });

  it('is for one run of a batch only: another, after a reset, learns nothing and sends nothing', async () => {
    const { store, index } = await stored([[row(0)]]);
    const journal = createFileJournal({ root: await mkdtemp(join(tmpdir(), 'open-page-')) });
    const openPage = createOpenPage({ pages: createPageReader(store), journal });
    const open = (runId: string) => {
      const environment = new MockActivityEnvironment({
        workflowExecution: { workflowId: 'spring/batch/0', runId },
      });
      const input = { index, page: 0, campaign: 'spring', payer: 'spring/batch/0' };
      return environment.run<[OpenPageInput], OpenedPage, typeof openPage>(openPage, input);
    };
    expect((await open('first')).rows).toHaveLength(1);
    expect(await open('again')).toEqual({ specs: [], rows: [], closed: true });
    expect((await open('first')).closed).toBeUndefined();
  });

  it('says so when a plan has no such page', async () => {
    const { store, index } = await stored([[row(0)]]);
    await expect(
      createOpenPage({ pages: createPageReader(store), journal: NO_JOURNAL })({ index, page: 1 }),
    ).rejects.toThrow(RangeError);
  });
});

describe('the reader of pages', () => {
  it('reads an index and a page once for many who ask, and again after a failure', async () => {
    const { store, index } = await stored([[row(0)], [row(1)]]);
    let reads = 0;
    let broken = true;
    const reader = createPageReader({
      read: async (ref) => {
        reads += 1;
        if (broken) throw new Error('away');
        return store.read(ref);
      },
    });
    await expect(reader.page({ index, page: 0 })).rejects.toThrow('away');
    broken = false;
    reads = 0;
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, at) => reader.page({ index, page: at % 2 })),
    );
    expect(all.map(({ page }) => page)).toEqual([0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
    expect(reads).toBe(3);
  });

  it('lets go of the pages that nobody asked for lately', async () => {
    const long = (number: number) =>
      row(number, {
        call: { operation: 'create_video', request: { model: 'm', prompt: 'x'.repeat(2_500_000) } },
      });
    const { store, index } = await stored([[long(0)], [long(1)], [long(2)], [long(3)]]);
    let reads = 0;
    const reader = createPageReader({
      read: (ref) => {
        reads += 1;
        return store.read(ref);
      },
    });
    for (const page of [0, 1, 2, 0, 3]) await reader.page({ index, page });
    expect(reads).toBe(5);
    await reader.page({ index, page: 0 });
    expect(reads).toBe(5);
    await reader.page({ index, page: 1 });
    expect(reads).toBe(6);
  });
});

describe('media.recordRows and media.foldResults', () => {
  it('write what is read again, under the same names when they are repeated', async () => {
    const store = memoryStore();
    const record = createRecordRows({ artifacts: store });
    const fold = createFoldResults({ artifacts: store });
    const line = (key: string) => ({ key, generation: 0, message: 'a\nb' }) as CampaignRowResult;
    const first = await record({ rows: [line('a'), line('b')] });
    expect(await record({ rows: [line('a'), line('b')] })).toEqual(first);
    const second = await record({ rows: [line('c')] });
    const index = await fold({ segments: [first.sha256] });
    const ref = {
      v: 1,
      generation: 0,
      indexes: [index.sha256],
      segments: [second.sha256],
      counts: {},
      money: NO_MONEY,
      currency: null,
    } as const;
    const found: CampaignRowResult[] = [];
    for await (const result of readResults(store, ref)) found.push(result);
    expect(found).toEqual([line('a'), line('b'), line('c')]);
  });
});
