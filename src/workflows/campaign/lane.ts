import { condition } from '@temporalio/workflow';
import { ACTIVITY } from '../../domain/names';
import { type CallWait } from '../../domain/call-wait';
import { AdaptiveLimit } from '../../domain/campaign/adaptive-limit';
import { type LaneCarried, type LaneInput, type RowRecord } from '../../domain/campaign/lane-state';
import { type LaneOrders } from '../../domain/campaign/messages';
import { packRows } from '../../domain/campaign/row-set';
import { bookedMoney } from '../../domain/campaign/row-result';
import { type CampaignRowResult } from '../../domain/campaign/row';
import { failedByHand, unlessCancelled } from '../failed-by-hand';
import { campaignPagesActivities } from '../proxies';
import { dropWaiting, endUnbought } from './end-unbought';
import { Alarm } from './lane-alarm';
import { LaneBudget } from './lane-budget';
import { carryLane, forget, restoreRows } from './lane-carry';
import { LaneDrain } from './lane-drain';
import { LaneDraws } from './lane-draws';
import { laneReport, pageRoom } from './lane-view';
import { LanePages, type OpenLease } from './lane-pages';
import { LaneParent } from './lane-parent';
import { LaneResults } from './lane-results';
import { isBought, limitKeyOf, type LaneRow, newRow } from './lane-row';
import { LaneStarts } from './lane-starts';
import { LaneWatches } from './lane-watches';
import { RunFill } from './run-fill';
import { seekBegun } from './seek-begun';

/** How long a lane without a parent keeps its results for one that comes back. */
const ORPHAN_MS = 24 * 60 * 60_000;

/**
 * Everything one lane knows and decides; what it does is in the parts. State changes by signals and by the ends of
 * activities, each of which wakes {@link run}.
 */
export class Lane {
  readonly rows = new Set<LaneRow>();
  readonly pages: LanePages;
  readonly budget: LaneBudget;
  readonly results: LaneResults;
  readonly parent: LaneParent;
  readonly alarm: Alarm;
  readonly watches: LaneWatches;
  private readonly starts: LaneStarts;
  private readonly draws: LaneDraws;
  private readonly limits = new Map<string, AdaptiveLimit>();
  private carried: LaneCarried | undefined;
  private dirty = true;
  private retired = false;
  private readonly drain = new LaneDrain();
  private readonly fill: RunFill;
  /** Pages that the last report asked for. */
  private toldRoom = 0;
  held: CallWait | null = null;
  /** The newest order whose pages are open; before the first nothing is reported. */
  seen: number | null;
  orders: LaneOrders;

  constructor(readonly input: LaneInput) {
    const { carried } = input;
    this.carried = carried;
    this.orders = carried?.orders ?? input.orders;
    this.seen = carried?.seen ?? null;
    const wake = () => {
      this.dirty = true;
    };
    this.fill = new RunFill(input.settings);
    this.pages = new LanePages(carried?.leases ?? []);
    this.budget = new LaneBudget(this.orders, carried?.committed ?? input.committed, carried?.grant);
    this.results = new LaneResults(
      carried?.segments ?? this.orders.segmentsSeen,
      carried?.unconfirmedSegments ?? [],
      wake,
      () => {
        this.parent.tell();
        wake();
      },
    );
    this.parent = new LaneParent(input.campaign, carried?.reports ?? 0, wake);
    this.alarm = new Alarm(wake);
    this.watches = new LaneWatches(this, wake, carried);
    this.starts = new LaneStarts(this, wake);
    this.draws = new LaneDraws(this, wake);
    for (const [key, saved] of carried?.limits ?? [])
      this.limits.set(key, new AdaptiveLimit(this.orders.concurrency, saved));
    if (carried === undefined) this.pages.apply(this.orders.leases, () => new Set());
  }

  /** A newer order replaces everything that was ordered before. */
  order(orders: LaneOrders): void {
    // Anybody may send a signal: one that is no order changes nothing, and a throw here would hang the lane.
    if (typeof orders?.campaignRun !== 'string') return;
    if (orders.campaignRun !== this.input.campaignRun) this.retired = true;
    else if (typeof orders.n !== 'number') this.parent.ask();
    else if (orders.n > this.orders.n) {
      const { paused, stop, parentRun } = this.orders;
      this.orders = orders;
      this.results.confirm(orders.segmentsSeen);
      const moved = this.pages.apply(orders.leases, (lease) => this.results.onTheWay(lease));
      dropWaiting(this);
      this.budget.apply(orders, orders.parentRun !== parentRun);
      this.parent.isBack();
      for (const limit of this.limits.values()) limit.setCeiling(orders.concurrency);
      // That segments are kept needs no answer.
      const isNew = orders.parentRun !== parentRun || orders.paused !== paused || orders.stop !== stop;
      if (isNew || moved || orders.freeze) this.parent.tell();
    }
    this.dirty = true;
  }

  /** Works until the lane is over, or until this run should be left behind. */
  async run(): Promise<'ended' | LaneCarried> {
    for (;;) {
      this.dirty = false;
      const now = Date.now();
      if (this.isOver(now)) return 'ended';
      this.pump(now);
      if (this.isQuiet(now)) return carryLane(this, this.limits);
      await condition(() => this.dirty);
    }
  }

  isDraining(): boolean {
    return this.drain.isOn();
  }

  mayBuy(): boolean {
    // Without money only what is bought already goes on: everything else has ended.
    const { paused, stop } = this.orders;
    return !paused && stop !== 'cancel' && !this.parent.gone && this.mayCollect();
  }

  /** What was bought before may be looked up, also where nothing more is bought. */
  mayCollect(): boolean {
    return !this.isDraining() && !this.retired && this.carried === undefined;
  }

  limitOf(row: LaneRow): AdaptiveLimit {
    const key = limitKeyOf(row);
    let limit = this.limits.get(key);
    if (limit === undefined) {
      limit = new AdaptiveLimit(this.orders.concurrency);
      this.limits.set(key, limit);
    }
    return limit;
  }

  /** Rows at the service. */
  inFlight(model?: string): number {
    let count = 0;
    for (const row of this.rows)
      if (row.phase !== 'waiting' && (model === undefined || limitKeyOf(row) === model)) count += 1;
    return count;
  }

  /** Rows of the run before whose pages are not open yet. */
  unrestored(): readonly RowRecord[] {
    return this.carried?.rows ?? [];
  }

  begin(lease: OpenLease, index: number, now: number): LaneRow {
    const row = newRow(lease, index, now);
    if (isBought(this.input.campaign, row)) row.begun = Math.max(row.begun, row.attempt);
    // A row that is begun anew has its money already.
    if (!lease.redo.has(index)) this.budget.takeAnyway(row.spent);
    lease.begin(index);
    this.rows.add(row);
    return row;
  }

  /** The row is over; its result goes into the next segment. */
  end(row: LaneRow, result: CampaignRowResult): void {
    this.rows.delete(row);
    const { lease, index, opened } = row;
    this.budget.settle(
      row.cost + row.spent,
      bookedMoney(result.ledger) - bookedMoney(opened.was?.ledger ?? []),
    );
    this.results.add({ lease, index, result, was: opened.was, endedAt: Date.now() });
  }

  private pump(now: number): void {
    if (this.fill.isFull(this.draws.areOpen())) this.drain.begin(now);
    this.openPages();
    this.restore();
    if (this.carried === undefined) {
      seekBegun(this, now);
      if (this.pages.pending() === 0) {
        this.seen = this.orders.n;
        this.fill.opened();
      }
      endUnbought(this, now);
    }
    // After an outage what is finished is fetched first: links expire. Creates come last.
    this.watches.download(now);
    const needed = this.budget.needs;
    this.budget.needs = null;
    if (this.fill.mayDraw()) this.draws.start(now);
    this.starts.start(now);
    if (this.budget.needs !== needed) this.parent.tell();
    const idle = this.isDraining() || (this.rows.size === 0 && this.pages.unbegun() === 0);
    this.results.write(now, idle, this.rows.size);
    if (pageRoom(this) > this.toldRoom) this.parent.tell();
    const dueAt = this.results.dueAt();
    if (dueAt !== null) this.alarm.at(dueAt);
    if (this.isDraining() && !this.drain.isLate(now)) {
      // The next run reports as soon as it has begun.
      this.alarm.at(this.drain.patienceEndsAt());
      return;
    }
    if (this.seen === null) return;
    const resting = this.rows.size === 0 || this.orders.paused;
    const nextReport = this.parent.report(now, resting, (n) => {
      this.toldRoom = pageRoom(this);
      return laneReport(this, n, this.toldRoom);
    });
    if (nextReport !== Infinity) this.alarm.at(nextReport);
  }

  private openPages(): void {
    if (this.isDraining()) return;
    for (const lease of this.pages.unopened()) {
      lease.opening = true;
      void this.openPage(lease);
    }
  }

  private async openPage(lease: OpenLease): Promise<void> {
    const activities = campaignPagesActivities({ summary: `open page ${lease.page}` });
    const place = { index: lease.index, page: lease.page, campaign: this.input.campaign };
    try {
      const carried = this.carried?.rows ?? [];
      const inFlight = carried.flatMap((row) => (row.lease === lease.lease ? [row.index] : []));
      while (lease.opened === null) {
        const known = lease.known(inFlight);
        const opened = await activities[ACTIVITY.openPage]({ ...place, known: packRows(known) });
        // A parent that was reset meanwhile may want rows again that nobody looked for: then once more.
        if (!lease.wantsAnyOf(known)) lease.opened = opened;
      }
    } catch (error) {
      // Begun anew by the next turn of the loop. A lane that is cancelled ends without it.
      await failedByHand(error).catch(unlessCancelled);
    } finally {
      lease.opening = false;
      this.parent.tell();
      this.dirty = true;
    }
  }

  /** Rows of the run before wait until the pages that they come from are open. */
  private restore(): void {
    const { carried } = this;
    if (carried === undefined) return;
    const needed = new Set(carried.rows.map(({ lease }) => lease));
    const open = [...needed].every((lease) => {
      const held = this.pages.get(lease);
      return held === undefined || held.opened !== null;
    });
    if (!open) return;
    this.carried = undefined;
    this.fill.begin();
    for (const row of restoreRows(carried, this.pages, this.input.campaign)) {
      this.rows.add(row);
      this.watches.takeUp(row);
    }
    forget(carried);
  }

  /** A run that is to be left and waits for creates fetches what is ready meanwhile: links expire. */
  mayDownload(now: number): boolean {
    return !this.isDraining() || (this.drain.isLate(now) && this.isBuying());
  }

  private isBuying(): boolean {
    return [...this.rows].some(({ phase }) => phase === 'creating' || phase === 'drawing');
  }

  private isOver(now: number): boolean {
    // Whoever comes after it asks the journal what it bought.
    if (this.retired) return !this.isBuying();
    const { last, leases, segmentsSeen } = this.orders;
    const nothingLeft = this.rows.size === 0 && this.results.isWritten() && !this.parent.isSending();
    if (last && leases.length === 0 && nothingLeft && segmentsSeen >= this.results.lastSeq()) return true;
    const { goneSince } = this.parent;
    return goneSince !== null && nothingLeft && now - goneSince >= ORPHAN_MS;
  }

  /** Whether the run can be left behind: nothing is under way but downloads that take too long (design 4.11). */
  private isQuiet(now: number): boolean {
    if (!this.isDraining() || this.carried !== undefined) return false;
    if (this.pages.all().some(({ opening }) => opening)) return false;
    if (!this.results.isWritten() || this.parent.isSending()) return false;
    if (this.isBuying()) return false;
    // Downloads that were not begun are begun by the next run.
    if (this.watches.isFetching() && now < this.drain.patienceEndsAt()) return false;
    // From here on the poll loop stops at the end of its tick.
    return this.watches.stop();
  }
}
