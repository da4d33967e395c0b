/**
 * The workers' stores. Opens the stores in MEDIA_JOURNAL and MEDIA_ARTIFACTS (folders, `s3://bucket/prefix`, and
 * `postgres://…` for the journal) and exports the interfaces for custom stores. For workers, and for your own
 * activities that read results.
 *
 * @module
 */
export {
  ArtifactError,
  type ArtifactErrorCode,
  type ArtifactStore,
  type PrunedBytes,
  type PruneRejected,
  type PutOptions,
  type StagedArtifact,
  type StageOptions,
  type StoredArtifact,
} from './artifacts/artifact-store';
export { FileArtifactStore } from './artifacts/file-store';
export {
  type CreateJournal,
  type EntryPlace,
  type JournalIdentity,
  type JournalPage,
  type TaskIndexEntry,
} from '../domain/journal';
export {
  type AnswerEntry,
  type BillEntry,
  type DecisionEntry,
  type FenceEntry,
  type IntentEntry,
  type JournalKey,
  type LogEntry,
  type LostEntry,
  type RecordedAnswer,
} from '../domain/log-entries';
export { type AllowanceRecord, type CampaignLog, type CampaignRecord } from '../domain/campaign/budget-book';
export { type ArtifactRef } from '../domain/request';
export { createJournal } from './journal/create-journal';
export { createFileRecords, type FileRecordsOptions } from './journal/file-journal';
export { type RecordStore } from './journal/record-store';
export { JournalRecordError } from './journal/records';

export {
  openArtifactStore,
  openJournal,
  openRecords,
  type ArtifactSettings,
  type JournalSettings,
} from './open-stores';
