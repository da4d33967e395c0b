import { workflowInfo } from '@temporalio/workflow';
import { type LaneEntry } from '../../domain/campaign/lane-entry';
import { type LeaseBook } from '../../domain/campaign/lease-book';
import { PAGE_ROWS } from '../../domain/campaign/plan';
import { failedByHand } from '../failed-by-hand';
import { findPurchasesActivity } from '../proxies';

const STRANGERS =
  'Lanes of an earlier campaign under this id are still ending: no money is given out until all that they bought is known.';

/**
 * What was bought of pages that no lane has opened, by lanes that are gone: this campaign was reset, or started again
 * under its id. Until the journal was asked, no money is given out: it may be spent.
 */
export class Purchases {
  private looking = false;
  private again = false;
  private looked = false;
  private awaitsStrangers = false;

  constructor(
    private readonly book: LeaseBook,
    private readonly onChange: () => void,
    /** Returns when no lane of another campaign under this id buys any more; null when an earlier run has waited for that. */
    private strangersEnd: (() => Promise<void>) | null,
    /** There was a campaign under this id before, so that lanes of it may be about to buy what no journal knows yet. */
    private readonly followsAnother: boolean,
  ) {}

  isLooking(): boolean {
    return this.looking;
  }

  /**
   * The first look, and the wait for strangers that may follow: a page that a lane opened meanwhile would not be looked at
   * again, and strangers may still buy on it.
   */
  isFirstLook(): boolean {
    return this.looking && !this.looked && this.strangersEnd !== null;
  }

  /** What a person should know who wonders why no money is given out. */
  notes(): string[] {
    return this.awaitsStrangers ? [STRANGERS] : [];
  }

  /** There are new pages, or a lane is gone. */
  look(): void {
    this.again = true;
    if (!this.looking) void this.run();
  }

  /**
   * Whether money that was found is in no lane's account yet, so that nobody can say that the budget is spent: it may
   * turn out to have bought nothing. Gives out the pages that it was found in.
   * @param share rows that each lane may have in flight
   */
  areAwaited(lanes: readonly LaneEntry[], share: number): boolean {
    const { lent, ahead } = this.book.foundMoney();
    if (lent > 0 || ahead === 0) return lent > 0;
    for (const { lane, waiting, settling } of lanes) {
      // No more than it can collect: what was bought it takes up all at once.
      const hasRoom = settling === 0 || waiting < share + PAGE_ROWS;
      if (hasRoom && this.book.of(lane).every(({ seen }) => seen === true)) this.book.lend(lane);
    }
    return true;
  }

  /** Lanes of a campaign under this id that was terminated may go on until they are told. */
  private mayHaveStrangers(): boolean {
    if (this.strangersEnd === null) return false;
    const { lent, ahead } = this.book.foundMoney();
    return lent + ahead > 0 || this.followsAnother;
  }

  private async run(): Promise<void> {
    this.looking = true;
    while (this.again) {
      this.again = false;
      const ranges = this.book.unseen();
      if (ranges.length === 0) continue;
      const find = findPurchasesActivity({ summary: 'look for what was bought' });
      try {
        this.book.find(ranges, await find({ campaign: workflowInfo().workflowId, ranges }));
        this.awaitsStrangers = this.mayHaveStrangers();
        if (this.awaitsStrangers) {
          await this.strangersEnd?.();
          this.awaitsStrangers = false;
          this.strangersEnd = null;
          this.again = true;
        }
      } catch (error) {
        // Without it money could be spent twice.
        await failedByHand(error);
        this.again = true;
      }
    }
    this.looking = false;
    this.looked = true;
    this.onChange();
  }
}
