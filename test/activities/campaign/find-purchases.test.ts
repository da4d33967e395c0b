import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createFindPurchases } from '../../../src/activities/campaign/find-purchases';
import { createPageReader } from '../../../src/activities/campaign/page-reader';
import { type FindPurchasesInput, type FoundPurchases } from '../../../src/domain/campaign/activities';
import { rowCreationKey } from '../../../src/domain/creation-key';
import { createFileJournal } from '../../../src/journal';
import { slotIntent } from '../slot-intent';
import { plannedRow as row, storedPages } from './stored-pages';

describe('media.findPurchases', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'purchases-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('[C4.4a] sums up what the journal knows of and no results do, by page', async () => {
    const changed = row(4, { changed: true });
    const { store, index } = await storedPages([[row(0), row(1)], [row(2)], [row(3), changed]]);
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
