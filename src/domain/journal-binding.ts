/**
 * How long a worker caches a binding, in milliseconds: for so long after a rebind it may still send with the journal of
 * before.
 */
export const BINDING_CACHE_MS = 60_000;

/** Which journal a task queue belongs to (architecture: Create). */
interface JournalBinding {
  readonly journalId: string;
  /** Null for a journal that is shared by design; otherwise the one host that may use it. */
  readonly hostId: string | null;
}

/** What a worker asks of the ledger of its queue. */
export interface BindRequest extends JournalBinding {
  /** Id of its artifact store; null for a store that has none. */
  readonly artifacts: string | null;
  /** Accounts that it serves, with their digests. */
  readonly accounts: readonly string[];
  /** A random mark that the journal already holds when the ledger gets it; null for none. */
  readonly mark: string | null;
  /**
   * Replaces the binding with this journal and this store: only after a person made sure that no worker uses other
   * ones.
   */
  readonly rebind?: true;
}

/** State of the ledger of a queue. */
export interface Ledger {
  readonly binding: JournalBinding;
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

export type LedgerDifference = 'journal' | 'host' | 'artifacts';

/** How a worker differs from its queue, as the end of "the task queue …". */
export const DIFFERS: { readonly [difference in LedgerDifference]: string } = {
  journal:
    'is bound to another journal than the one here: another place, or a journal that was lost and begun anew.',
  host: 'is bound to this journal on another host.',
  artifacts:
    'is bound to another artifact store than the one here (MEDIA_ARTIFACTS): another place, or a store that was lost or emptied and is new here.',
};

/** How a worker with `request` differs from what the ledger holds; undefined when it may work. Pure. */
export function differenceOf(ledger: Ledger | null, request: BindRequest): LedgerDifference | undefined {
  if (ledger === null) return undefined;
  if (ledger.binding.journalId !== request.journalId) return 'journal';
  if (ledger.binding.hostId !== request.hostId) return 'host';
  const { artifacts } = ledger;
  return artifacts !== null && request.artifacts !== null && artifacts !== request.artifacts
    ? 'artifacts'
    : undefined;
}

/** No call was ever sent with another journal. */
const FIRST = new Date(0).toISOString();

/**
 * The ledger after a request; the same object when the request is refused or changes nothing.
 * @param at of a rebind; empty for the time at which it is written
 */
export function nextLedger(ledger: Ledger | null, request: BindRequest, at = ''): Ledger {
  if (ledger === null || request.rebind === true) {
    const { journalId, hostId, artifacts, accounts, mark } = request;
    const boundSince = request.rebind === true ? at : FIRST;
    return { binding: { journalId, hostId }, boundSince, artifacts, accounts, mark };
  }
  if (differenceOf(ledger, request) !== undefined) return ledger;
  const artifacts = ledger.artifacts ?? request.artifacts;
  const added = request.accounts.filter((account) => !ledger.accounts.includes(account));
  const mark = request.mark ?? ledger.mark;
  if (added.length === 0 && artifacts === ledger.artifacts && mark === ledger.mark) return ledger;
  return { ...ledger, artifacts, accounts: [...ledger.accounts, ...added], mark };
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
      /** Accounts of all workers of the queue, as its ledger has them. */
      readonly accounts?: readonly string[];
    }
  | { readonly bound: false; readonly message: string };

/** Checks the queue of the running activity: the answer is at most a minute old, or a new one with `fresh`. */
export type CheckBinding = (how?: { readonly fresh?: boolean }) => Promise<BindingStatus>;
