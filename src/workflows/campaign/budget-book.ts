import { sleep } from '@temporalio/workflow';
import {
  type BookEntry,
  emptyBook,
  freeOf,
  grantedTo,
  isClosed,
  overBudget,
} from '../../domain/campaign/budget-book';
import {
  type BookMove,
  type BooksUnavailable,
  type CountBillsResult,
  type KeepBooksInput,
  type KeptBooks,
  type SettleBatchInput,
  type SettledBatch,
} from '../../domain/campaign/campaign-activities';
import { ACTIVITY } from '../../domain/names';
import { type CallWait } from '../../domain/video-state';
import { activity } from '../proxies';
import { failedByHand } from '../timers';

/**
 * Pause before the book is read again, in milliseconds. It doubles each time, because each attempt adds to the history.
 */
const AGAIN_MS = 10_000;
const LONGEST_PAUSE_MS = 5 * 60_000;

export interface BudgetBookState {
  /** Number of the newest known entry, or null if there is none. */
  readonly n: number | null;
  readonly book: BookEntry;
}

/** The campaign's access to its book. Makes one change at a time, each based on the newest entry in the journal. */
export class BudgetBook {
  private n: number | null;
  private book: BookEntry;
  /**
   * Batches that this campaign has opened. Other batches belong to runs that were terminated or that a reset has
   * undone.
   */
  private readonly mine = new Set<number>();
  private moves: Promise<unknown> = Promise.resolve();
  private underWay = 0;
  /** Why the book could not be read, or null if it can be. */
  held: CallWait | null = null;
  known: boolean;

  constructor(
    private readonly input: Pick<KeepBooksInput, 'campaign' | 'before'> & { readonly taskQueue: string },
    private readonly budget: () => number | null,
    saved: BudgetBookState | undefined,
    private readonly onChange: () => void,
  ) {
    this.n = saved?.n ?? null;
    this.book = saved?.book ?? emptyBook(input.before);
    this.known = saved !== undefined;
  }

  isMoving(): boolean {
    return this.underWay > 0;
  }

  /** Returns by how much bills have raised the cost beyond the budget, in micro-units. */
  over(): number {
    return overBudget(this.book, this.budget());
  }

  /** Returns the amount not granted to any batch, in micro-units; null without a budget. */
  free(): number | null {
    return freeOf(this.book, this.budget());
  }

  entry(): BookEntry {
    return this.book;
  }

  /** Returns the number of the newest known entry; null if there is none. */
  newest(): number | null {
    return this.n;
  }

  granted(batch: number): number | null {
    return grantedTo(this.book, batch) ?? null;
  }

  isClosed(batch: number): boolean {
    return isClosed(this.book, batch);
  }

  /** Returns the open batches from earlier runs, which may still send. */
  foreign(): number[] {
    return this.book.open.flatMap(([batch]) => (this.mine.has(batch) ? [] : [batch]));
  }

  /** Makes one change, once all earlier changes are made and the journal can be read. */
  move(move: BookMove): Promise<KeptBooks> {
    this.underWay += 1;
    const made = this.moves.then(() => this.make(move));
    this.moves = made;
    return made;
  }

  /** Counts the cost of a batch that no longer reports. From here on, the batch sends nothing. */
  settle(batch: number, segments: readonly string[]): Promise<SettledBatch> {
    const { campaign } = this.input;
    const input: SettleBatchInput = { campaign, batch, segments };
    const settle = activity(ACTIVITY.settleBatch, {
      taskQueue: this.input.taskQueue,
      summary: `settle batch ${batch}`,
    });
    return this.available(() => settle(input));
  }

  /**
   * Counts all bills again, and changes the book if they add up to another amount. Changes nothing while the journal
   * cannot be read. @returns the number of entries that this has written
   */
  async countBills(): Promise<0 | 1> {
    for (;;) {
      const was = this.book.billed;
      const billed = await this.billed(was);
      if (billed === null || (billed === was && this.book.billed === was)) return 0;
      let kept: KeptBooks;
      do kept = await this.move({ do: 'bill', was, billed });
      while (kept.conflict === true && kept.book.billed === was);
      if (kept.book.billed === billed) return kept.conflict === true ? 0 : 1;
      // A charge with a bill was given back in the meantime.
    }
  }

  /**
   * Returns null if the journal cannot be read, and at least what was counted before if some of it is gone.
   * @param was what was counted before
   */
  private async billed(was: number): Promise<number | null> {
    const { campaign, taskQueue } = this.input;
    const count = activity(ACTIVITY.countBills, { taskQueue, summary: 'count the bills' });
    const until = this.book.next;
    let sum = 0;
    let isWhole = true;
    for (let from: number | null = 0; from !== null && from < until;) {
      const counted: CountBillsResult | null = await count({ campaign, from, until }).catch(
        async (error: unknown) => {
          await failedByHand(error);
          return null;
        },
      );
      if (counted === null || 'unavailable' in counted) return null;
      sum += counted.billed;
      isWhole &&= counted.isPartial !== true;
      from = counted.next;
    }
    return isWhole ? sum : Math.max(was, sum);
  }

  before(): number {
    return this.input.before;
  }

  save(): BudgetBookState {
    return { n: this.n, book: this.book };
  }

  private async make(move: BookMove): Promise<KeptBooks> {
    const { campaign, before } = this.input;
    const keep = activity(ACTIVITY.keepBooks, {
      taskQueue: this.input.taskQueue,
      summary: move.do === 'look' ? 'read the book' : `${move.do} in the book`,
    });
    const kept = await this.available(() =>
      keep({ campaign, before, known: this.n, budget: this.budget(), move }),
    );
    ({ n: this.n, book: this.book } = kept);
    for (const batch of kept.opened ?? []) this.mine.add(batch);
    this.known = true;
    this.underWay -= 1;
    this.onChange();
    return kept;
  }

  private async available<T extends object>(ask: () => Promise<T | BooksUnavailable>): Promise<T> {
    for (let pauseMs = AGAIN_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS))
      try {
        const answer = await ask();
        if (!('unavailable' in answer)) {
          this.held = null;
          return answer;
        }
        const until = Date.now() + pauseMs;
        this.held = { why: answer.unavailable, until, reason: null, account: null };
        this.onChange();
        await sleep(pauseMs, { summary: 'before the book is read again' });
      } catch (error) {
        await failedByHand(error);
      }
  }
}
