/**
 * What a place must do to hold the journal: texts under names, each written once. Files, a bucket and a table do it;
 * a store of your own gets the whole journal by {@link createJournal}.
 *
 * A name is a path of a few segments of lowercase letters, digits, `.` and `-`, at most 200 characters:
 * `keys/3f/<64 hex digits>/0.entry`. Text is UTF-8, seldom more than a few kilobytes, at most 1 MiB.
 *
 * Every method throws when it cannot do what it says. Nothing is guessed: a read that fails is not "absent", a write
 * that may or may not have happened is not "lost". A message contains no secret: no key, no password, no signed address.
 */
export interface RecordStore {
  /** For messages and for the identity of workers: `file`, `s3`, `postgres`, or a word of your own. Not private. */
  readonly kind: string;

  /** The one host that may use the store; undefined where any number of hosts may. */
  readonly host?: (() => Promise<string>) | undefined;

  /** The text of a record; null when there is none. Sees every record whose `create` has returned, in any process. */
  read(name: string): Promise<string | null>;

  /**
   * All records whose names begin with this, by name: `keys/3f/…/` or `tasks/3f/…/`. Ends with the folder of the names
   * or inside their last segment. Sees every record whose `create` returned before the call.
   */
  readAll(prefix: string): Promise<ReadonlyMap<string, string>>;

  /**
   * At most `limit` names that begin with `prefix` and come after `after`, in the order of their bytes. Names that are
   * created or removed meanwhile may be left out.
   */
  names(prefix: string, after: string | null, limit: number): Promise<readonly string[]>;

  /**
   * Creates the record, or says that there is one of this name already: of any number of callers exactly one gets
   * `won`. Durable when it returns, for a loss of power and the failover of a replica too. Where an answer was lost, the
   * implementation finds out which it was (by reading back its own text) or throws.
   */
  create(name: string, text: string): Promise<'won' | 'lost'>;

  /**
   * Writes a hint, over an earlier one of this name; it need not survive a loss of power. Null removes it, and that may
   * fail in silence: a hint too many costs a read, a missing one lets an unconfirmed call be bought under another key.
   */
  note(name: string, text: string | null): Promise<void>;

  /** Removes a record, if it is there. Durable when it returns. */
  remove(name: string): Promise<void>;

  /**
   * Rejects when the store must not hold a journal, and says what to change. Asks once, so that a person who waits hears
   * of it soon. The journal makes its own check of `create` besides. @default nothing to check
   */
  check?(): Promise<void>;

  /** Closes connections. @default nothing to close */
  close?(): Promise<void>;
}
