import { randomUUID } from 'node:crypto';
import { type SpendRecord, spendLog, type CampaignLog } from '../domain/campaign/budget-book';
import { type CreateJournal } from '../domain/journal';
import { type SpendLimit, spendWindow } from '../domain/money';
import { reported } from './failures';

/** An estimate that counts against the limit until it is returned. */
export interface Reserved {
  /** Micro-units spent or reserved in the window, including this estimate. */
  readonly sum: number;
  /**
   * Call this if the paid call was refused or not sent. If the journal fails, the estimate counts until the window
   * ends. Never rejects.
   */
  giveBack(): Promise<void>;
}

/** Returned when the window's limit has been reached. */
interface LimitReached {
  /** Micro-units spent or reserved in the window. */
  readonly spent: number;
  /** When the window ends, in milliseconds since the Unix epoch. */
  readonly endsAt: number;
}

const BOOKS = new WeakMap<CreateJournal, SpendBooks>();

/** Returns a journal's books, which all of the process's paid calls share. */
export function spendBooksOf(journal: CreateJournal): SpendBooks {
  let books = BOOKS.get(journal);
  if (books === undefined) BOOKS.set(journal, (books = new SpendBooks(journal)));
  return books;
}

/** The amounts that a journal's accounts have spent, by window. */
export class SpendBooks {
  private readonly books = new Map<string, SpendBook>();

  constructor(
    private readonly journal: CreateJournal,
    // oxlint-disable-next-line house/no-wall-clock-durations -- for calendar days
    private readonly now: () => number = Date.now,
  ) {}

  /**
   * Reserves a credential's estimate in the current window. @throws when the journal fails, in which case nothing may
   * be sent
   */
  async reserve(credential: string, limit: SpendLimit, microUnits: number): Promise<Reserved | LimitReached> {
    const { id, endsAt } = spendWindow(limit.per, this.now());
    const book = this.bookOf(spendLog(credential, limit.currency, id), endsAt);
    if (!(await book.add(microUnits, limit.microUnits))) return { spent: book.spent, endsAt };
    return {
      sum: book.spent,
      giveBack: async () => {
        if (this.now() < endsAt) await book.add(-microUnits, Infinity).catch(reported(false));
      },
    };
  }

  private bookOf(log: CampaignLog, endsAt: number): SpendBook {
    let book = this.books.get(log.name);
    if (book === undefined) {
      for (const [old, { endedAt }] of this.books) if (endedAt <= this.now()) this.books.delete(old);
      book = new SpendBook(this.journal, log, endsAt);
      this.books.set(log.name, book);
    }
    return book;
  }
}

interface PendingSum {
  readonly microUnits: number;
  readonly limit: number;
  readonly done: (added: boolean) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * A log of sums in the journal. The newest sum is the current one. Only one writer can create an entry, and each adds
 * to the previous one, so no sum exceeds the limit, however many workers write. Calls that arrive during a write share
 * the next entry.
 */
class SpendBook {
  /** Newest known entry; null before the first entry. */
  private newest: { readonly n: number; readonly spent: number } | null = null;
  private pending: PendingSum[] = [];
  private writing = false;

  constructor(
    private readonly journal: CreateJournal,
    private readonly log: CampaignLog,
    readonly endedAt: number,
  ) {}

  get spent(): number {
    return this.newest?.spent ?? 0;
  }

  /** Returns false, and adds nothing, if the sum would exceed the limit. */
  add(microUnits: number, limit: number): Promise<boolean> {
    const added = new Promise<boolean>((done, fail) => {
      this.pending.push({ microUnits, limit, done, fail });
    });
    void this.write();
    return added;
  }

  private async write(): Promise<void> {
    if (this.writing) return;
    this.writing = true;
    while (this.pending.length > 0) {
      const group = this.pending.splice(0);
      try {
        const added = await this.writeGroup(group);
        for (const one of group) one.done(added.has(one));
      } catch (error) {
        for (const one of group) one.fail(error);
      }
    }
    this.writing = false;
  }

  /** Writes one entry for all estimates that fit. */
  private async writeGroup(group: readonly PendingSum[]): Promise<ReadonlySet<PendingSum>> {
    for (;;) {
      await this.readNewest();
      const added = new Set<PendingSum>();
      let spent = this.spent;
      for (const one of group) {
        if (spent + one.microUnits > one.limit) continue;
        spent += one.microUnits;
        added.add(one);
      }
      if (added.size === 0 || (await this.put(spent))) return added;
    }
  }

  private async readNewest(): Promise<void> {
    const n = await newestEntry(async (place) => (await this.entry(place)) !== null, this.newest?.n ?? null);
    if (n === null || n === this.newest?.n) return;
    const entry = await this.entry(n);
    if (entry === null) throw new Error(GONE);
    this.newest = { n, spent: entry.spent };
  }

  /** Returns false if another writer created the entry first. */
  private async put(spent: number): Promise<boolean> {
    const n = (this.newest?.n ?? -1) + 1;
    const record: SpendRecord = {
      v: 1,
      kind: 'spend',
      nonce: randomUUID(),
      at: new Date().toISOString(),
      spent,
    };
    const put = await this.journal.putRecord(this.log, n, record).catch((error: unknown) => ({ error }));
    // The write may have succeeded even though its reply was lost.
    const existing = put === 'won' ? record : await this.entry(n);
    if (existing === null) throw put === 'lost' || put === 'won' ? new Error(GONE) : put.error;
    this.newest = { n, spent: existing.spent };
    return existing.nonce === record.nonce;
  }

  private async entry(n: number): Promise<SpendRecord | null> {
    const record = await this.journal.readRecord(this.log, n);
    if (record !== null && record.kind !== 'spend') throw new Error(GONE);
    return record;
  }
}

const GONE =
  'The journal no longer contains what an account has spent: it was replaced or restored from an older copy.';

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
