import { type CampaignLog, type CampaignRecord } from './campaign/budget-book';
import { type JournalKey, type LogEntry } from './log-entries';
import { type VideoTask } from './video-task';

/** Origin of a task id. */
export interface TaskIndexEntry {
  readonly v: 1;
  /** Of Temporal, in which the workflow ran. */
  readonly namespace: string;
  readonly creationKey: string;
  /** Which send of its key created it, from 0. */
  readonly sendAttempt: number;
  /** Null for a call outside of a workflow. */
  readonly workflowId: string | null;
  /** Null for a call outside of a workflow. */
  readonly runId: string | null;
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
  /** Stores a mark permanently. A journal that lacks a mark of its queue was restored from an older copy. */
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

/**
 * How long a worker caches a binding, in milliseconds: for so long after a rebind it may still send with the journal of
 * before.
 */
export const BINDING_CACHE_MS = 60_000;

/** What a worker requests of the binding of its queue. */
export interface BindRequest extends JournalIdentity {
  /** Id of its artifact store; null for a store that has none. */
  readonly artifacts: string | null;
  /** Accounts that it serves, with their digests. */
  readonly accounts: readonly string[];
  /** A random mark that the journal already has when the binding gets it; null for none. */
  readonly mark: string | null;
  /**
   * Replaces the binding with this journal and this store: only after a person made sure that no worker uses other
   * ones.
   */
  readonly rebind?: true;
}

export interface QueueBinding {
  readonly binding: JournalIdentity;
  /**
   * ISO 8601, in server time: a call that was scheduled earlier may have been sent with another journal. The beginning of
   * time for the first journal of a queue; {@link BINDING_CACHE_MS} after a rebind.
   */
  readonly boundSince: string;
  readonly artifacts: string | null;
  /** Accounts of all workers since then, in order of arrival. */
  readonly accounts: readonly string[];
  /** The last mark: a journal that lacks it was restored from an older copy. */
  readonly mark: string | null;
}

export type BindingDifference = 'journal' | 'host' | 'artifacts';

/** How a worker differs from its queue, as the end of "the task queue …". */
export const DIFFERS: { readonly [difference in BindingDifference]: string } = {
  journal:
    'is bound to another journal than the one here: another place, or a journal that was lost and begun anew.',
  host: 'is bound to this journal on another host.',
  artifacts:
    'is bound to another artifact store than the one here (MEDIA_ARTIFACTS): another place, or a store that was lost or emptied and is new here.',
};

/** How a worker with `request` differs from what the queue is bound to; undefined when it may work. Pure. */
export function differenceOf(
  queueBinding: QueueBinding | null,
  request: BindRequest,
): BindingDifference | undefined {
  if (queueBinding === null) return undefined;
  if (queueBinding.binding.journalId !== request.journalId) return 'journal';
  if (queueBinding.binding.hostId !== request.hostId) return 'host';
  const { artifacts } = queueBinding;
  return artifacts !== null && request.artifacts !== null && artifacts !== request.artifacts
    ? 'artifacts'
    : undefined;
}

/** No call was ever sent with another journal. */
const FIRST = new Date(0).toISOString();

/**
 * The binding after a request; the same object when the request is refused or changes nothing.
 * @param at of a rebind; empty for the time at which it is written
 */
export function nextQueueBinding(
  queueBinding: QueueBinding | null,
  request: BindRequest,
  at = '',
): QueueBinding {
  if (queueBinding === null || request.rebind === true) {
    const { journalId, hostId, artifacts, accounts, mark } = request;
    const boundSince = request.rebind === true ? at : FIRST;
    return { binding: { journalId, hostId }, boundSince, artifacts, accounts, mark };
  }
  if (differenceOf(queueBinding, request) !== undefined) return queueBinding;
  const artifacts = queueBinding.artifacts ?? request.artifacts;
  const added = request.accounts.filter((account) => !queueBinding.accounts.includes(account));
  const mark = request.mark ?? queueBinding.mark;
  if (added.length === 0 && artifacts === queueBinding.artifacts && mark === queueBinding.mark)
    return queueBinding;
  return { ...queueBinding, artifacts, accounts: [...queueBinding.accounts, ...added], mark };
}

/**
 * Whether the journal of a worker is that of the queue on which an activity runs; `message` says why not and what to
 * do.
 */
export type BindingStatus =
  | {
      readonly bound: true;
      readonly journalId: string;
      readonly boundSince: string;
      /** Accounts of all workers of the queue, as its binding has them. */
      readonly accounts?: readonly string[];
    }
  | { readonly bound: false; readonly message: string };

/** Checks the queue of the running activity: the answer is at most a minute old, or a new one with `fresh`. */
export type CheckBinding = (how?: { readonly fresh?: boolean }) => Promise<BindingStatus>;
