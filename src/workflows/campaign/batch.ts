import { condition, workflowInfo } from '@temporalio/workflow';
import { ACTIVITY } from '../../domain/names';
import { type OpenedPage } from '../../domain/campaign/activities';
import { type BatchInput, type BatchOrders, type BatchResult } from '../../domain/campaign/messages';
import { type RowSet } from '../../domain/campaign/row-set';
import { failedByHand, unlessCancelled } from '../timers';
import { campaignPagesActivities } from '../proxies';
import { type OpenSet } from './batch-pages';
import { batchReport, batchResult } from './batch-view';
import { BatchWork } from './batch-work';
import { FEW_AT_HAND } from './campaign-settings';
import { ImageCalls } from './image-calls';
import { endUnbought } from './end-unbought';
import { Starts } from './starts';
import { Watches } from './watches';

/** A history of so many bytes is full too: a server warns of one of 10 MB. What it suggests comes at half of this. */
const MAX_BYTES = 8_000_000;
/** Enough to poll and to fetch what was bought before: with fewer, batches would hand rows on and on. */
const LEAST_EVENTS = 50;
/** While image calls are open the history of a batch may become this many times as full as it should be. */
const WITH_DRAWS = 1.5;
/** How long a batch that leaves waits for downloads under way; the next one starts them again. */
const PATIENCE_MS = 15_000;
/** The part of a batch's rows that have to end before it reports again: their slots may go to other batches. */
const STEP = 1 / 40;

/** The loop of one batch. State changes by signals and by the ends of activities, each of which wakes {@link run}. */
export class Batch {
  readonly work: BatchWork;
  private readonly watches: Watches;
  private readonly starts: Starts;
  private readonly imageCalls: ImageCalls;
  private dirty = true;
  private openedAt: { readonly events: number; readonly bytes: number } | null = null;
  /** What was ordered when the journal was asked last whether this run is the batch. */
  private sureOf: BatchOrders['stop'];
  private asking = false;
  private reportedFew = false;
  private reportedStarved = false;

  constructor(input: BatchInput) {
    this.sureOf = input.orders.stop;
    this.work = new BatchWork(input, () => {
      this.dirty = true;
    });
    this.watches = new Watches(this.work);
    this.starts = new Starts(this.work, this.watches);
    this.imageCalls = new ImageCalls(this.work);
  }

  /** Works until every row has a result, or until what is left is handed back. */
  async run(): Promise<BatchResult> {
    for (;;) {
      this.dirty = false;
      const now = Date.now();
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
    const { pages, account } = work;
    if (pages.areOpen()) {
      this.openedAt ??= mark();
      if (!work.isLeaving()) this.adoptStarted(now);
      if (this.mayEndUnbought()) endUnbought(work, now);
    }
    // After an outage what is finished is fetched first: links expire. Creates come last.
    if (!work.isLeaving() || work.isBuying()) this.watches.download(now);
    const needs = account.needs();
    if (!work.isLeaving()) {
      if (this.fullness() < 1) this.imageCalls.start(now);
      this.starts.start(now);
    }
    if (account.needs() !== needs) work.parent.notify();
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
    // Nothing of it is under way that could give money back: the budget may be spent.
    const isStarved = work.account.needs() !== null && work.settling() === 0;
    if (isStarved && !this.reportedStarved) parent.notify();
    this.reportedStarved = isStarved;
    if (waiting === 0 && work.endedSinceReport >= Math.max(1, size * STEP)) parent.notify();
    const dueAt = work.results.dueAt();
    if (dueAt !== null) alarm.at(dueAt);
    // What follows is told by the result, unless creates keep it: they may wait for a worker for a day.
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
    // An image call may take minutes, in which videos go on; no other begins meanwhile.
    return this.fullness() >= (this.imageCalls.areOpen() ? WITH_DRAWS : 1);
  }

  /** How full its history is: 1 or more where it should leave. */
  private fullness(): number {
    // Opening its pages must not end it: the batch after it would open them as well, and so on for ever.
    if (this.openedAt === null) return 0;
    const { events, bytes } = mark();
    const most = Math.max(LEAST_EVENTS, this.work.input.settings.eventsPerRun);
    const ofEvents = (events - this.openedAt.events) / most;
    return Math.max(ofEvents, (bytes - this.openedAt.bytes) / MAX_BYTES);
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
      const opened = await this.look(open.set);
      if (opened.closed === true) this.work.close();
      else open.open(opened);
    } catch (error) {
      // Started anew by the next turn of the loop. A batch that is cancelled ends without it.
      await failedByHand(error).catch(unlessCancelled);
    } finally {
      open.opening = false;
      this.dirty = true;
    }
  }

  private look({ index, page, rows }: RowSet): Promise<OpenedPage> {
    const activities = campaignPagesActivities({ summary: `open page ${page}` });
    const { input, payer } = this.work;
    const wanted = rows === undefined ? {} : { rows };
    return activities[ACTIVITY.openPage]({ index, page, campaign: input.campaign, payer, ...wanted });
  }

  /**
   * Whether rows may end as not bought: not before the journal has said, since that was ordered, that no other run of this
   * batch has bought them. One that was reset by hand hears its orders again, and knows nothing of what it sent.
   */
  private mayEndUnbought(): boolean {
    const { orders, pages } = this.work;
    if (orders.stop === null) this.sureOf = null;
    if (orders.stop === this.sureOf) return true;
    const [first] = pages.all;
    if (!this.asking && first !== undefined) void this.makeSure(orders.stop, first.set);
    return false;
  }

  private async makeSure(stop: BatchOrders['stop'], set: RowSet): Promise<void> {
    this.asking = true;
    try {
      const { closed } = await this.look({ ...set, rows: '' });
      if (closed === true) this.work.close();
      else this.sureOf = stop;
    } catch (error) {
      await failedByHand(error).catch(unlessCancelled);
    } finally {
      this.asking = false;
      this.dirty = true;
    }
  }

  /** Rows that were started before come first, all at once: what is bought is paid for. */
  private adoptStarted(now: number): void {
    for (const set of this.work.pages.all) {
      if (set.sought) continue;
      set.sought = true;
      for (const index of set.unstarted()) {
        const { started, bought = 0, changed } = set.row(index).opened;
        // Of a row with another text only what is on no books: it is looked up to be put there.
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
    const patientUntil = leavingSince + PATIENCE_MS;
    if (this.watches.isFetching() && now < patientUntil) {
      work.alarm.at(patientUntil);
      return false;
    }
    // Nothing is polled from here on; a tick that is under way is waited for.
    if (!this.watches.stop()) return false;
    work.dropReserved();
    return true;
  }
}

function mark() {
  const { historyLength, historySize } = workflowInfo();
  return { events: historyLength, bytes: historySize };
}
