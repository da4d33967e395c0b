import { condition, workflowInfo } from '@temporalio/workflow';
import { type BatchReport, batchSettings, type LimitShares } from '../../domain/campaign/batch-messages';
import { resumesSkipped, type SkippedRound } from '../../domain/campaign/budget-book';
import { EndRate } from '../../domain/campaign/campaign-state';
import {
  type CampaignInput,
  type CampaignPlan,
  DEFAULT_CONCURRENCY,
  type RowSelection,
} from '../../domain/campaign/plan';
import {
  cheaper,
  NO_MONEY,
  type ResultsRef,
  type SegmentTotals,
  sumOf,
  withSegments,
} from '../../domain/campaign/results';
import { RowQueue, type RowQueueState } from '../../domain/campaign/row-sets';
import { given } from '../../domain/json';
import { type Money } from '../../domain/money';
import { queuesOf } from '../handlers';
import { Alarm } from '../timers';
import { BatchWindow, type DesiredState } from './batch-window';
import { BudgetBook, type BudgetBookState } from './budget-book';
import { BATCH_EVENTS, continuesAsNew } from './history-limits';
import { foldSegments, noResults } from './result-segments';

/** When the results contain this many segments, an index replaces them. */
const FOLD_AT = 100;
/** Interval between reads of the book, in milliseconds. Another run of this campaign may have written to it. */
const BOOK_READ_MS = 150_000;
/** Interval between counts of the bills, in milliseconds. A long count is followed by a longer pause. */
const BILLS_MS = 5 * 60_000;
const PAUSE_PER_COUNT = 20;
/** Bills that were counted this recently, in milliseconds, are not counted again before rows are skipped. */
const COUNTED_MS = 60_000;

/** A campaign's state and decisions: its plans, its money and its batches. */
export class Campaign {
  readonly queue: RowQueue;
  readonly books: BudgetBook;
  readonly window: BatchWindow;
  readonly rate: EndRate;
  readonly startedAt: number;
  private readonly alarm: Alarm;
  private reports: BatchReport[] = [];
  private dirty = true;
  private folding = false;
  private hasClosed = false;
  private nextReadAt: number;
  private nextCountAt: number;
  private isCounting = false;
  private countedAt = -Infinity;
  /** The book's newest entry when the bills were last counted. */
  private countedEntry: number | null = null;
  /** Called at the end of every turn of the loop, when the state may have changed. */
  onTurn: () => void = () => undefined;
  /** Whether a plan for resumed rows is currently being made. */
  planning = false;
  plan: CampaignPlan | null;
  /** Results from closed batches. */
  results: ResultsRef;
  concurrency: number;
  priority: number | undefined;
  budget: CampaignCarried['budget'];
  paused: boolean;
  stop: CampaignCarried['stop'];
  selections: RowSelection[];
  notes: string[];
  private planned: number;
  private cheapestSkipped: number | null;
  private round: CampaignCarried['round'];

  constructor(readonly input: CampaignInput) {
    const carried = input.carried as CampaignCarried | undefined;
    const now = Date.now();
    const { workflowId } = workflowInfo();
    const settings = batchSettings(input, queuesOf(input.queues), BATCH_EVENTS);
    const wake = () => this.wake();
    this.startedAt = carried?.startedAt ?? now;
    this.plan = carried?.plan ?? null;
    this.results = carried?.results ?? input.previous ?? noResults();
    this.concurrency = carried?.concurrency ?? input.concurrency ?? DEFAULT_CONCURRENCY;
    this.priority = carried?.priority ?? input.priority;
    this.budget = carried?.budget ?? input.budget ?? null;
    this.paused = carried?.paused ?? false;
    this.stop = carried?.stop ?? null;
    this.selections = [...(carried?.selections ?? [input.select ?? { rows: 'missing' }])];
    this.notes = [...(carried?.notes ?? [])];
    this.cheapestSkipped = carried?.cheapestSkipped ?? null;
    this.round = carried?.round ?? null;
    this.rate = new EndRate(carried?.rate);
    this.queue = new RowQueue(carried?.queue);
    this.planned = carried?.planned ?? 0;
    this.books = new BudgetBook(
      {
        campaign: workflowId,
        taskQueue: settings.queues.create,
        before: carried?.before ?? sumOf(input.previous?.money ?? NO_MONEY),
      },
      () => this.budget?.microUnits ?? null,
      carried?.books,
      wake,
    );
    this.window = new BatchWindow(
      input,
      settings,
      this.queue,
      this.books,
      carried?.limits ?? {},
      carried?.ordersN ?? 0,
      wake,
      (results) => this.take(results),
    );
    this.alarm = new Alarm(wake);
    this.nextReadAt = now + BOOK_READ_MS;
    this.nextCountAt = carried?.nextCountAt ?? now + BILLS_MS;
  }

  wake(): void {
    this.dirty = true;
  }

  /** Handles a batch's report signal. It only enqueues the report, which the loop then processes. */
  onReport(report: BatchReport): void {
    this.reports.push(report);
    this.wake();
  }

  /** Runs batches until every row has a result, a new plan is due, or this run should continue as new. */
  async run(): Promise<'done' | 'plan' | 'handover'> {
    if (!this.books.known) await this.books.move({ do: 'look' });
    for (;;) {
      this.dirty = false;
      const now = this.alarm.now();
      for (const report of this.reports.splice(0)) this.window.onReport(report, now);
      this.rate.note(now, this.ended());
      if (this.isNextSelectionFree()) return 'plan';
      const leaves = continuesAsNew(this.input, this.hasClosed) && !this.planning && !this.isCounting;
      const desired = this.desiredState(leaves);
      this.window.advance(now, desired);
      if (this.window.grantMoney(desired) && this.hasCounted(now)) this.stopFor('budget');
      // Nothing more is bought, although the batches may have unspent grants.
      if (this.stop === null && this.books.over() > 0) this.stopFor('budget');
      if (this.window.isIdle() && !this.planning && !this.folding && !this.isCounting) {
        if (this.queue.size() > 0) {
          if (leaves) return 'handover';
        } else if (this.needsLastCount()) void this.countBills();
        else if (this.hasAnotherRound()) continue;
        else return 'done';
      }
      this.checkAgain(now, leaves);
      this.onTurn();
      await condition(() => this.dirty);
    }
  }

  /** Replaces the remaining segments with an index. */
  async finish(): Promise<void> {
    if (this.results.segments.length > 0) await this.fold();
  }

  /** Adds rows to resume. They wait until no earlier selection is in progress, so that a row is never in two plans. */
  addSelection(select: RowSelection): void {
    const text = JSON.stringify(select);
    if (this.selections.every((other) => JSON.stringify(other) !== text)) this.selections.push(select);
    this.wake();
  }

  /** Stops buying. Rows in progress are collected. */
  cancel(): void {
    this.stopFor('cancel');
    this.readBookNow();
  }

  /** Reads the book now, to find batches from a run that a reset has undone. */
  readBookNow(): void {
    this.nextReadAt = 0;
    this.wake();
  }

  /** Counts the bills now, because the money that they free matters. */
  countBillsNow(): void {
    this.nextCountAt = 0;
    this.wake();
  }

  /** Adds a plan that was not refused. Its rows are added to the queue. */
  addPlan(plan: CampaignPlan, select: RowSelection): void {
    this.plan = plan;
    const { generation, planned } = plan;
    const index = plan.index.sha256;
    this.results = {
      ...this.results,
      generation,
      currency: plan.currency ?? this.results.currency,
      plans: [...(this.results.plans ?? []), { generation, index }],
    };
    this.queue.addPlan({ index, generation, planned });
    this.planned += planned;
    if (takesSkipped(select)) this.cheapestSkipped = null;
  }

  /** Returns the results so far: from closed batches, and from the reports of open ones. */
  allResults(): ResultsRef {
    return this.window
      .all()
      .reduce((sum, { report }) => (report === null ? sum : withSegments(sum, report.results)), this.results);
  }

  /** Returns the number of rows in this campaign's plans that have no result yet. */
  remaining(): number {
    return this.queue.size() + this.window.remaining();
  }

  isNextSelectionFree(): boolean {
    const [selection] = this.selections;
    if (selection === undefined || this.planning) return false;
    if (this.queue.size() === 0 && this.window.isIdle()) return true;
    // Rows that were skipped for lack of money are planned last, because batches may still skip more rows.
    if (isOfSkipped(selection)) return false;
    // Otherwise, a row that already has an earlier result would be in two plans, and that result would be replaced
    // twice.
    return !this.queue.hasReplacing() && !this.window.hasReplacing();
  }

  carry(): CampaignCarried {
    const { startedAt, plan, results, concurrency, budget, paused, stop, selections, notes } = this;
    const { planned, cheapestSkipped, round, priority } = this;
    return {
      v: 1,
      startedAt,
      plan,
      results,
      queue: this.queue.save(),
      planned,
      books: this.books.save(),
      before: this.books.before(),
      ...this.window.save(),
      concurrency,
      ...given({ priority }),
      budget,
      paused,
      stop,
      selections,
      cheapestSkipped,
      round,
      rate: this.rate.save(),
      notes,
      nextCountAt: this.nextCountAt,
    };
  }

  private desiredState(leaves: boolean): DesiredState {
    const { concurrency, priority, budget, paused, stop, plan } = this;
    const priced = plan === null ? 0 : plan.planned - plan.unpriced;
    return {
      concurrency,
      priority,
      createsPerSecond: plan?.createsPerSecond ?? null,
      budget: budget?.microUnits ?? null,
      rowPrice: plan === null || priced === 0 ? 1 : plan.estimate / priced,
      paused,
      stop,
      leaves,
    };
  }

  private stopFor(reason: 'budget' | 'cancel'): void {
    this.stop = reason;
    this.wake();
  }

  /** Returns whether the bills were counted just now. If not, counts them. The loop wakes when that ends. */
  private hasCounted(now: number): boolean {
    if (now - this.countedAt < COUNTED_MS) return true;
    void this.countBills();
    return false;
  }

  /** Whether bills that have arrived meanwhile may free money for skipped rows. */
  private needsLastCount(): boolean {
    const skipped = this.results.counts.skipped_budget ?? 0;
    return (
      this.books.newest() !== this.countedEntry &&
      this.budget !== null &&
      skipped > 0 &&
      this.stop !== 'cancel'
    );
  }

  private async countBills(): Promise<void> {
    if (this.isCounting) return;
    this.isCounting = true;
    const startedAt = Date.now();
    const before = this.books.newest();
    const written = await this.books.countBills();
    const after = this.books.newest();
    // Batches that were closed meanwhile need another count.
    this.countedEntry = (after ?? 0) - (before ?? 0) > written ? before : after;
    this.countedAt = Date.now();
    const pauseMs = Math.max(BILLS_MS, PAUSE_PER_COUNT * (this.countedAt - startedAt));
    this.nextCountAt = this.countedAt + pauseMs;
    this.isCounting = false;
    this.wake();
  }

  private checkAgain(now: number, leaves: boolean): void {
    // While nothing is bought, nobody needs the sum. Afterwards, a count is due immediately.
    const buys = !this.paused && this.stop === null && !leaves;
    const counts = this.budget !== null && buys && !this.isCounting;
    if (counts && now >= this.nextCountAt) void this.countBills();
    if (now >= this.nextReadAt && !this.books.isMoving()) {
      this.nextReadAt = now + BOOK_READ_MS;
      void this.books.move({ do: 'look' });
    }
    // The loop wakes when a change ends, and then reads the book if a read is due.
    const countAt = counts && this.nextCountAt > now ? this.nextCountAt : Infinity;
    this.alarm.at(
      Math.min(this.nextReadAt > now ? this.nextReadAt : Infinity, countAt, this.window.nextAt()),
    );
  }

  private take(results: SegmentTotals): void {
    this.hasClosed = true;
    this.results = withSegments(this.results, results);
    this.cheapestSkipped = cheaper(this.cheapestSkipped, results.cheapestSkipped);
    if (this.results.segments.length >= FOLD_AT && !this.folding) void this.fold();
  }

  private async fold(): Promise<void> {
    this.folding = true;
    const folded = await foldSegments(this.results.segments);
    this.results = folded(this.results);
    this.folding = false;
    this.wake();
  }

  /** @returns whether another round needs to be planned */
  private hasAnotherRound(): boolean {
    if (this.selections.length > 0) return true;
    const free = this.books.free();
    const skipped = this.results.counts.skipped_budget ?? 0;
    if (this.stop === 'cancel' || !resumesSkipped(skipped, free, this.cheapestSkipped, this.round))
      return false;
    this.round = { skipped, free };
    this.stop = null;
    this.addSelection({ rows: 'again', outcomes: ['skipped_budget'] });
    return true;
  }

  ended(): number {
    return this.planned - this.remaining();
  }
}

function takesSkipped(select: RowSelection): boolean {
  return select.rows === 'missing' || (isOfSkipped(select) && !('keys' in select));
}

function isOfSkipped(select: RowSelection): boolean {
  return select.rows !== 'missing' && select.outcomes?.includes('skipped_budget') === true;
}

/** The state that a continue-as-new carries over. No batch is open then. Times are workflow time in milliseconds. */
interface CampaignCarried {
  readonly v: 1;
  readonly startedAt: number;
  readonly plan: CampaignPlan | null;
  readonly results: ResultsRef;
  readonly queue: RowQueueState;
  readonly planned: number;
  readonly books: BudgetBookState;
  /** The opening balance of the book, in micro-units: the total from the books of earlier runs with this ID. */
  readonly before: number;
  readonly limits: LimitShares;
  readonly ordersN: number;
  readonly concurrency: number;
  /** Absent if the default is used. */
  readonly priority?: number;
  readonly budget: Money | null;
  readonly paused: boolean;
  readonly stop: 'budget' | 'cancel' | null;
  readonly selections: readonly RowSelection[];
  /** Estimate of the cheapest row that was skipped for lack of money, in micro-units; null if none was skipped. */
  readonly cheapestSkipped: number | null;
  /** The number of skipped rows and the free money when skipped rows were last resumed; null if they never were. */
  readonly round: SkippedRound | null;
  readonly rate: readonly (readonly [at: number, ended: number])[];
  readonly notes: readonly string[];
  /** When the bills are counted next. */
  readonly nextCountAt: number;
}
