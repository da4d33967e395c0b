import {
  ChildWorkflowCancellationType,
  condition,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import { throwBug } from '../../domain/bug';
import {
  type BatchOrders,
  type BatchReport,
  type BatchResult,
  type BatchSettings,
  type LimitShares,
} from '../../domain/campaign/batch-messages';
import { batchWorkflowId, nextGrant } from '../../domain/campaign/budget-book';
import { type SettledBatch } from '../../domain/campaign/campaign-activities';
import {
  batchPriority,
  FEW_AT_HAND,
  rowsOfBatch,
  shareSlots,
  windowSize,
} from '../../domain/campaign/concurrency';
import { type CampaignInput } from '../../domain/campaign/plan';
import { NO_SEGMENTS, type SegmentTotals } from '../../domain/campaign/results';
import { replacesResults, type RowQueue, type RowSet, sizeOf, without } from '../../domain/campaign/row-sets';
import { labelsMemo, labelTexts } from '../../domain/money';
import { SIGNAL, STARTED_BY, WORKFLOW } from '../../domain/names';
import { searchableChild } from '../workflow-metadata';
import { type BudgetBook } from './budget-book';
import { type campaignBatch } from './campaign-batch';

/** A batch that was opened in the book and has not been closed there. */
interface OpenBatch {
  readonly batch: number;
  readonly rows: readonly RowSet[];
  readonly size: number;
  slots: number;
  report: BatchReport | null;
  reportedAt: number;
  /** When it last sent a report or received orders. */
  acknowledgedAt: number;
  /** The last orders sent to it, as text. */
  sentOrders: string;
  ordersInFlight: boolean;
  handBack: boolean;
  /** `gone`: the batch ended without a result. */
  end: BatchResult | 'gone' | null;
  closing: boolean;
}

function openBatch(batch: number, rows: readonly RowSet[], now: number): OpenBatch {
  return {
    batch,
    rows,
    size: sizeOf(rows),
    slots: 0,
    report: null,
    reportedAt: 0,
    acknowledgedAt: now,
    sentOrders: '',
    ordersInFlight: true,
    handBack: false,
    end: null,
    closing: false,
  };
}

/** Number of rows in flight or about to be, per the last report. Rows waiting for money leave their slots to others. */
function leftOf({ report, size }: Pick<OpenBatch, 'report' | 'size'>): number {
  if (report === null) return size;
  return report.needs === null ? report.inFlight + report.waiting : report.inFlight;
}

function waitingOf({ report, size }: Pick<OpenBatch, 'report' | 'size'>): number {
  return report === null ? size : report.waiting;
}

/** Whether a report contains all of the last report's ended rows. After a manual reset, a batch may report fewer. */
function isWholeReport(report: BatchReport, before: Pick<OpenBatch, 'report'>): boolean {
  return without(before.report?.ended ?? [], report.ended).length === 0;
}

/** Returns a lost batch's rows without a reported result. They may have been bought, and polled as recently as now. */
function leftByGone({ rows, report }: Pick<OpenBatch, 'rows' | 'report'>, now: number): RowSet[] {
  return without(rows, report?.ended ?? []).map((set) => ({ ...set, started: now }));
}

/** After this many milliseconds, a silent batch is sent its orders again, to detect whether it is gone. */
const SILENT_MS = 150_000;
/** Maximum time for a closed batch's result to arrive, in milliseconds. */
const RESULT_MS = 5_000;
/** A batch is ordered to hand back its last rows only if at most this share of its rows remains. */
const FEW_LEFT = 0.3;

export interface DesiredState {
  readonly concurrency: number;
  readonly priority: number | undefined;
  readonly createsPerSecond: number | null;
  readonly budget: number | null;
  /** Mean price of a planned row, in micro-units. */
  readonly rowPrice: number;
  readonly paused: boolean;
  readonly stop: 'budget' | 'cancel' | null;
  /** Whether the campaign is about to continue as new. If so, all rows are handed back. */
  readonly leaves: boolean;
}

/** The open batches. Gives them rows from the queue, slots, money and orders, and closes them in the book. */
export class BatchWindow {
  private readonly open = new Map<number, OpenBatch>();
  private readonly settling = new Set<number>();
  private readonly campaign = workflowInfo().workflowId;
  private readonly campaignRun = workflowInfo().firstExecutionRunId;
  private opening = false;

  constructor(
    private readonly input: CampaignInput,
    private readonly settings: BatchSettings,
    private readonly queue: RowQueue,
    private readonly books: BudgetBook,
    private limits: LimitShares,
    /**
     * Number of the last orders. It increases even after a campaign reset, because workflow time never goes backward.
     */
    private n: number,
    private readonly onChange: () => void,
    private readonly onClosed: (results: SegmentTotals) => void,
  ) {}

  /** Handles a report, which replaces the batch's earlier reports. A batch that is not in this window must end. */
  onReport(report: BatchReport, now: number): void {
    const open = this.open.get(report.batch);
    if (report.campaignRun !== this.campaignRun || open === undefined) return this.retire(report.batch);
    // Once a batch has ended, its last report is final. Rows without a result in that report go to another batch.
    if (open.end !== null || (open.report !== null && report.n <= open.report.n)) return;
    if (!isWholeReport(report, open)) return;
    Object.assign(open, { report, reportedAt: now, acknowledgedAt: now });
    this.limits = { ...this.limits, ...report.limits };
  }

  /** Runs one round: closes batches that have ended, opens new ones if there is room, and sends orders to all. */
  advance(now: number, desired: DesiredState): void {
    for (const batch of this.books.foreign()) void this.settleForeign(batch);
    for (const open of this.open.values()) {
      // The batch was closed by a run of this campaign that a reset has undone.
      if (!open.closing && this.books.isClosed(open.batch)) open.end ??= 'gone';
      if (open.end !== null && !open.closing) void this.close(open, open.end);
    }
    if (!desired.leaves) {
      this.share(desired.concurrency);
      if (this.needsRows(desired)) {
        if (this.open.size < windowSize(this.input, desired.concurrency)) void this.openMore(desired);
        else this.shedStragglers();
      }
    }
    for (const open of this.open.values()) this.sendOrders(open, now, desired);
  }

  /** Whether no batch is open, and no other run's batch still needs to be settled. */
  isIdle(): boolean {
    return this.open.size === 0 && !this.opening && this.settling.size === 0 && !this.books.isMoving();
  }

  /** Gives money to a batch that waits for it. @returns whether the campaign is out of money */
  grantMoney({ budget, stop }: DesiredState): boolean {
    if (budget === null || stop !== null || this.books.isMoving() || this.opening || this.settling.size > 0)
      return false;
    const current = this.all().flatMap(({ batch, report, end }) =>
      report === null || end !== null || report.granted !== this.books.granted(batch)
        ? []
        : [{ batch, needs: report.needs ?? null, settling: report.settling }],
    );
    const next = nextGrant(current, this.open.size, this.books.free() ?? 0);
    if (next?.do === 'raise') void this.books.move(next);
    return next?.do === 'stop';
  }

  remaining(): number {
    return this.all().reduce((sum, open) => sum + open.size - sizeOf(open.report?.ended ?? []), 0);
  }

  /** Whether a batch has rows whose results may replace earlier ones. */
  hasReplacing(): boolean {
    return this.all().some(({ rows }) => rows.some(replacesResults));
  }

  all(): readonly Readonly<OpenBatch>[] {
    return [...this.open.values()];
  }

  /** Returns when to check a silent batch, in workflow time. A batch that ends wakes the campaign itself. */
  nextAt(): number {
    const silent = this.all().filter(({ ordersInFlight, end }) => !ordersInFlight && end === null);
    return Math.min(...silent.map(({ acknowledgedAt }) => acknowledgedAt + SILENT_MS));
  }

  save(): { readonly limits: LimitShares; readonly ordersN: number } {
    return { limits: this.limits, ordersN: this.n };
  }

  private share(concurrency: number): void {
    const batches = [...this.open.values()];
    // A batch that waits for money leaves its slots to others. It does not reserve any for when the money arrives.
    for (const open of batches) if (open.report?.needs) open.slots = Math.min(open.slots, leftOf(open));
    const holders = batches.map((open) => ({ slots: open.slots, left: leftOf(open) }));
    shareSlots(holders, concurrency).forEach((slots, at) => ((batches[at] as OpenBatch).slots = slots));
  }

  /** Whether more rows from the queue should be put in a batch now. `taken` rows are already about to be. */
  private needsRows({ paused, stop, budget, rowPrice, concurrency }: DesiredState, taken = 0): boolean {
    if (this.opening || !this.books.known || this.books.isMoving() || this.queue.size() === 0) return false;
    // Rows that were already bought are polled immediately and do not take a slot from other rows.
    if (this.queue.hasStarted()) return true;
    if (paused && stop !== 'cancel') return false;
    if (this.open.size === 0 && taken === 0) return true;
    // Rows in open batches that have no slot. If there are enough, no slot waits for another batch to start.
    const atHand = this.all().reduce((sum, open) => sum + leftOf(open), taken) - concurrency;
    if (atHand >= FEW_AT_HAND) return false;
    if (budget === null || stop !== null) return true;
    // Open batches may give money back. Without free money, a new batch would immediately skip its rows.
    return (
      (this.books.free() ?? 0) >= (taken + 1) * rowPrice && this.all().every(({ report }) => !report?.needs)
    );
  }

  /**
   * Finds the batch with the fewest remaining rows and orders it to hand them back, because polling so few costs too
   * much.
   */
  private shedStragglers(): void {
    if (this.all().some(({ handBack, end }) => handBack || end !== null)) return;
    const few = this.all().filter((open) => waitingOf(open) === 0 && leftOf(open) <= FEW_LEFT * open.size);
    const [fewest] = few.sort((a, b) => leftOf(a) - leftOf(b));
    if (fewest !== undefined) (fewest as OpenBatch).handBack = true;
  }

  /** Opens all the batches that are needed in one change, because each change waits for the journal. */
  private async openMore(desired: DesiredState): Promise<void> {
    const batches = this.takeBatches(desired);
    this.opening = true;
    const { opened } = await this.books.move({
      do: 'open',
      batches,
      fences: this.books.foreign(),
      want: desired.stop === null ? null : 0,
    });
    this.opening = false;
    // Another run has written to the book. The next round settles the batches that are not in this window.
    if (opened === undefined) return this.queue.handBack(batches.flat());
    const added = opened.map((batch, place) => openBatch(batch, batches[place] ?? [], Date.now()));
    for (const open of added) this.open.set(open.batch, open);
    this.share(desired.concurrency);
    await Promise.all(added.map((open) => this.start(open, desired)));
  }

  private takeBatches(desired: DesiredState): RowSet[][] {
    const batches: RowSet[][] = [];
    const most = windowSize(this.input, desired.concurrency) - this.open.size;
    let taken = 0;
    do {
      const rows = this.queue.take(rowsOfBatch(this.input, desired.concurrency));
      taken += sizeOf(rows);
      batches.push(rows);
    } while (batches.length < most && this.needsRows(desired, taken));
    return batches;
  }

  private async start(open: OpenBatch, desired: DesiredState): Promise<void> {
    const { batch, rows } = open;
    const orders = this.ordersFor(open, desired);
    open.sentOrders = textOf(orders);
    try {
      const child = await startChild<typeof campaignBatch>(WORKFLOW.campaignBatch, {
        workflowId: batchWorkflowId(this.campaign, batch),
        args: [
          {
            campaign: this.campaign,
            campaignRun: this.campaignRun,
            batch,
            rows,
            settings: this.settings,
            orders,
            limits: this.limits,
          },
        ],
        // After a campaign is terminated, nothing more may be bought.
        parentClosePolicy: ParentClosePolicy.TERMINATE,
        cancellationType: ChildWorkflowCancellationType.ABANDON,
        memo: { ...labelsMemo(this.input.labels), ...STARTED_BY },
        ...searchableChild({ campaign: this.campaign, labels: labelTexts(this.input.labels) }),
        priority: batchPriority(this.input, this.campaign, desired.priority),
      });
      void child.result().then(
        (result) => this.ended(open, result),
        () => this.ended(open, 'gone'),
      );
    } catch (error) {
      throwBug(error);
      // A workflow with this ID is already running, because it was opened from a book that was lost. Skip its number.
      this.ended(open, 'gone');
    }
    open.ordersInFlight = false;
    this.onChange();
  }

  private ended(open: OpenBatch, end: BatchResult | 'gone'): void {
    // A batch that another run closed, or that was reset manually, does not know its cost or what it reported.
    const knows = end !== 'gone' && end.why !== 'closed' && isWholeReport(end.report, open);
    if (open.end === null && knows) open.report = end.report;
    open.end ??= knows ? end : 'gone';
    this.onChange();
  }

  private async close(open: OpenBatch, end: BatchResult | 'gone'): Promise<void> {
    open.closing = true;
    const { batch, report } = open;
    await this.bookCost(batch, end, report?.results.segments ?? []);
    this.queue.handBack(end === 'gone' ? leftByGone(open, Date.now()) : end.left);
    this.open.delete(batch);
    this.onClosed(report?.results ?? NO_SEGMENTS);
    this.onChange();
  }

  /** Replaces a batch's grant with its actual cost, from its own report or from the journal. */
  private async bookCost(
    batch: number,
    end: BatchResult | 'gone',
    segments: readonly string[],
  ): Promise<void> {
    let counted: (SettledBatch & { readonly run: string | null }) | null =
      end === 'gone' ? null : { spent: end.report.taken, free: end.free, run: end.run };
    while (!this.books.isClosed(batch)) {
      counted ??= { ...(await this.books.settle(batch, segments)), run: null };
      const { spent, free, run } = counted;
      const { unsettled } = await this.books.move({ do: 'close', batch, spent, free, run });
      if (unsettled === true) counted = null;
    }
  }

  /** Settles a batch from a run that was reset or terminated. The batch sends nothing more, and its cost is counted. */
  private async settleForeign(batch: number): Promise<void> {
    if (this.settling.has(batch)) return;
    this.settling.add(batch);
    this.retire(batch);
    await this.bookCost(batch, 'gone', []);
    this.settling.delete(batch);
    this.onChange();
  }

  private sendOrders(open: OpenBatch, now: number, desired: DesiredState): void {
    if (open.ordersInFlight || open.end !== null) return;
    const orders = this.ordersFor(open, desired);
    const text = textOf(orders);
    if (text === open.sentOrders && now - open.acknowledgedAt < SILENT_MS) return;
    open.sentOrders = text;
    open.ordersInFlight = true;
    void this.signal(open.batch, orders).then(async (wasDelivered) => {
      if (wasDelivered) open.acknowledgedAt = Date.now();
      else {
        // The batch has closed. Its result may still arrive; if not, the journal shows what it bought.
        await condition(() => open.end !== null, RESULT_MS);
        open.end ??= 'gone';
      }
      open.ordersInFlight = false;
      this.onChange();
    });
  }

  private ordersFor(open: OpenBatch, { createsPerSecond, paused, stop, leaves }: DesiredState): BatchOrders {
    const granted = this.books.granted(open.batch);
    const handBack = leaves || open.handBack;
    return { n: this.n, slots: open.slots, createsPerSecond, granted, paused, stop, handBack };
  }

  /** Orders another campaign run's batch to hand back its rows. Its result is not awaited. */
  private retire(batch: unknown): void {
    if (typeof batch !== 'number' || !Number.isInteger(batch) || batch < 0) return;
    const nothing = { slots: 0, createsPerSecond: null, granted: 0, paused: true, stop: null } as const;
    void this.signal(batch, { ...nothing, n: 0, handBack: true });
  }

  private async signal(batch: number, orders: BatchOrders): Promise<boolean> {
    this.n = Math.max(this.n + 1, Date.now());
    try {
      const handle = getExternalWorkflowHandle(batchWorkflowId(this.campaign, batch));
      await handle.signal(SIGNAL.campaignOrders, { ...orders, n: this.n });
      return true;
    } catch (error) {
      throwBug(error);
      return false;
    }
  }
}

function textOf({ n: _n, ...orders }: BatchOrders): string {
  return JSON.stringify(orders);
}
