import { getExternalWorkflowHandle } from '@temporalio/workflow';
import { throwBug } from '../../domain/bug';
import {
  type BatchInput,
  type BatchOrders,
  type BatchReport,
  type LimitShares,
} from '../../domain/campaign/batch-messages';
import { batchWorkflowId } from '../../domain/campaign/budget-book';
import { AdaptiveLimit } from '../../domain/campaign/concurrency';
import { type CampaignRowResult } from '../../domain/campaign/row';
import { sizeOf } from '../../domain/campaign/row-sets';
import { BATCH_CLOSED, SIGNAL } from '../../domain/names';
import { type CallWait } from '../../domain/video-state';
import { Alarm } from '../timers';
import { BatchPages, costOfRow, isBought, limitKeyOf, newRow, type OpenSet, type Row } from './batch-rows';
import { BatchResults } from './result-segments';

/** Whether a paid call was refused because the batch's budget is closed, or because another run owns the batch. */
export function isBatchClosed(answer: object): boolean {
  return 'cause' in answer && answer.cause === BATCH_CLOSED;
}

/** Maximum time before a segment is reported, in milliseconds. */
const SEGMENT_REPORT_MS = 15_000;
/** How long a wait is still reported after its end, in milliseconds. The next attempt may renew the wait. */
const HELD_FOR_MS = 60_000;

/** The state that a batch's parts share: rows, orders, money and limits. */
export class BatchWork {
  readonly payer: string;
  readonly size: number;
  readonly rows = new Set<Row>();
  readonly pages: BatchPages;
  readonly budget: BatchBudget;
  readonly results: BatchResults;
  readonly parent: BatchParent;
  readonly alarm: Alarm;
  private readonly limits = new Map<string, AdaptiveLimit>();
  private held: CallWait | null = null;
  orders: BatchOrders;
  /** Whether its budget was closed or another run owns the batch. If so, it sends nothing more. */
  closed = false;
  /** When it started to hand back its rows, in workflow time; null until then. */
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
    this.budget = new BatchBudget(input.orders.granted);
    this.results = new BatchResults(wake, () => {
      this.parent.notify(SEGMENT_REPORT_MS);
      wake();
    });
    this.parent = new BatchParent(input.campaign, Date.now(), wake);
    this.alarm = new Alarm(wake);
  }

  /** Replaces the current orders if the given ones are newer. */
  order(orders: BatchOrders): void {
    if (orders.n <= this.orders.n) return;
    const { granted } = this.orders;
    this.orders = orders;
    this.budget.granted = orders.granted;
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

  /** Ends a row and adds its result to the next segment. */
  end(row: Row, result: CampaignRowResult): void {
    this.rows.delete(row);
    this.endedSinceReport += 1;
    const { set, index, opened, spec } = row;
    const { estimate } = spec;
    this.results.add({ set, index, result, was: opened.was, estimate, endedAt: Date.now() });
  }

  /**
   * Records a row's wait, and reports it unless other rows are already waiting. Null means that the service accepts
   * calls again.
   */
  hold(wait: CallWait | null): void {
    const isNews = wait !== null && this.heldNow(Date.now()) === null;
    this.held = wait;
    if (isNews) this.parent.notify();
  }

  heldNow(now: number): CallWait | null {
    return this.held !== null && now < this.held.until + HELD_FOR_MS ? this.held : null;
  }

  close(): void {
    this.closed = true;
    this.wake();
  }

  isLeaving(): boolean {
    return this.leavingSince !== null;
  }

  mayBuy(): boolean {
    // After a `budget` stop order, only rows that were already bought continue. All others have ended.
    const { paused, stop } = this.orders;
    return !paused && stop !== 'cancel' && !this.isLeaving();
  }

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

  /**
   * Whether another call for the row's account and model may start. If not, sets the alarm for the time when it may.
   * @param open number of calls in progress for this account and model
   */
  hasRoom(row: Row, open: number, now: number): boolean {
    const limit = this.limitOf(row);
    if (limit.room(open, now) > 0) return true;
    if (limit.opensAt() > now) this.alarm.at(limit.opensAt());
    return false;
  }

  /**
   * Takes the money for an attempt. A row that waited for the service has already taken it. @returns whether there was
   * enough
   */
  takeMoney(row: Row): boolean {
    if (row.create !== null || row.cost > 0) return true;
    const cost = costOfRow(this.input.campaign, row);
    if (!this.budget.take(cost)) return false;
    row.cost = cost;
    return true;
  }

  /** Returns the share of slots that the service accepts, per account and model; 1 means all of them. */
  limitShares(): LimitShares {
    const shares: { [accountModel: string]: number } = {};
    for (const [key, limit] of this.limits) shares[key] = Math.round(limit.share() * 100) / 100;
    return shares;
  }

  inFlight(model?: string): number {
    let count = 0;
    for (const row of this.rows)
      if (row.phase !== 'waiting' && (model === undefined || limitKeyOf(row) === model)) count += 1;
    return count;
  }

  /** Returns the number of rows at the service, plus rows that have ended but are not in a segment yet. */
  settling(): number {
    return this.inFlight() + this.results.unwritten();
  }

  /** Returns the number of rows that are not at the service and have no result. */
  waiting(): number {
    let count = this.pages.unstarted();
    for (const { phase } of this.rows) if (phase === 'waiting') count += 1;
    return count;
  }

  /** Gives back the money of rows that are waiting for the service and have bought nothing. */
  dropReserved(): void {
    for (const row of this.rows)
      if (row.phase === 'waiting' && row.create?.unknown === undefined) {
        this.budget.giveBack(row.cost);
        row.cost = 0;
      }
  }
}

/**
 * A batch's money, in integer micro-units. The book grants the batch an amount. Before each send, the batch takes the
 * price of the call from this amount, and it gives back the price of calls that provably bought nothing. Without a
 * budget, there is no limit.
 */
class BatchBudget {
  /** Creation keys of attempts that cost nothing even though the journal records them as bought. */
  readonly free = new Set<string>();
  /** The total amount that its rows have taken. */
  taken = 0;
  /** The smallest recent estimate that did not fit into the grant. */
  private lacked = 0;

  constructor(public granted: number | null) {}

  /** Takes `cost` from the grant. @returns whether it fit */
  take(cost: number): boolean {
    if (this.granted !== null && cost > 0 && this.taken + cost > this.granted) {
      this.lacked = Math.min(this.needs() ?? cost, cost);
      return false;
    }
    this.taken += cost;
    return true;
  }

  giveBack(cost: number): void {
    this.taken -= cost;
  }

  /** Returns the estimate of the cheapest row that is waiting for money; null if none is. */
  needs(): number | null {
    const { granted, taken, lacked } = this;
    return granted !== null && lacked > 0 && taken + lacked > granted ? lacked : null;
  }
}

/**
 * In milliseconds: the minimum time between two reports, the delay before the first report, and the maximum time
 * between two reports as long as the batch may still buy.
 */
const PACE_MS = 1_000;
const FIRST_MS = 3_000;
const SIGN_OF_LIFE_MS = 120_000;

/** Sends a batch's reports to its campaign. Every report contains the batch's complete state. */
class BatchParent {
  private lastAt: number;
  private dueAt: number;
  private sending = false;
  private n = 0;
  /** Whether the last report could not be delivered. If so, nothing more is started. */
  gone = false;

  constructor(
    private readonly campaign: string,
    now: number,
    private readonly onChange: () => void,
  ) {
    this.lastAt = now;
    this.dueAt = now + FIRST_MS;
  }

  /** Requests a report, to be sent no later than `withinMs` milliseconds after the last one. */
  notify(withinMs = PACE_MS): void {
    this.dueAt = Math.min(this.dueAt, this.lastAt + withinMs);
  }

  /**
   * Sends a report if one is due.
   * @param buys whether the batch may still buy, in which case a report is due at least every two minutes
   * @returns when the next report is due, in workflow time
   */
  report(now: number, buys: boolean, make: (n: number) => BatchReport): number {
    if (this.sending || this.gone) return Infinity;
    const dueAt = buys ? Math.min(this.dueAt, this.lastAt + SIGN_OF_LIFE_MS) : this.dueAt;
    if (now < dueAt) return dueAt;
    this.n = this.nextNumber(now);
    this.sending = true;
    this.lastAt = now;
    this.dueAt = Infinity;
    void this.send(make(this.n));
    return Infinity;
  }

  isSending(): boolean {
    return this.sending;
  }

  /**
   * Returns a number greater than all earlier ones, including those from a run that a reset has undone. Uses workflow
   * time, which never goes backward.
   */
  nextNumber(now: number): number {
    return Math.max(this.n + 1, now);
  }

  private async send(report: BatchReport): Promise<void> {
    try {
      await getExternalWorkflowHandle(this.campaign).signal(SIGNAL.campaignReport, report);
    } catch (error) {
      throwBug(error);
      // The signal fails if no workflow with that ID is running, that is, if the campaign was terminated but this batch
      // was not.
      this.gone = true;
    }
    this.sending = false;
    this.onChange();
  }
}
