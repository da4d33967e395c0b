import {
  type BookMove,
  type BooksUnavailable,
  type KeepBooksInput,
  type KeepBooksResult,
  type KeptBooks,
} from '../../domain/campaign/activities';
import {
  batchLog,
  batchWorkflowId,
  closed,
  grantedTo,
  opened,
  ownerLog,
  raised,
  type BookEntry,
  type BookRecord,
  bookLog,
  emptyBook,
  type CampaignLog,
} from '../../domain/campaign/budget-book';
import { type RowSet, rowsOf } from '../../domain/campaign/row-set';
import { type CreateJournal } from '../../domain/journal';
import { caller, type PaidDeps } from '../paid-context';
import { newestEntry } from '../spend-book';
import { fenceBatch } from '../before-send';
import { withBoundJournal, UnreadableBookError } from './bound-journal';
import { givenBack } from './free-sends';
import { type PageReader } from './open-page';

/**
 * Implements `media.keepBooks`: one move of the book of a campaign. It is based on the newest entry, and made only
 * where that is the one which the caller knows. A retry finds the entry that it wrote.
 */
export function createKeepBooks(
  deps: PaidDeps,
  pages: PageReader,
): (input: KeepBooksInput) => Promise<KeepBooksResult> {
  return (input) =>
    withBoundJournal(deps, async (journal): Promise<KeptBooks | BooksUnavailable> => {
      const { namespace, runId, activityId } = caller();
      const book = new BudgetBookLog(journal, namespace, input.campaign);
      const nonce = `${runId ?? ''}/${activityId}`;
      return new Bookkeeper(journal, namespace, book, pages, nonce, input).move();
    });
}

class Bookkeeper {
  constructor(
    private readonly journal: CreateJournal,
    private readonly namespace: string,
    private readonly book: BudgetBookLog,
    private readonly pages: PageReader,
    private readonly nonce: string,
    private readonly input: KeepBooksInput,
  ) {}

  async move(): Promise<KeptBooks> {
    const { known, before, move } = this.input;
    const newest = await this.book.newest(known, before);
    if (move.do === 'look') return newest;
    if (newest.n !== known) {
      const next = await this.book.entry(nextOf(known));
      return next?.nonce === this.nonce ? this.made(next, newest) : { ...newest, conflict: true };
    }
    const made = await this.entryAfter(newest.book, move);
    if (!('next' in made)) return { ...newest, ...made };
    const record: BookRecord = {
      v: 1,
      kind: 'book',
      nonce: this.nonce,
      at: new Date().toISOString(),
      ...stateOf(made),
    };
    const n = nextOf(known);
    const existing = await this.book.write(n, record);
    if (existing.nonce === this.nonce) return this.made(existing, { n, book: stateOf(existing) });
    return { ...(await this.book.newest(n, before)), conflict: true };
  }

  /** The entry that the move writes, or the answer where it writes none. */
  private async entryAfter(
    book: BookEntry,
    move: Exclude<BookMove, { do: 'look' }>,
  ): Promise<BookEntry | Pick<KeptBooks, 'unsettled'>> {
    const { budget } = this.input;
    switch (move.do) {
      case 'open': {
        await this.fence(move.fences);
        let entry = book;
        for (const rows of move.batches) {
          const want = move.want ?? (budget === null ? 0 : await this.costOf(rows));
          entry = opened(entry, want, budget);
        }
        return entry;
      }
      case 'raise':
        return raised(book, move.batch, move.want, budget) ?? {};
      case 'close':
        return this.afterClosing(book, move);
    }
  }

  private async fence(batches: readonly number[]): Promise<void> {
    const { journal, namespace } = this;
    for (const batch of batches)
      await fenceBatch(journal, namespace, batchWorkflowId(this.input.campaign, batch));
  }

  private async afterClosing(
    book: BookEntry,
    { batch, spent, run, free }: Extract<BookMove, { do: 'close' }>,
  ): Promise<BookEntry | Pick<KeptBooks, 'unsettled'>> {
    if (grantedTo(book, batch) === undefined) return {};
    const { journal, namespace } = this;
    const { campaign } = this.input;
    const payer = batchWorkflowId(campaign, batch);
    await this.fence([batch]);
    const owner = await journal.readRecord(ownerLog(namespace, payer), 0);
    if (run !== null && owner?.kind === 'owner' && owner.run !== run) return { unsettled: true };
    const deducted = await givenBack(journal, { namespace, campaign, payer, book }, free);
    return closed(book, batch, spent, deducted) ?? {};
  }

  /** The result of this move, from the entry that it wrote. */
  private async made({ next }: BookRecord, newest: Newest): Promise<KeptBooks> {
    const { move } = this.input;
    if (move.do !== 'open') return newest;
    const numbers = move.batches.map((rows, index) => ({ rows, batch: next - move.batches.length + index }));
    await Promise.all(numbers.map(({ rows, batch }) => this.noteRows(batch, rows)));
    return { ...newest, opened: numbers.map(({ batch }) => batch) };
  }

  /** Records the rows of a batch before it may be started, so that its successors can read them. */
  private async noteRows(batch: number, rows: readonly RowSet[]): Promise<void> {
    const { nonce } = this;
    const log = batchLog(this.namespace, batchWorkflowId(this.input.campaign, batch));
    const record = { v: 1, kind: 'batch', nonce, at: new Date().toISOString(), rows } as const;
    const put = await this.journal.putRecord(log, 0, record).catch((error: unknown) => ({ error }));
    if (put === 'won' || (await this.journal.readRecord(log, 0)) !== null) return;
    if (put !== 'lost') throw put.error;
  }

  /** Cost of the rows of which nothing was bought yet. */
  private async costOf(sets: readonly RowSet[]): Promise<number> {
    let cost = 0;
    for (const set of sets) {
      if (set.started !== undefined) continue;
      const { rows } = await this.pages.page(set);
      for (const { estimate, changed } of rowsOf(set, rows)) if (changed !== true) cost += estimate ?? 0;
    }
    return cost;
  }
}

function nextOf(n: number | null): number {
  return n === null ? 0 : n + 1;
}

/** The newest state of a book; `n` is null while there is no entry. */
export interface Newest {
  readonly n: number | null;
  readonly book: BookEntry;
}

/** The book of one campaign in a journal. */
export class BudgetBookLog {
  private readonly log: CampaignLog;

  constructor(
    private readonly journal: CreateJournal,
    namespace: string,
    private readonly campaign: string,
  ) {
    this.log = bookLog(namespace, campaign);
  }

  /**
   * Finds the newest entry.
   * @param known number of an entry that was there
   * @param before micro-units with which a book begins
   */
  async newest(known: number | null, before: number): Promise<Newest> {
    const there = await newestEntry(async (n) => (await this.entry(n)) !== null, known);
    if (there === null) return { n: null, book: emptyBook(before) };
    const entry = await this.entry(there);
    if (entry === null) throw new UnreadableBookError(goneText(this.campaign, there));
    return { n: there, book: stateOf(entry) };
  }

  async entry(n: number): Promise<BookRecord | null> {
    const record = await this.journal.readRecord(this.log, n);
    if (record !== null && record.kind !== 'book') throw new UnreadableBookError(goneText(this.campaign, n));
    return record;
  }

  /** Writes entry n. Returns the entry that exists then, its own or an earlier one. */
  async write(n: number, record: BookRecord): Promise<BookRecord> {
    const put = await this.journal.putRecord(this.log, n, record).catch((error: unknown) => ({ error }));
    if (put === 'won') return record;
    // The write may have been made although its answer was lost, or was that of its own repetition.
    const existing = await this.entry(n);
    if (existing !== null) return existing;
    throw put === 'lost' ? new UnreadableBookError(goneText(this.campaign, n)) : put.error;
  }
}

export function stateOf({ closed, open, next }: BookEntry): BookEntry {
  return { closed, open, next };
}

const goneText = (campaign: string, n: number): string =>
  `Entry ${n} of the book of the campaign ${JSON.stringify(campaign)} is not in the create journal any more, or is not an entry of a book: the journal was replaced or set back. Nothing more is bought. Restore the journal. If it is lost, terminate the campaign, rebind the task queue (\`temporal-media worker --rebind\`), and start the campaign again under its id. An older book lacks what was spent since the copy: reduce the budget by that amount. Without any book, the budget starts with what the results have cost.`;
