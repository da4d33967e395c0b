/**
 * The store interface for the journal: texts stored under names, each written once. Files, a bucket and a table
 * implement it. A custom store gets the whole journal from {@link createJournal}.
 *
 * A name is a path of a few segments of lowercase letters, digits, `.` and `-`, at most 200 characters: `keys/3f/<64
 * hex digits>/0.entry`. Text is UTF-8, rarely more than a few kilobytes, at most 1 MiB.
 *
 * Every method throws if it cannot do its work. It must never guess: a failed read is not "absent", and a write that
 * may have happened is not "lost". Messages must not contain secrets such as keys, passwords and signed URLs.
 */
export interface RecordStore {
  /**
   * The kind of store, for use in messages and worker identities: `file`, `s3`, `postgres` or a word of your choice. It
   * must not contain anything private.
   */
  readonly kind: string;

  /** Returns the only host that may use the store. Omit this method if any number of hosts may use it. */
  readonly host?: (() => Promise<string>) | undefined;

  /** Returns a record's text, or null. Must see every record whose `create` has returned in any process. */
  read(name: string): Promise<string | null>;

  /**
   * Returns several records, by name, in one request. Absent names are missing. @default one `read` for each
   */
  readMany?(names: readonly string[]): Promise<ReadonlyMap<string, string>>;

  /**
   * Returns all records with this name prefix, by name: `keys/3f/…/` or `tasks/3f/…/`. The prefix is a folder or
   * extends into the last segment. Must see every record whose `create` returned before the call.
   */
  readAll(prefix: string): Promise<ReadonlyMap<string, string>>;

  /**
   * Returns up to `limit` names with this prefix that sort after `after`, in byte order. Names that are created or
   * removed during the call may be missing.
   */
  names(prefix: string, after: string | null, limit: number): Promise<readonly string[]>;

  /**
   * Creates the record, or returns `lost` if the name exists. Of any number of callers, exactly one gets `won`. The
   * record must be durable before this returns, even against a power failure or a failover to a replica. If a reply was
   * lost, the implementation finds out the result (by reading back its own text) or throws.
   */
  create(name: string, text: string): Promise<'won' | 'lost'>;

  /**
   * Writes a hint, replacing an earlier one; it need not survive a power failure. Null removes the hint and may fail
   * silently: an extra hint costs a read, but a missing one lets an unconfirmed call be bought under another key.
   */
  note(name: string, text: string | null): Promise<void>;

  /** Removes a record if it exists. The removal must be durable before this returns. */
  remove(name: string): Promise<void>;

  /**
   * Rejects, with advice, if the store is unsuitable for a journal. Does not retry, because a person may be waiting.
   * The journal also tests `create` itself. @default nothing to check
   */
  check?(): Promise<void>;

  /** Closes connections. @default nothing to close */
  close?(): Promise<void>;
}
