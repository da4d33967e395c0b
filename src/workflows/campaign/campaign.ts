import { condition, workflowInfo } from '@temporalio/workflow';
import { type CampaignCarried } from '../../domain/campaign/campaign-carried';
import { EndRate } from '../../domain/campaign/end-rate';
import { type GrantContext, grantMoney } from '../../domain/campaign/grants';
import { type LaneEntry, newLane, noteReport } from '../../domain/campaign/lane-entry';
import { LeaseBook } from '../../domain/campaign/lease-book';
import { lendPages } from '../../domain/campaign/lend-pages';
import { type LaneReport } from '../../domain/campaign/messages';
import { type CampaignInput, type CampaignPlan, type RowSelection } from '../../domain/campaign/plan';
import { NO_MONEY, type ResultsRef, sumOf } from '../../domain/campaign/results';
import { campaignCarried } from './campaign-carry';
import { foldSegments, noResults, withSegment } from './campaign-results';
import { CampaignLanes } from './campaign-lanes';
import { ordersFor } from './campaign-orders';
import {
  DEFAULT_CONCURRENCY,
  DEFAULT_EVENTS_PER_RUN,
  laneSettings,
  LANE_ROWS,
  MAX_LANES,
} from './campaign-settings';
import { DoubleCounts } from './double-counts';
import { grantContext, isOverdrawn } from './grant-context';
import { Alarm } from './lane-alarm';
import { Purchases } from './purchases';

/** Segments are named by an index once there are so many. */
const FOLD_AT = 100;
/** A lane that works and says nothing for so long is looked at; one that rests may be silent longer. */
const SILENT_MS = 150_000;
const RESTING_MS = 11 * 60_000;

/** Everything the parent of the lanes knows and decides. */
export class Campaign {
  readonly book: LeaseBook;
  readonly lanes: LaneEntry[];
  readonly rate: EndRate;
  readonly doubles: DoubleCounts;
  readonly purchases: Purchases;
  readonly startedAt: number;
  readonly before: CampaignCarried['before'];
  private readonly talk: CampaignLanes;
  private readonly alarm: Alarm;
  private dirty = true;
  private folding = false;
  /** A plan is being made for rows that are taken up again. */
  planning = false;
  private reports: LaneReport[] = [];
  plan: CampaignPlan | null;
  results: ResultsRef;
  remaining: number;
  concurrency: number;
  budget: CampaignCarried['budget'];
  paused: boolean;
  overdrawn = false;
  stop: CampaignCarried['stop'];
  wishes: RowSelection[];
  /** Generation of the first plan of this campaign; null before it. */
  firstGeneration: number | null;
  notes: string[];

  constructor(readonly input: CampaignInput) {
    const carried = input.carried as CampaignCarried | undefined;
    const now = Date.now();
    this.startedAt = carried?.startedAt ?? now;
    this.plan = carried?.plan ?? null;
    const { doubled = false, ...previous } = input.previous ?? noResults();
    this.results = carried?.results ?? previous;
    this.before = carried?.before ?? input.previous?.money ?? NO_MONEY;
    this.remaining = carried?.remaining ?? 0;
    this.book = new LeaseBook(carried?.book);
    this.lanes = (carried?.lanes ?? []).map((entry) => ({ ...entry }));
    this.concurrency = carried?.concurrency ?? input.concurrency ?? DEFAULT_CONCURRENCY;
    this.budget = carried?.budget ?? input.budget ?? null;
    this.paused = carried?.paused ?? false;
    this.stop = carried?.stop ?? null;
    this.wishes = [...(carried?.wishes ?? [input.select ?? { rows: 'missing' }])];
    this.doubles = new DoubleCounts(carried ?? { doubled, overcounted: 0 });
    this.firstGeneration = carried?.firstGeneration ?? null;
    this.rate = new EndRate(carried?.rate);
    this.notes = [...(carried?.notes ?? [])];
    const wake = () => this.wake();
    const { priority, fairnessWeight } = input;
    this.talk = new CampaignLanes(
      laneSettings(input),
      {
        ...(priority !== undefined && { priorityKey: priority }),
        ...(fairnessWeight !== undefined && { fairnessWeight }),
      },
      carried?.ordersN ?? 0,
      wake,
      (entry) => {
        this.book.forget(entry.lane);
        if (this.budget !== null) this.purchases.look();
      },
    );
    const strangersEnd = carried === undefined ? () => this.talk.strangersEnd() : null;
    this.purchases = new Purchases(this.book, wake, strangersEnd, input.previous !== undefined);
    this.alarm = new Alarm(wake);
  }

  wake(): void {
    this.dirty = true;
  }

  /** A signal of a lane. Kept until the loop comes to it: handlers only enqueue. */
  onReport(report: LaneReport): void {
    // Anybody may send a signal: a throw here would hang the campaign.
    if (report?.campaignRun !== workflowInfo().firstExecutionRunId) {
      this.talk.retire(report?.lane);
      return;
    }
    this.reports.push(report);
    this.wake();
  }

  /** Lets lanes work until every page came back, a new plan is wanted, or this run should be left behind. */
  async run(): Promise<'done' | 'plan' | 'handover'> {
    for (;;) {
      this.dirty = false;
      const now = Date.now();
      this.takeReports(now);
      if (this.isNextWishFree()) return 'plan';
      if (this.book.isDone() && !this.planning) return 'done';
      if (this.shouldHandOver() && !this.planning) {
        if (!this.talk.isBusy() && !this.folding && !this.doubles.isCounting && !this.purchases.isLooking())
          return 'handover';
      } else this.pump(now);
      await condition(() => this.dirty);
    }
  }

  /** Tells every lane that nothing follows, and names all segments in indexes. */
  async finish(): Promise<void> {
    await condition(() => !this.talk.isBusy());
    const share = this.share();
    for (const entry of this.lanes)
      if (entry.lives > 0) this.talk.send(entry, ordersFor(this, entry, share, true), true);
    await condition(() => !this.talk.isBusy());
    await condition(() => !this.folding);
    if (this.results.segments.length > 0) await this.fold();
    await condition(() => !this.doubles.isCounting);
    if (this.doubles.any) await this.recount();
  }

  /** Rows are taken up again, once no earlier wish is under way: the same row never stands in two plans. */
  wish(select: RowSelection): void {
    const text = JSON.stringify(select);
    if (this.wishes.every((other) => JSON.stringify(other) !== text)) this.wishes.push(select);
    this.wake();
  }

  /** Nothing more is bought; what runs is collected. */
  cancel(): void {
    this.stop = 'cancel';
    this.wake();
  }

  /** A plan that was not refused: its pages are given out. */
  addPlan(plan: CampaignPlan): void {
    this.plan = plan;
    this.firstGeneration ??= plan.generation;
    const { generation, pages } = plan;
    const index = plan.index.sha256;
    this.results = {
      ...this.results,
      generation,
      currency: plan.currency ?? this.results.currency,
      plans: [...(this.results.plans ?? []), { generation, index }],
    };
    this.remaining += plan.planned;
    this.book.addPlan({ index, generation, pages });
    if (this.budget !== null) this.purchases.look();
    this.addLanes();
  }

  /** Rows that have a result. */
  ended(): number {
    return Object.values(this.results.counts).reduce((sum, count) => sum + count, 0);
  }

  /** As many lanes as the concurrency needs, never more than there are pages to begin with. */
  addLanes(): void {
    const pages = this.plan?.pages ?? 0;
    const wanted = Math.min(MAX_LANES, Math.ceil(this.concurrency / LANE_ROWS), Math.max(1, pages));
    this.haveLanes(wanted);
  }

  private haveLanes(count: number): void {
    while (this.lanes.length < count)
      this.lanes.push(newLane(this.lanes.length, Date.now(), this.budget !== null));
  }

  carry(): CampaignCarried {
    return campaignCarried(this, this.talk.lastNumber());
  }

  /** What was given up for want of money is looked for at the end: lanes may still be giving up more of it. */
  isNextWishFree(): boolean {
    const [wish] = this.wishes;
    if (wish === undefined || this.planning) return false;
    if (this.book.isDone()) return true;
    const waits = wish.rows !== 'missing' && wish.outcomes?.includes('skipped_budget') === true;
    return !waits && !this.book.hasTakenUp(this.firstGeneration);
  }

  private shouldHandOver(): boolean {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    return continueAsNewSuggested || historyLength >= (this.input.eventsPerRun ?? DEFAULT_EVENTS_PER_RUN);
  }

  private takeReports(now: number): void {
    for (const report of this.reports.splice(0)) {
      // A lane that a run before a reset has started holds money too.
      this.haveLanes(Math.min(report.lane + 1, MAX_LANES));
      const entry = this.lanes[report.lane];
      if (entry === undefined || !this.talk.hears(entry, report)) continue;
      this.takeSegments(entry, report);
      if (report.n <= entry.reportN) continue;
      noteReport(entry, report, now);
      // After a reset the lane knows better what it was granted.
      if (entry.granted !== null) entry.granted = Math.max(entry.granted, entry.committed);
      for (const { lease, page, done, open } of report.leases) {
        if (open !== false) this.book.see(lease, page);
        if (done !== null && this.book.close(lease, page, done)) this.talk.repeat(entry);
      }
    }
    this.rate.note(now, this.ended());
    if (this.results.segments.length >= FOLD_AT && !this.folding) void this.fold();
  }

  private async fold(): Promise<void> {
    this.folding = true;
    const folded = await foldSegments(this.results.segments);
    this.results = folded(this.results);
    this.folding = false;
    this.wake();
  }

  private takeSegments(entry: LaneEntry, report: LaneReport): void {
    for (const segment of report.segments) {
      if (segment.seq <= entry.segmentsSeen) continue;
      entry.segmentsSeen = segment.seq;
      const { rows, money, done } = segment;
      for (const [lease, packed, page] of done) this.doubles.note(this.book.note(lease, page, packed));
      this.results = withSegment(this.results, segment);
      entry.booked += sumOf(money);
      this.remaining = Math.max(0, this.remaining - rows);
    }
  }

  private pump(now: number): void {
    const holdsPages = this.purchases.isFirstLook();
    if (!holdsPages) lendPages(this.book, this.lanes);
    const context = grantContext(this);
    this.grant(context);
    const share = this.share();
    this.overdrawn = isOverdrawn(context, this.lanes);
    for (const entry of this.lanes) {
      // It would begin with nothing to do.
      if (holdsPages && entry.lives === 0) continue;
      const limit = entry.inFlight + entry.waiting > 0 ? SILENT_MS : RESTING_MS;
      const silent = now - Math.max(entry.lastReportAt, entry.ordersN) >= limit;
      this.talk.send(entry, ordersFor(this, entry, share, false), silent);
    }
    this.alarm.at(Math.min(now + SILENT_MS, this.talk.nextAt(now)));
  }

  private grant(context: GrantContext | null): void {
    if (context === null || this.stop !== null || this.purchases.isLooking()) return;
    // Whoever has not said yet what it bought may hold more than was known of it.
    if (!this.lanes.every((entry) => this.talk.isHeard(entry))) return;
    if (
      grantMoney({ ...context, overdrawn: isOverdrawn(context, this.lanes) }, this.lanes).do !== 'spent' ||
      this.doubles.isCounting
    )
      return;
    if (this.purchases.areAwaited(this.lanes, this.share())) return;
    // What is in flight may come to nothing, and what stands twice on the books was spent once.
    if (this.lanes.some(({ settling }) => settling > 0)) return;
    if (this.doubles.any) return void this.recount();
    this.stop = 'budget';
    this.notes.push('The budget is spent: rows that were not bought are skipped.');
  }

  private async recount(): Promise<void> {
    const booked = () => this.lanes.reduce((sum, entry) => sum + entry.booked, sumOf(this.before));
    const place = await this.doubles.recount(this.results, booked);
    this.results = place(this.results);
    this.wake();
  }

  /** What each lane that has pages may have in flight. */
  private share(): number {
    return Math.max(1, Math.floor(this.concurrency / Math.max(1, this.book.holders())));
  }
}
