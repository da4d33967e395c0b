import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createFindPurchases } from '../../../src/activities/campaign/find-purchases';
import { createPageReader } from '../../../src/activities/campaign/page-reader';
import { type FindPurchasesInput, type FoundPurchases } from '../../../src/domain/campaign/activities';
import { type CampaignRow, rowCreationKey } from '../../../src/domain/campaign/row';
import { createFileJournal } from '../../../src/journal';
import { memoryStore } from '../../manifest/memory-store';
import { slotIntent } from '../slot-intent';

const JSON_TYPE = { mediaType: 'application/json' };

const row = (number: number, own: Partial<CampaignRow> = {}): CampaignRow => ({
  row: number,
  line: number + 2,
  key: `r${number}`,
  content: 'c'.repeat(64),
  call: { operation: 'create_video', request: { model: 'm', prompt: 'a kite', durationSeconds: 2 } },
  estimate: 200_000,
  attempt: 0,
  ...own,
});

describe('media.findPurchases', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'purchases-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('[C4.4a] sums up what the journal knows of and no results do, by page', async () => {
    const changed = row(4, { changed: true });
    const pages = [[row(0), row(1)], [row(2)], [row(3), changed]];
    const store = memoryStore();
    const entries = [];
    for (const [page, rows] of pages.entries()) {
      const { sha256 } = await store.putBuffer(Buffer.from(JSON.stringify({ v: 1, page, rows })), JSON_TYPE);
      entries.push({ sha256, rows: rows.length });
    }
    const { sha256: index } = await store.putBuffer(
      Buffer.from(JSON.stringify({ v: 1, pages: entries })),
      JSON_TYPE,
    );
    const environment = new MockActivityEnvironment();
    const { workflowNamespace, namespace: own } = environment.context.info;
    const namespace = workflowNamespace ?? own;
    const journal = createFileJournal({ root });
    for (const begun of [row(0), row(1), row(3), changed])
      await journal.putSlot({ namespace, creationKey: rowCreationKey('spring', begun, 0) }, 0, slotIntent());
    const find = (input: FindPurchasesInput, deps: object = { journal }) => {
      const activity = createFindPurchases({ pages: createPageReader(store), ...deps });
      return environment.run<[FindPurchasesInput], FoundPurchases, typeof activity>(activity, input);
    };
    const ranges = [
      { index, from: 2, until: 3 },
      { index, from: 0, until: 2 },
    ];
    await expect(find({ campaign: 'spring', ranges })).resolves.toEqual({
      found: [
        [0, 2, 200_000],
        [1, 0, 400_000],
      ],
    });
    await expect(find({ campaign: 'summer', ranges })).resolves.toEqual({ found: [] });
    await expect(find({ campaign: 'spring', ranges }, {})).resolves.toEqual({ found: [] });
  });
});
