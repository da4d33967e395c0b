import { condition } from '@temporalio/workflow';
import { ACTIVITY } from '../../domain/names';
import { type OpenedPage } from '../../domain/campaign/activities';
import { type BatchInput, type BatchOrders, type BatchResult } from '../../domain/campaign/messages';
import { type RowSet } from '../../domain/campaign/row-set';
import { failedByHand, unlessCancelled } from '../timers';
import { activity } from '../proxies';
import { type OpenSet } from './batch-pages';
import { batchReport, batchResult } from './batch-view';
import { BatchWork } from './batch-work';
import { FEW_AT_HAND } from '../../domain/campaign/batch-size';
import { fullnessSince, type HistorySize, historyNow, isFull } from './history-limits';
import { ImageCalls } from './image-calls';
import { endUnbought } from './end-unbought';
import { Starts } from './starts';
import { Watches } from './watches';

/** How long a batch that hands back waits for open downloads, in milliseconds; the next batch starts them again. */
const DOWNLOAD_GRACE_MS = 15_000;
/** The share of a batch's rows that has to end before it reports again: their slots may go to other batches. */
const STEP = 1 / 40;

/** The loop of one batch. Signals and completed activities change its state, and each of them wakes {@link run}. */
export class Batch {
  readonly work: BatchWork;
  private readonly watches: Watches;
  private readonly starts: Starts;
  private readonly imageCalls: ImageCalls;
  private dirty = true;
  private openedAt: HistorySize | null = null;
  /** The stop order when the journal last confirmed that this run owns the batch. */
  private confirmedStop: BatchOrders['stop'];
  private confirming = false;
  private reportedFew = false;
  private reportedStarved = false;

  constructor(input: BatchInput) {
    this.confirmedStop = input.orders.stop;
    this.work = new BatchWork(input, () => {
      this.dirty = true;
    });
    this.watches = new Watches(this.work);
    this.starts = new Starts(this.work, this.watches);
    this.imageCalls = new ImageCalls(this.work);
  }

  /** Runs until every row has a result, or until the remaining rows are handed back. */
  async run(): Promise<BatchResult> {
    for (;;) {
      this.dirty = false;
      const now = this.work.alarm.now();
      if (this.shouldLeave()) this.work.leavingSince ??= now;
      this.openPages();
      this.act(now);
      this.report(now);
      if (this.isOver(now)) return batchResult(this.work, this.watches.lastTickAt());
      await condition(() => this.dirty);
    }
  }

  private act(now: number): void {
    const { work } = this;
    const { pages, budget } = work;
    if (pages.areOpen()) {
      this.openedAt ??= historyNow();
      if (!work.isLeaving()) this.adoptStarted(now);
      if (this.mayEndUnbought()) endUnbought(work, now);
    }
    // After an outage finished videos are downloaded first, because links expire. Creates come last.
    if (!work.isLeaving() || work.isBuying()) this.watches.download();
    const needs = budget.needs();
    if (!work.isLeaving()) {
      if (!isFull(this.fullness(), false)) this.imageCalls.start(now);
      this.starts.start(now);
    }
    if (budget.needs() !== needs) work.parent.notify();
    const isIdle = work.isLeaving() || (work.rows.size === 0 && pages.unstarted() === 0);
    work.results.write(now, isIdle, work.rows.size);
  }

  private report(now: number): void {
    const { work } = this;
    const { parent, alarm, size } = work;
    const waiting = work.waiting();
    if (!this.reportedFew && waiting < FEW_AT_HAND && waiting < size) {
      this.reportedFew = true;
      parent.notify();
    }
    // Nothing in flight could give money back: the budget may be spent.
    const isStarved = work.budget.needs() !== null && work.settling() === 0;
    if (isStarved && !this.reportedStarved) parent.notify();
    this.reportedStarved = isStarved;
    if (waiting === 0 && work.endedSinceReport >= Math.max(1, size * STEP)) parent.notify();
    const dueAt = work.results.dueAt();
    if (dueAt !== null) alarm.at(dueAt);
    // The result reports the rest, unless open creates delay it: they may wait a day for a worker.
    if (work.isLeaving() && !work.isBuying()) return;
    const buys = waiting > 0 && !work.orders.paused;
    const nextAt = parent.report(now, buys, (n) => {
      work.endedSinceReport = 0;
      return batchReport(work, n);
    });
    if (nextAt !== Infinity) alarm.at(nextAt);
  }

  private shouldLeave(): boolean {
    const { orders, parent, closed } = this.work;
    if (orders.handBack || parent.gone || closed) return true;
    return isFull(this.fullness(), this.imageCalls.areOpen());
  }

  private fullness(): number {
    // Opening the pages does not count: the next batch would have to open them again, and so on for ever.
    return this.openedAt === null ? 0 : fullnessSince(this.openedAt, this.work.input.settings.eventsPerRun);
  }

  private openPages(): void {
    const { work } = this;
    if (work.isLeaving()) return;
    for (const set of work.pages.unopened()) {
      set.opening = true;
      void this.openPage(set);
    }
  }

  private async openPage(open: OpenSet): Promise<void> {
    try {
      const opened = await this.runOpenPage(open.set);
      if (opened.closed === true) this.work.close();
      else open.open(opened);
    } catch (error) {
      // The next round of the loop opens the page again. A cancelled batch ends without it.
      await failedByHand(error).catch(unlessCancelled);
    } finally {
      open.opening = false;
      this.dirty = true;
    }
  }

  private runOpenPage({ index, page, rows }: RowSet): Promise<OpenedPage> {
    const open = activity(ACTIVITY.openPage, { summary: `open page ${page}` });
    const { input, payer } = this.work;
    const only = rows === undefined ? {} : { rows };
    return open({ index, page, campaign: input.campaign, payer, ...only });
  }

  /**
   * Whether rows may end as not bought: only after the journal has confirmed, since the stop was ordered, that no other
   * run of this batch has bought them. A batch that was reset by hand gets its orders again and does not know what it
   * sent.
   */
  private mayEndUnbought(): boolean {
    const { orders, pages } = this.work;
    if (orders.stop === null) this.confirmedStop = null;
    if (orders.stop === this.confirmedStop) return true;
    const [first] = pages.all;
    if (!this.confirming && first !== undefined) void this.confirmStop(orders.stop, first.set);
    return false;
  }

  private async confirmStop(stop: BatchOrders['stop'], set: RowSet): Promise<void> {
    this.confirming = true;
    try {
      const { closed } = await this.runOpenPage({ ...set, rows: '' });
      if (closed === true) this.work.close();
      else this.confirmedStop = stop;
    } catch (error) {
      await failedByHand(error).catch(unlessCancelled);
    } finally {
      this.confirming = false;
      this.dirty = true;
    }
  }

  /** Starts all rows that were started before, ahead of the others, because they are paid for. */
  private adoptStarted(now: number): void {
    for (const set of this.work.pages.all) {
      if (set.sought) continue;
      set.sought = true;
      for (const index of set.unstarted()) {
        const { started, bought = 0, changed } = set.row(index).opened;
        // A row with a changed text is looked up only for attempts that are not on the books, to enter them.
        if (started === undefined || (changed === true && bought === 0)) continue;
        const row = this.work.begin(set, index, now);
        const created = set.takeCreated(index);
        if (created !== undefined) this.watches.begin(row, created, now);
      }
    }
  }

  private isOver(now: number): boolean {
    const { work } = this;
    const { results, parent, rows, pages, leavingSince } = work;
    if (work.isBuying() || results.unwritten() > 0 || parent.isSending()) return false;
    if (rows.size === 0 && pages.areOpen() && pages.unstarted() === 0) return true;
    if (leavingSince === null) return false;
    const graceEndsAt = leavingSince + DOWNLOAD_GRACE_MS;
    if (this.watches.isFetching() && now < graceEndsAt) {
      work.alarm.at(graceEndsAt);
      return false;
    }
    // No poll starts from here on; wait for a tick that is in progress.
    if (!this.watches.stop()) return false;
    work.dropReserved();
    return true;
  }
}
