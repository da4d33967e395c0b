/**
 * The record of paid sends in files. For workers, and for tests of other journals.
 *
 * @module
 */
import { type CreateJournal } from '../domain/journal';
import { createJournal } from './create-journal';
import { createFileRecords } from './file-records';

/** A journal in the files of one folder; `shared` declares that several hosts use it. */
export function createFileJournal(options: {
  readonly root: string;
  /** @default false: the journal is bound to this host */
  readonly shared?: boolean | undefined;
}): CreateJournal {
  return createJournal(createFileRecords(options));
}
