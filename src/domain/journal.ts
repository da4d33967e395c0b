import { type CampaignLog, type CampaignRecord } from './campaign/budget-book';
import { canonical } from './fingerprint';
import { type JournalKey, type LogEntry } from './log-entries';
import { type VideoTask } from './video-task';

/** Where a task id came from. */
export interface TaskIndexEntry {
  readonly v: 1;
  /** Temporal namespace where the workflow ran. */
  readonly namespace: string;
  /** Creation key of the call that created the task. */
  readonly creationKey: string;
  /** Number of the key's send that created it, from 0. */
  readonly sendAttempt: number;
  /** Null for a call outside a workflow. */
  readonly workflowId: string | null;
  /** Null for a call outside a workflow. */
  readonly runId: string | null;
  /** The created task. */
  readonly video: VideoTask;
}

/** Identifies one entry of a log. */
export interface EntryPlace extends JournalKey {
  /** The entry's number, from 0. */
  readonly n: number;
}

/** One page of a scan. */
export interface JournalPage {
  /** Each log with its entries, sorted by name. */
  readonly logs: readonly (readonly LogEntry[])[];
  /** Null after the last page. */
  readonly next: string | null;
}

/** Identity of a journal, used to bind a create task queue to it (architecture: Create). */
export interface JournalIdentity {
  /** Generated when the journal is first opened. */
  readonly journalId: string;
  /** The only host that may use it; null if the journal is shared by design (S3). */
  readonly hostId: string | null;
}

/**
 * Records paid sends in append-only logs, one per creation key. Every append is create-if-absent, and durable once it
 * returns (assumptions A1, A2). Implementations throw if they cannot read or write, and the caller then sends nothing.
 */
export interface CreateJournal {
  /** The kind of store, for use in messages: `file`, `s3`, `postgres` or any other name. */
  readonly kind: string;
  /**
   * Returns this journal's id, which never changes and is the same in every process. Also returns its host, if only one
   * host may use it.
   */
  identity(): Promise<JournalIdentity>;
  /**
   * Returns the 32 random bytes that encrypt secrets stored in the journal. Created together with the journal's id, and
   * never disclosed.
   */
  sealingKey(): Promise<Uint8Array>;
  /** Stores a mark permanently. A journal that lacks one of its queue's marks was restored from an older copy. */
  putMark(mark: string): Promise<void>;
  /** Whether any process has stored this mark. Never `false` once a `putMark` for it has returned in any process. */
  hasMark(mark: string): Promise<boolean>;
  /**
   * Reads a key's current log. An entry is never missing once its `append` has returned. Throws if the log has a gap,
   * because a gap means that entries were lost.
   */
  read(key: JournalKey): Promise<readonly LogEntry[]>;
  /**
   * Writes entry `n` of a log, counted from 0. Returns `lost` if the entry already exists, and keeps the existing one.
   * Throws if the log's earlier entries were pruned after the log was read. An answer is stored even then.
   */
  append(key: JournalKey, n: number, entry: LogEntry): Promise<'won' | 'lost'>;
  /**
   * Returns all logs, page by page in a stable order. Entries written during the scan may be missing. `after` is the
   * `next` of the previous page, null for the first page.
   */
  scan(after: string | null, limit: number): Promise<JournalPage>;
  /** Returns intents for this body that may still be open. Only a hint: the caller must read each log. */
  findOpenByBody(bodyHash: string): Promise<readonly EntryPlace[]>;
  /** Reports that this intent's outcome is known, so `findOpenByBody` no longer needs to return it. Best effort. */
  forgetOpen(intent: EntryPlace, bodyHash: string): Promise<void>;
  /** Records the origin of a task id, for {@link findTask}. */
  indexTask(entry: TaskIndexEntry): Promise<void>;
  /** Returns the entries for a task id, one per account that has had a task with this id. */
  findTask(taskId: string): Promise<readonly TaskIndexEntry[]>;
  /**
   * Reads a campaign record. Campaign records are stored separately from creation keys: neither `scan` nor a prune
   * touches them.
   */
  readRecord(log: CampaignLog, n: number): Promise<CampaignRecord | null>;
  /** Appends entry `n` of a campaign log. Returns `lost` if the entry already exists, and keeps the existing one. */
  putRecord(log: CampaignLog, n: number, record: CampaignRecord): Promise<'won' | 'lost'>;
  /** Rejects if nothing can be recorded right now, so that a send can be refused before it costs money. */
  checkWritable(): Promise<void>;
}

/**
 * A journal that stores nothing: every append succeeds, and every log is empty. A worker with this journal does not run
 * campaigns and refuses to retry paid calls, because nothing else would keep them from being sent twice (architecture:
 * Create).
 */
export const NO_JOURNAL: CreateJournal = {
  kind: 'none',
  identity: async () => ({ journalId: '', hostId: null }),
  sealingKey: () =>
    Promise.reject(
      new Error('There is no journal, so nothing can be encrypted: it could not be decrypted later.'),
    ),
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

const textOf = (entry: LogEntry): string => JSON.stringify(canonical(entry));

/** Whether an existing entry is the one that was written. Only intents have a nonce. */
export function isSameEntry(existing: LogEntry, written: LogEntry): boolean {
  if (existing.kind === 'intent') return written.kind === 'intent' && existing.nonce === written.nonce;
  return textOf(existing) === textOf(written);
}

/**
 * Writes entry `n` of a log of records. Returns the entry that exists afterwards: this one or an earlier one. Null if
 * the store says that there is one and then does not have it. @throws the store's error, if nothing was written
 */
export async function writeOnce(
  journal: CreateJournal,
  log: CampaignLog,
  n: number,
  record: CampaignRecord,
): Promise<CampaignRecord | null> {
  const put = await journal.putRecord(log, n, record).catch((error: unknown) => ({ error }));
  if (put === 'won') return record;
  // The write may have succeeded even though its reply, or the reply to a retry, was lost.
  const existing = await journal.readRecord(log, n);
  if (existing === null && put !== 'lost') throw put.error;
  return existing;
}

/**
 * Finds the number of the newest entry in a log without gaps by doubling and bisection. Returns null if the log is
 * empty.
 * @param known number of an entry that existed
 */
export async function newestEntry(
  exists: (n: number) => Promise<boolean>,
  known: number | null,
): Promise<number | null> {
  let there = known ?? -1;
  let step = 1;
  while (await exists(there + step)) {
    there += step;
    step *= 2;
  }
  for (let absent = there + step; absent - there > 1;) {
    const middle = there + Math.floor((absent - there) / 2);
    if (await exists(middle)) there = middle;
    else absent = middle;
  }
  return there === -1 ? null : there;
}

/** Whether a journal stores nothing, and therefore proves nothing. */
export const keepsNothing = ({ kind }: Pick<CreateJournal, 'kind'>): boolean => kind === NO_JOURNAL.kind;

/**
 * How long a worker caches a binding, in milliseconds. For this long after a rebind, it may still send with the
 * previous journal.
 */
export const BINDING_CACHE_MS = 60_000;

/** A worker's request to bind its task queue. */
export interface BindRequest extends JournalIdentity {
  /** Id of the worker's artifact store; null if the store has none. */
  readonly artifacts: string | null;
  /** Accounts that the worker serves, with their digests. */
  readonly accounts: readonly string[];
  /** A random mark that is stored in the journal first and then in the binding; null for none. */
  readonly mark: string | null;
  /**
   * Replaces the binding with this journal and this store. Set it only after a person has made sure that no worker
   * still uses another journal or store.
   */
  readonly rebind?: true;
}

export interface QueueBinding {
  readonly binding: JournalIdentity;
  /**
   * ISO 8601, in server time. A call that was scheduled earlier may have been sent with another journal. For a queue's
   * first journal, this is the Unix epoch; after a rebind, {@link BINDING_CACHE_MS} after the time of the rebind.
   */
  readonly boundSince: string;
  readonly artifacts: string | null;
  /** Accounts of all workers since then, in the order they were first seen. */
  readonly accounts: readonly string[];
  /** The last mark. A journal that lacks it was restored from an older copy. */
  readonly mark: string | null;
}

export type BindingDifference = 'journal' | 'host' | 'artifacts';

/** How a worker differs from its queue's binding. Completes the sentence "the task queue …". */
export const DIFFERS: { readonly [difference in BindingDifference]: string } = {
  journal:
    "is bound to a different journal than this worker's. Either the worker uses another location, or its journal was lost and re-created.",
  host: 'is bound to this journal on another host.',
  artifacts:
    "is bound to a different artifact store than this worker's (MEDIA_ARTIFACTS). Either the worker uses another location, or its store was lost or emptied and then re-created.",
};

/** Returns how a worker with `request` differs from its queue's binding, or undefined if it can run. Pure. */
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

/** `boundSince` of a queue's first journal: no call was ever sent with another one. */
const FIRST = new Date(0).toISOString();

/**
 * Returns the binding after a request, or the same object if the request is refused or changes nothing.
 * @param at time of a rebind; empty to use the time when it is written
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
 * Whether a worker uses the journal that the running activity's queue is bound to. If not, `message` says why and what
 * to do.
 */
export type BindingStatus =
  | {
      readonly bound: true;
      readonly journalId: string;
      readonly boundSince: string;
      /** Accounts of all of the queue's workers, according to its binding. */
      readonly accounts?: readonly string[];
    }
  | { readonly bound: false; readonly message: string };

/** Checks the running activity's queue. The answer can be up to a minute old unless `fresh` is set. */
export type CheckBinding = (how?: { readonly fresh?: boolean }) => Promise<BindingStatus>;
