import {
  ApplicationFailure,
  condition,
  defineQuery,
  defineSignal,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import {
  type ActiveRow,
  type BatchInput,
  batchInputCheck,
  type BatchOrders,
  batchOrdersCheck,
  type BatchReport,
  type BatchResult,
  SAMPLE_ROWS,
} from '../../domain/campaign/batch-messages';
import { type OpenedPage } from '../../domain/campaign/campaign-activities';
import { type BatchState, SHOWN_ROWS } from '../../domain/campaign/campaign-state';
import { FEW_AT_HAND } from '../../domain/campaign/concurrency';
import { type RowSet } from '../../domain/campaign/row-sets';
import { given } from '../../domain/json';
import { ACTIVITY, INVALID_INPUT, QUERY, SIGNAL } from '../../domain/names';
import { fits, onQuery, onSignal } from '../handlers';
import { activity } from '../proxies';
import { failedByHand, unlessCancelled } from '../timers';
import { PINNED } from '../workflow-metadata';
import { costOfRow, isStarted, type OpenSet, type Row } from './batch-rows';
import { BatchWork } from './batch-work';
import { fullnessSince, historyNow, type HistorySize, isFull } from './history-limits';
import { ImageCalls } from './image-calls';
import { Starts } from './starts';
import { endUnbought } from './unbought-rows';
import { Watches } from './watches';

function batchState({ rows }: BatchWork): BatchState {
  return { active: [...rows].slice(0, SHOWN_ROWS).map(activeRow) };
}

/** Returns a row for display, without its prompt. It includes a percentage only if the service reported one. */
function activeRow({ opened, phase, created, watch, startedAt }: Row): ActiveRow {
  const progress = watch?.state.progress ?? null;
  return {
    key: opened.key,
    phase,
    taskId: created?.video.taskId ?? null,
    status: watch?.state.lastStatus ?? null,
    ...(progress !== null && { progress }),
    since: new Date(startedAt).toISOString(),
  };
}

function batchReport(batch: BatchWork, n: number): BatchReport {
  const { budget, input, rows, results } = batch;
  const needs = budget.needs();
  return {
    campaignRun: input.campaignRun,
    batch: input.batch,
    n,
    inFlight: batch.inFlight(),
    settling: batch.settling(),
    waiting: batch.waiting(),
    granted: budget.granted,
    taken: budget.taken,
    needs: needs === null ? null : { row: needs, all: Math.max(needs, lacking(batch)) },
    ended: batch.pages.ended(),
    results: results.written(),
    held: batch.heldNow(Date.now()),
    sample: [...rows].slice(0, SAMPLE_ROWS).map(activeRow),
    limits: batch.limitShares(),
  };
}

/** Returns the amount that this batch's rows may still need beyond its grant, in micro-units. */
function lacking({ rows, pages, budget, input }: BatchWork): number {
  let needed = 0;
  for (const row of rows)
    if (row.phase === 'waiting' && !isStarted(row) && row.create === null && row.cost === 0)
      needed += costOfRow(input.campaign, row);
  for (const set of pages.all) {
    if (set.opened === null) continue;
    for (const index of set.unstarted()) needed += set.row(index).spec.estimate ?? 0;
  }
  return needed - ((budget.granted ?? 0) - budget.taken);
}

/**
 * Returns a batch's result.
 * @param polledAt the latest time when its rows may have been polled, in workflow time
 */
function batchResult(batch: BatchWork, polledAt: number): BatchResult {
  const started = new Map<object, Set<number>>();
  for (const row of batch.rows) {
    if (!isPaid(row)) continue;
    const rows = started.get(row.set) ?? new Set();
    started.set(row.set, rows.add(row.index));
  }
  const left = batch.pages.all.flatMap((set) =>
    set.left((row) => started.get(set)?.has(row) === true, polledAt),
  );
  return {
    report: batchReport(batch, batch.parent.nextNumber(Date.now())),
    run: workflowInfo().runId,
    why: batch.closed ? 'closed' : left.length > 0 ? 'handed_back' : 'done',
    free: [...batch.budget.free],
    left,
  };
}

/** Whether this batch may have started a row. If so, the next batch finds the row in the journal and pays nothing. */
function isPaid(row: Row): boolean {
  return row.phase !== 'waiting' || isStarted(row) || row.create?.unknown !== undefined;
}

/**
 * How long a batch waits for unfinished downloads before it ends, in milliseconds. The next batch restarts them.
 */
const DOWNLOAD_GRACE_MS = 15_000;
/**
 * When this share of a batch's rows has ended, the batch reports again, because their slots may go to other batches.
 */
const STEP = 1 / 40;

/** A batch's loop. Signals and completed activities change its state, and each of them wakes {@link run}. */
class Batch {
  readonly work: BatchWork;
  private readonly watches: Watches;
  private readonly starts: Starts;
  private readonly imageCalls: ImageCalls;
  private dirty = true;
  private openedAt: HistorySize | null = null;
  /** The stop order that was in effect when the journal last confirmed that this run owns the batch. */
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
    // After an outage, finished videos are downloaded first, because links expire. Creates come last.
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
    // If nothing in flight can give money back, the budget may be exhausted.
    const isStarved = work.budget.needs() !== null && work.settling() === 0;
    if (isStarved && !this.reportedStarved) parent.notify();
    this.reportedStarved = isStarved;
    if (waiting === 0 && work.endedSinceReport >= Math.max(1, size * STEP)) parent.notify();
    const dueAt = work.results.dueAt();
    if (dueAt !== null) alarm.at(dueAt);
    // The batch's result includes the remaining changes. If creates are open, report anyway, because they may wait a
    // day for a worker and delay the result.
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
    // Opening the pages does not count. The next batch would have to open them again, so batches could hand back
    // endlessly.
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
      // The loop's next round opens the page again. A canceled batch ends without it.
      await failedByHand(error).catch(unlessCancelled);
    } finally {
      open.opening = false;
      this.dirty = true;
    }
  }

  private runOpenPage({ index, page, rows }: RowSet): Promise<OpenedPage> {
    const open = activity(ACTIVITY.openPage, { summary: `open page ${page}` });
    const { input, payer } = this.work;
    return open({ index, page, campaign: input.campaign, payer, ...given({ rows }) });
  }

  /**
   * Whether rows can end as not bought. After the stop order, the journal must first confirm that no other run of this
   * batch has bought them. A batch that was reset manually receives its orders again and does not know what it sent.
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

  /** Resumes rows that an earlier batch started, before any new row is started. They are already paid for. */
  private adoptStarted(now: number): void {
    for (const set of this.work.pages.all) {
      if (set.sought) continue;
      set.sought = true;
      for (const index of set.unstarted()) {
        const { started, bought = 0, changed } = set.row(index).opened;
        // If the text of a row has changed, look it up only to record attempts that are missing from the books.
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
    // No polls start from here on. If a tick is in progress, wait for it.
    if (!this.watches.stop()) return false;
    work.dropReserved();
    return true;
  }
}

const campaignOrdersSignal = defineSignal<[BatchOrders]>(SIGNAL.campaignOrders);
const batchStateQuery = defineQuery<BatchState>(QUERY.batchState);

/**
 * Processes up to 1,250 of a campaign's rows: creates, polls, downloads and records results, with a single poll loop.
 * Started by `runCampaign`, to which it returns the unfinished rows. It never continues as new.
 */
export async function campaignBatch(input: BatchInput): Promise<BatchResult> {
  const issue = batchInputCheck(input, '');
  if (issue !== undefined) throw ApplicationFailure.nonRetryable(issue.message, INVALID_INPUT);
  const batch = new Batch(input);
  onSignal(campaignOrdersSignal, fits(batchOrdersCheck), (orders) => batch.work.order(orders));
  onQuery(batchStateQuery, () => batchState(batch.work));
  return batch.run();
}

setWorkflowOptions(PINNED, campaignBatch);
