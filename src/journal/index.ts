/** The record of paid sends. For workers, and for tests of other journals. @module */
export { createFileJournal, type FileJournalOptions } from './file-journal';
export { JournalRecordError } from './records';
