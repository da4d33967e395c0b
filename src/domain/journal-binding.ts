/** Which journal a task queue belongs to (architecture: Create). */
interface JournalBinding {
  readonly journalId: string;
  /** Null for a journal that is shared by design; otherwise the one host that may use it. */
  readonly hostId: string | null;
}

/** What a worker says when it resumes a queue. */
export interface BindRequest extends JournalBinding {
  /** Id of its artifact store; null for a store that has none. */
  readonly artifacts: string | null;
  /** Accounts that it serves, with their digests. */
  readonly accounts: readonly string[];
  /** Of a moment in the life of the journal: it stands there already when it is told. Null where none is told. */
  readonly mark: string | null;
  /** Begins anew with this journal and this store: only after a person made sure that no worker uses other ones. */
  readonly rebind?: true;
}

/** What the ledger of a queue holds. */
export interface Ledger {
  readonly binding: JournalBinding;
  /** ISO 8601, the server's time: what was scheduled before it may have been sent on the word of another journal. */
  readonly boundSince: string;
  readonly artifacts: string | null;
  /** Of all workers since then, in the order in which they came. */
  readonly accounts: readonly string[];
  /** The last one that was told: a journal that lacks it was set back since. */
  readonly mark: string | null;
}

/** Input of the ledger workflow: what an earlier run of it held that was ended from outside. */
export interface MediaJournalInput {
  readonly carried: Ledger | null;
}

export type LedgerDifference = 'journal' | 'host' | 'artifacts';

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

/** The ledger after a request; the same one when it is refused or changes nothing. */
export function nextLedger(ledger: Ledger | null, request: BindRequest, at: string): Ledger {
  if (ledger === null || request.rebind === true) {
    const { journalId, hostId, artifacts, accounts, mark } = request;
    return { binding: { journalId, hostId }, boundSince: at, artifacts, accounts, mark };
  }
  if (differenceOf(ledger, request) !== undefined) return ledger;
  const artifacts = ledger.artifacts ?? request.artifacts;
  const added = request.accounts.filter((account) => !ledger.accounts.includes(account));
  const mark = request.mark ?? ledger.mark;
  if (added.length === 0 && artifacts === ledger.artifacts && mark === ledger.mark) return ledger;
  return { ...ledger, artifacts, accounts: [...ledger.accounts, ...added], mark };
}

/** Whether the journal of a worker is that of the queue on which an activity runs; `message` says why not and what to do. */
export type Standing =
  | { readonly bound: true; readonly journalId: string; readonly boundSince: string }
  | { readonly bound: false; readonly message: string };

/** Asks for the queue of the activity that runs: what was heard a minute ago at most, or anew. */
export type AskStanding = (how?: { readonly fresh?: boolean }) => Promise<Standing>;
