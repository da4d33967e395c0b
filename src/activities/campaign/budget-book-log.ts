import {
  bookLog,
  emptyBook,
  type BookEntry,
  type BookRecord,
  type CampaignLog,
} from '../../domain/campaign/budget-book';
import { type CreateJournal } from '../../domain/journal';
import { UnreadableBookError } from './bound-journal';

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
   * Finds the newest entry by doubling and bisection, because entries have no gaps.
   * @param known number of an entry that was there
   * @param before micro-units with which a book begins
   */
  async newest(known: number | null, before: number): Promise<Newest> {
    let there = known ?? -1;
    let step = 1;
    while ((await this.entry(there + step)) !== null) {
      there += step;
      step *= 2;
    }
    for (let absent = there + step; absent - there > 1;) {
      const middle = there + Math.floor((absent - there) / 2);
      if ((await this.entry(middle)) === null) absent = middle;
      else there = middle;
    }
    if (there === -1) return { n: null, book: emptyBook(before) };
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
    const standing = await this.entry(n);
    if (standing !== null) return standing;
    throw put === 'lost' ? new UnreadableBookError(goneText(this.campaign, n)) : put.error;
  }
}

export function stateOf({ closed, open, next }: BookEntry): BookEntry {
  return { closed, open, next };
}

const goneText = (campaign: string, n: number): string =>
  `Entry ${n} of the book of the campaign ${JSON.stringify(campaign)} is not in the create journal any more, or is not an entry of a book: the journal was replaced or set back. Nothing more is bought. Restore the journal; or terminate the campaign and start it again under its id, which begins with what its results have cost.`;
