import { condition, workflowInfo } from '@temporalio/workflow';
import { ACTIVITY } from '../../domain/names';
import { type CallWait } from '../../domain/call-wait';
import { AdaptiveLimit } from '../../domain/campaign/adaptive-limit';
import {
  type BatchInput,
  type BatchOrders,
  type BatchResult,
  type LimitShares,
} from '../../domain/campaign/messages';
import { type OpenedPage } from '../../domain/campaign/activities';
import { type RowSet, sizeOf } from '../../domain/campaign/row-set';
import { type CampaignRowResult } from '../../domain/campaign/row';
import { batchWorkflowId } from '../../domain/campaign/book';
import { failedByHand, unlessCancelled } from '../failed-by-hand';
import { campaignPagesActivities } from '../proxies';
import { Alarm } from './alarm';
import { FEW_AT_HAND } from './campaign-settings';
import { BatchAccount } from './batch-account';
import { BatchPages, type OpenSet } from './batch-pages';
import { BatchParent } from './batch-parent';
import { BatchResults } from './batch-results';
import { batchReport, batchResult } from './batch-view';
import { Draws } from './draws';
import { endUnbought } from './end-unbought';
import { isBought, limitKeyOf, newRow, type Row } from './row';
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
/** A segment is told at latest after this, in milliseconds. */
const SEGMENT_TOLD_MS = 15_000;

/**
 * Everything one batch knows and decides; what it does is in the parts. State changes by signals and by the ends of
 * activities, each of which wakes {@link run}.
 */
export class Batch {
  readonly rows = new Set<Row>();
  readonly payer: string;
  readonly pages: BatchPages;
  readonly account: BatchAccount;
  readonly results: BatchResults;
  readonly parent: BatchParent;
  readonly alarm: Alarm;
  readonly watches: Watches;
  private readonly starts: Starts;
  private readonly draws: Draws;
  private readonly limits = new Map<string, AdaptiveLimit>();
  readonly size: number;
  private dirty = true;
  private openedAt: { readonly events: number; readonly bytes: number } | null = null;
  private leavingSince: number | null = null;
  /** What was ordered when the journal was asked last whether this run is the batch. */
  private sureOf: BatchOrders['stop'];
  private asking = false;
  private toldFew = false;
  private toldStarved = false;
  private endedSinceTold = 0;
  held: CallWait | null = null;
  /** Its account was closed, or its number is another run's: nothing of it is sent any more. */
  closed = false;
  orders: BatchOrders;

  constructor(readonly input: BatchInput) {
    const wake = () => {
      this.dirty = true;
    };
    this.orders = input.orders;
    this.sureOf = input.orders.stop;
    this.payer = batchWorkflowId(input.campaign, input.batch);
    this.pages = new BatchPages(input.rows);
    this.size = sizeOf(input.rows);
    this.account = new BatchAccount(input.orders.granted);
    this.results = new BatchResults(wake, () => {
      this.parent.tell(SEGMENT_TOLD_MS);
      wake();
    });
    this.parent = new BatchParent(input.campaign, Date.now(), wake);
    this.alarm = new Alarm(wake);
    this.watches = new Watches(this, wake);
    this.starts = new Starts(this, wake);
    this.draws = new Draws(this, wake);
  }

  /** A newer order replaces everything that was ordered before. */
  order(orders: BatchOrders): void {
    // Anybody may send a signal: one that is no order changes nothing, and a throw here would hang the batch.
    if (typeof orders?.n !== 'number' || orders.n <= this.orders.n) return;
    const { granted } = this.orders;
    this.orders = orders;
    this.account.grantNow(orders.granted);
    for (const limit of this.limits.values()) limit.setCeiling(orders.slots);
    if (orders.granted !== granted) this.parent.tell();
    this.dirty = true;
  }

  /** Works until every row has a result, or until what is left is handed back. */
  async run(): Promise<BatchResult> {
    for (;;) {
      this.dirty = false;
      const now = Date.now();
      if (this.shouldLeave()) this.leavingSince ??= now;
      this.openPages();
      this.act(now);
      this.tell(now);
      if (this.isOver(now)) return batchResult(this);
      await condition(() => this.dirty);
    }
  }

  private act(now: number): void {
    if (this.pages.areOpen()) {
      this.openedAt ??= mark();
      if (!this.isLeaving()) this.adoptBegun(now);
      if (this.mayEndUnbought()) endUnbought(this, now);
    }
    // After an outage what is finished is fetched first: links expire. Creates come last.
    if (!this.isLeaving() || this.isBuying()) this.watches.download(now);
    const needs = this.account.needs();
    if (!this.isLeaving()) {
      if (this.fullness() < 1) this.draws.start(now);
      this.starts.start(now);
    }
    if (this.account.needs() !== needs) this.parent.tell();
    const isIdle = this.isLeaving() || (this.rows.size === 0 && this.pages.unbegun() === 0);
    this.results.write(now, isIdle, this.rows.size);
  }

  private tell(now: number): void {
    const waiting = this.waiting();
    if (!this.toldFew && waiting < FEW_AT_HAND && waiting < this.size) {
      this.toldFew = true;
      this.parent.tell();
    }
    // Nothing of it is under way that could give money back: the budget may be spent.
    const isStarved = this.account.needs() !== null && this.settling() === 0;
    if (isStarved && !this.toldStarved) this.parent.tell();
    this.toldStarved = isStarved;
    if (waiting === 0 && this.endedSinceTold >= Math.max(1, this.size * STEP)) this.parent.tell();
    const dueAt = this.results.dueAt();
    if (dueAt !== null) this.alarm.at(dueAt);
    // What follows is told by the result, unless creates keep it: they may wait for a worker for a day.
    if (this.isLeaving() && !this.isBuying()) return;
    const buys = waiting > 0 && !this.orders.paused;
    const nextAt = this.parent.report(now, buys, (n) => {
      this.endedSinceTold = 0;
      return batchReport(this, n);
    });
    if (nextAt !== Infinity) this.alarm.at(nextAt);
  }

  isLeaving(): boolean {
    return this.leavingSince !== null;
  }

  mayBuy(): boolean {
    // Without money only what is bought already goes on: everything else has ended.
    const { paused, stop } = this.orders;
    return !paused && stop !== 'cancel' && !this.isLeaving();
  }

  limitOf(row: Row): AdaptiveLimit {
    const key = limitKeyOf(row);
    let limit = this.limits.get(key);
    if (limit === undefined) {
      limit = new AdaptiveLimit(this.orders.slots, this.input.limits[key]);
      this.limits.set(key, limit);
    }
    return limit;
  }

  /** What part of its slots the service takes, per (account, model); 1 where it takes all. */
  limitShares(): LimitShares {
    const shares: { [accountModel: string]: number } = {};
    for (const [key, limit] of this.limits) {
      shares[key] = Math.round(limit.share() * 100) / 100;
    }
    return shares;
  }

  /** Rows at the service. */
  inFlight(model?: string): number {
    let count = 0;
    for (const row of this.rows)
      if (row.phase !== 'waiting' && (model === undefined || limitKeyOf(row) === model)) count += 1;
    return count;
  }

  /** Rows at the service, and rows that have ended and stand in no segment yet. */
  settling(): number {
    return this.inFlight() + this.results.unwritten();
  }

  /** Rows that are not at the service, and have no result. */
  waiting(): number {
    let count = this.pages.unbegun();
    for (const { phase } of this.rows) if (phase === 'waiting') count += 1;
    return count;
  }

  begin(set: OpenSet, index: number, now: number): Row {
    const row = newRow(set, index, now);
    if (isBought(this.input.campaign, row)) row.begun = Math.max(row.begun, row.attempt);
    set.begin(index);
    this.rows.add(row);
    return row;
  }

  /** The row is over; its result goes into the next segment. */
  end(row: Row, result: CampaignRowResult): void {
    this.rows.delete(row);
    this.endedSinceTold += 1;
    const { set, index, opened, spec } = row;
    const { estimate } = spec;
    this.results.add({ set, index, result, was: opened.was, estimate, endedAt: Date.now() });
  }

  /** Somebody else has closed the account of this batch, or runs under its number. */
  close(): void {
    this.closed = true;
    this.dirty = true;
  }

  private shouldLeave(): boolean {
    if (this.orders.handBack || this.parent.gone || this.closed) return true;
    // An image call may take minutes, in which videos go on; no other begins meanwhile.
    return this.fullness() >= (this.draws.areOpen() ? WITH_DRAWS : 1);
  }

  /** How full its history is: 1 or more where it should leave. */
  private fullness(): number {
    // Opening its pages must not end it: the batch after it would open them as well, and so on for ever.
    if (this.openedAt === null) return 0;
    const { events, bytes } = mark();
    const most = Math.max(LEAST_EVENTS, this.input.settings.eventsPerRun);
    const ofEvents = (events - this.openedAt.events) / most;
    return Math.max(ofEvents, (bytes - this.openedAt.bytes) / MAX_BYTES);
  }

  private openPages(): void {
    if (this.isLeaving()) return;
    for (const set of this.pages.unopened()) {
      set.opening = true;
      void this.openPage(set);
    }
  }

  private async openPage(open: OpenSet): Promise<void> {
    try {
      const opened = await this.look(open.set);
      if (opened.closed === true) this.close();
      else open.open(opened);
    } catch (error) {
      // Begun anew by the next turn of the loop. A batch that is cancelled ends without it.
      await failedByHand(error).catch(unlessCancelled);
    } finally {
      open.opening = false;
      this.dirty = true;
    }
  }

  private look({ index, page, rows }: RowSet): Promise<OpenedPage> {
    const activities = campaignPagesActivities({ summary: `open page ${page}` });
    const { campaign } = this.input;
    const wanted = rows === undefined ? {} : { rows };
    return activities[ACTIVITY.openPage]({ index, page, campaign, payer: this.payer, ...wanted });
  }

  /**
   * Whether rows may end as not bought: not before the journal has said, since that was ordered, that no other run of this
   * batch has bought them. One that was reset by hand hears its orders again, and knows nothing of what it sent.
   */
  private mayEndUnbought(): boolean {
    const { stop } = this.orders;
    if (stop === null) this.sureOf = null;
    if (stop === this.sureOf) return true;
    const [first] = this.pages.all;
    if (!this.asking && first !== undefined) void this.makeSure(stop, first.set);
    return false;
  }

  private async makeSure(stop: BatchOrders['stop'], set: RowSet): Promise<void> {
    this.asking = true;
    try {
      const { closed } = await this.look({ ...set, rows: '' });
      if (closed === true) this.close();
      else this.sureOf = stop;
    } catch (error) {
      await failedByHand(error).catch(unlessCancelled);
    } finally {
      this.asking = false;
      this.dirty = true;
    }
  }

  /** Rows that were begun before come first, all at once: what is bought is paid for. */
  private adoptBegun(now: number): void {
    for (const set of this.pages.all) {
      if (set.sought) continue;
      set.sought = true;
      for (const index of set.unbegun()) {
        const { begun, bought = 0, changed } = set.row(index).opened;
        // Of a row with another text only what is on no books: it is looked up to be put there.
        if (begun === undefined || (changed === true && bought === 0)) continue;
        const row = this.begin(set, index, now);
        const created = set.takeCreated(index);
        if (created !== undefined) this.watches.begin(row, created, now);
      }
    }
  }

  private isBuying(): boolean {
    for (const { phase } of this.rows) if (phase === 'creating' || phase === 'drawing') return true;
    return false;
  }

  private isOver(now: number): boolean {
    if (this.isBuying() || this.results.unwritten() > 0 || this.parent.isSending()) return false;
    if (this.rows.size === 0 && this.pages.areOpen() && this.pages.unbegun() === 0) return true;
    if (this.leavingSince === null) return false;
    const patientUntil = this.leavingSince + PATIENCE_MS;
    if (this.watches.isFetching() && now < patientUntil) {
      this.alarm.at(patientUntil);
      return false;
    }
    // Nothing is polled from here on; a tick that is under way is waited for.
    if (!this.watches.stop()) return false;
    this.dropReserved();
    return true;
  }

  /** Rows that wait for the service hold money that nothing was bought for. */
  private dropReserved(): void {
    for (const row of this.rows)
      if (row.phase === 'waiting' && row.create?.unknown === undefined) {
        this.account.giveBack(row.cost);
        row.cost = 0;
      }
  }
}

function mark() {
  const { historyLength, historySize } = workflowInfo();
  return { events: historyLength, bytes: historySize };
}
