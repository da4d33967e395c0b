import { type CallWait } from '../../domain/call-wait';
import { AdaptiveLimit } from '../../domain/campaign/adaptive-limit';
import { batchWorkflowId } from '../../domain/campaign/budget-book';
import { type BatchInput, type BatchOrders, type LimitShares } from '../../domain/campaign/messages';
import { type CampaignRowResult } from '../../domain/campaign/row';
import { sizeOf } from '../../domain/campaign/row-set';
import { Alarm } from './alarm';
import { BatchBudget } from './batch-budget';
import { BatchPages, type OpenSet } from './batch-pages';
import { BatchParent } from './batch-parent';
import { BatchResults } from './batch-results';
import { isBought, limitKeyOf, newRow, type Row } from './row';

/** A segment is reported within this time, in milliseconds. */
const SEGMENT_REPORT_MS = 15_000;
/** How long a wait is reported after its end, in milliseconds: the next attempt may renew it. */
const HELD_FOR_MS = 60_000;

/** The state that the parts of a batch share: rows, orders, money and limits. */
export class BatchWork {
  readonly payer: string;
  readonly size: number;
  readonly rows = new Set<Row>();
  readonly pages: BatchPages;
  readonly account: BatchBudget;
  readonly results: BatchResults;
  readonly parent: BatchParent;
  readonly alarm: Alarm;
  private readonly limits = new Map<string, AdaptiveLimit>();
  private held: CallWait | null = null;
  orders: BatchOrders;
  /** Its account was closed, or another run owns the batch: it sends nothing more. */
  closed = false;
  /** When it started to hand back, in workflow time; null before. */
  leavingSince: number | null = null;
  endedSinceReport = 0;

  constructor(
    readonly input: BatchInput,
    readonly wake: () => void,
  ) {
    this.orders = input.orders;
    this.payer = batchWorkflowId(input.campaign, input.batch);
    this.pages = new BatchPages(input.rows);
    this.size = sizeOf(input.rows);
    this.account = new BatchBudget(input.orders.granted);
    this.results = new BatchResults(wake, () => {
      this.parent.notify(SEGMENT_REPORT_MS);
      wake();
    });
    this.parent = new BatchParent(input.campaign, Date.now(), wake);
    this.alarm = new Alarm(wake);
  }

  /** Newer orders replace all earlier ones. */
  order(orders: BatchOrders): void {
    if (orders.n <= this.orders.n) return;
    const { granted } = this.orders;
    this.orders = orders;
    this.account.grantNow(orders.granted);
    for (const limit of this.limits.values()) limit.setCeiling(orders.slots);
    if (orders.granted !== granted) this.parent.notify();
    this.wake();
  }

  begin(set: OpenSet, index: number, now: number): Row {
    const row = newRow(set, index, now);
    if (isBought(this.input.campaign, row)) row.started = Math.max(row.started, row.attempt);
    set.begin(index);
    this.rows.add(row);
    return row;
  }

  /** Ends a row; its result goes into the next segment. */
  end(row: Row, result: CampaignRowResult): void {
    this.rows.delete(row);
    this.endedSinceReport += 1;
    const { set, index, opened, spec } = row;
    const { estimate } = spec;
    this.results.add({ set, index, result, was: opened.was, estimate, endedAt: Date.now() });
  }

  /** Records a wait of a row, and reports it unless others already wait. Null: the service accepts rows again. */
  hold(wait: CallWait | null): void {
    const isNews = wait !== null && this.heldNow(Date.now()) === null;
    this.held = wait;
    if (isNews) this.parent.notify();
  }

  heldNow(now: number): CallWait | null {
    return this.held !== null && now < this.held.until + HELD_FOR_MS ? this.held : null;
  }

  /** Called when the account of this batch was closed, or another run owns the batch. */
  close(): void {
    this.closed = true;
    this.wake();
  }

  isLeaving(): boolean {
    return this.leavingSince !== null;
  }

  mayBuy(): boolean {
    // After the stop `budget` only bought rows continue: all others have ended.
    const { paused, stop } = this.orders;
    return !paused && stop !== 'cancel' && !this.isLeaving();
  }

  /** Whether a paid call is open. */
  isBuying(): boolean {
    for (const { phase } of this.rows) if (phase === 'creating' || phase === 'generating') return true;
    return false;
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

  /** The share of its slots that the service accepts, per (account, model); 1 where it accepts all. */
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

  /** Rows at the service, and rows that have ended and are in no segment yet. */
  settling(): number {
    return this.inFlight() + this.results.unwritten();
  }

  /** Rows that are not at the service and have no result. */
  waiting(): number {
    let count = this.pages.unstarted();
    for (const { phase } of this.rows) if (phase === 'waiting') count += 1;
    return count;
  }

  /** Gives back the money of rows that wait for the service and have bought nothing. */
  dropReserved(): void {
    for (const row of this.rows)
      if (row.phase === 'waiting' && row.create?.unknown === undefined) {
        this.account.giveBack(row.cost);
        row.cost = 0;
      }
  }
}
