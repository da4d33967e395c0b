import { systemCode } from '../../artifacts/artifact-store';
import { createFileJournal } from '../../journal/file-journal';
import { type Check, failed, ok } from './check';
import { folderState } from './folder-state';

/** Whether the record of paid sends can be written: without it nothing is sent. */
export const journal: Check = {
  name: 'journal',
  title: 'Journal',
  after: [],
  workerSide: true,
  limitMs: 5_000,
  late: 'journal_unusable',
  run: async ({ config }) => {
    const root = config.journal;
    if (/^[a-z][a-z0-9+.-]+:\/\//i.test(root))
      return failed('configuration', 'MEDIA_JOURNAL: must be a folder: other stores are not built in yet.');
    const state = await folderState(root);
    if (state === 'missing') return ok('can be written; the first worker makes it');
    if (state === 'blocked') return failed('journal_unusable', 'The journal cannot be written.');
    try {
      await createFileJournal({ root, shared: config.journalShared }).checkWritable();
      return ok('can be written');
    } catch (error) {
      return failed('journal_unusable', `The journal cannot be written (${systemCode(error)}).`);
    }
  },
};
