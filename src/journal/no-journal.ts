import { type CreateJournal } from '../domain/journal';

/**
 * A journal that keeps nothing: every append wins, and every log is empty. A worker with it offers no campaigns and
 * refuses retries of paid calls, because only the retry policy keeps them from being sent twice (architecture: Create).
 */
export const NO_JOURNAL: CreateJournal = {
  kind: 'none',
  identity: async () => ({ journalId: '', hostId: null }),
  sealingKey: () =>
    Promise.reject(new Error('Without a journal nothing is sealed: it could not be opened again.')),
  putMark: async () => undefined,
  hasMark: async () => true,
  read: async () => [],
  append: async () => 'won',
  scan: async () => ({ logs: [], next: null }),
  findOpenByBody: async () => [],
  forgetOpen: async () => undefined,
  indexTask: async () => undefined,
  findTask: async () => [],
  readRecord: async () => null,
  putRecord: async () => 'won',
  checkWritable: async () => undefined,
};

/** Whether a journal keeps nothing, so that it proves nothing. */
export const keepsNothing = ({ kind }: Pick<CreateJournal, 'kind'>): boolean => kind === NO_JOURNAL.kind;
