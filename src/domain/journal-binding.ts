/** Which journal a create task queue belongs to (design 4.3). */
export interface JournalBinding {
  readonly journalId: string;
  /** Null for a journal that is shared by design; otherwise the one host that may use it. */
  readonly hostId: string | null;
}

/** Input of the workflow `mediaJournal`; `carried` is set by continue-as-new only. */
export interface MediaJournalInput {
  readonly carried?: { readonly v: 1; readonly binding: JournalBinding | null };
}

export interface BindRequest extends JournalBinding {
  /** Replaces another journal's binding: only after a person made sure that no worker still uses the other one. */
  readonly rebind?: boolean;
}

export type BindAnswer =
  | { readonly bound: true; readonly rebound: boolean }
  | { readonly bound: false; readonly current: JournalBinding; readonly difference: 'journal' | 'host' };

/** Whether a worker with `request` may create on the queue that is bound to `current`. Pure. */
export function decideBinding(current: JournalBinding | null, request: BindRequest): BindAnswer {
  if (current === null) return { bound: true, rebound: false };
  const sameJournal = current.journalId === request.journalId;
  const sameHost = current.hostId === request.hostId;
  if (sameJournal && sameHost) return { bound: true, rebound: false };
  if (request.rebind === true) return { bound: true, rebound: true };
  return { bound: false, current, difference: sameJournal ? 'host' : 'journal' };
}
