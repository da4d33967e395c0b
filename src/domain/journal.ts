import { type CampaignLog, type CampaignRecord } from './campaign/budget-book';
import { type JournalKey, type LogEntry } from './log-entries';
import { type VideoTask } from './video-task';

/** Origin of a task id. */
export interface TaskIndexEntry {
  readonly v: 1;
  /** Of Temporal, in which the workflow ran. */
  readonly namespace: string;
  /** The call that created the task. */
  readonly creationKey: string;
  /** Which send of its key created it, from 0. */
  readonly sendAttempt: number;
  /** Null for a call outside of a workflow. */
  readonly workflowId: string | null;
  /** Null for a call outside of a workflow. */
  readonly runId: string | null;
  /** The facts that are kept of the task. */
  readonly video: VideoTask;
}

/** One entry of a log. */
export interface EntryPlace extends JournalKey {
  /** From 0. */
  readonly n: number;
}

/** The logs of one page of a scan. */
export interface JournalPage {
  /** In the order of their names; each with its entries. */
  readonly logs: readonly (readonly LogEntry[])[];
  /** Null after the last page. */
  readonly next: string | null;
}

/** Identity of a journal, for the binding of a create task queue (architecture: Create). */
export interface JournalIdentity {
  /** Made when the journal is first opened. */
  readonly journalId: string;
  /** The one host that may use it; null when it is shared by design (S3). */
  readonly hostId: string | null;
}

/**
 * The record of paid sends: append-only logs, one for each creation key. Every append is create-if-absent and durable
 * when it returns (assumptions A1, A2). Implementations throw when they cannot read or cannot write; the caller then
 * fails closed before a send.
 */
export interface CreateJournal {
  /** The kind of store, for messages: `file`, `s3`, `postgres`, or another word. */
  readonly kind: string;
  /** The id of this journal, the same for ever and in every process, and its host where only one may use it. */
  identity(): Promise<JournalIdentity>;
  /** The 32 random bytes that encrypt secrets stored in the journal. Created with its id, and never disclosed. */
  sealingKey(): Promise<Uint8Array>;
  /** Stores a mark permanently. A journal that lacks a mark of its ledger was restored from an older copy. */
  putMark(mark: string): Promise<void>;
  /** Whether any process has put this mark. Never `false` once a `putMark` for it has returned, in any process. */
  hasMark(mark: string): Promise<boolean>;
  /**
   * The log of a key, as of now: an entry whose `append` has returned is never missing. Throws where an entry is missing
   * before another one: a part of the log was lost.
   */
  read(key: JournalKey): Promise<readonly LogEntry[]>;
  /**
   * Writes entry `n` of a log, from 0. `lost`: there is one already, which stays. Throws where the log was pruned since it
   * was read, so that its earlier entries are gone; except for an answer, which is kept whatever happened to them.
   */
  append(key: JournalKey, n: number, entry: LogEntry): Promise<'won' | 'lost'>;
  /**
   * All logs, page by page in a stable order. Entries written meanwhile may be left out.
   * `after` is the `next` of the previous page, null for the first.
   */
  scan(after: string | null, limit: number): Promise<JournalPage>;
  /** Intents for this body that may still be open. A hint: the caller reads each log. */
  findOpenByBody(bodyHash: string): Promise<readonly EntryPlace[]>;
  /** The fate of this intent is known: `findOpenByBody` need not return it any more. Best effort. */
  forgetOpen(intent: EntryPlace, bodyHash: string): Promise<void>;
  /** Makes the origin of a task id known to {@link findTask}. */
  indexTask(entry: TaskIndexEntry): Promise<void>;
  /** Entries for a task id: one per account that has had a task of this id. */
  findTask(taskId: string): Promise<readonly TaskIndexEntry[]>;
  /** Campaign records are stored beside the creation keys: neither `scan` nor a prune touches them. */
  readRecord(log: CampaignLog, n: number): Promise<CampaignRecord | null>;
  /** Appends entry `n` of a log. `lost`: there is one already, which stays. */
  putRecord(log: CampaignLog, n: number, record: CampaignRecord): Promise<'won' | 'lost'>;
  /** Rejects when nothing can be recorded now, so that a send can be refused before it costs money. */
  checkWritable(): Promise<void>;
}

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
