import { workflowInfo } from '@temporalio/workflow';
import {
  type ActiveRow,
  type BatchReport,
  type BatchResult,
  SAMPLE_ROWS,
} from '../../domain/campaign/messages';
import { type BatchState, SHOWN_ROWS } from '../../domain/campaign/campaign-state';
import { type BatchWork } from './batch-work';
import { costOf, isStarted, type Row } from './row';

/** Answer of the query `batch_state`. */
export function batchState({ rows }: BatchWork): BatchState {
  return { active: [...rows].slice(0, SHOWN_ROWS).map(activeRow) };
}

/** A row for display: no prompt, and a percentage only where the service sent one (C2.2.4). */
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

/** The state of a batch that the campaign needs. */
export function batchReport(batch: BatchWork, n: number): BatchReport {
  const { budget, input, rows, results } = batch;
  const needs = budget.needs();
  return {
    campaignRun: input.campaignRun,
    batch: input.batch,
    n,
    inFlight: batch.inFlight(),
    settling: batch.settling(),
    waiting: batch.waiting(),
    granted: budget.granted(),
    taken: budget.taken(),
    needs: needs === null ? null : { row: needs, all: Math.max(needs, lacking(batch)) },
    ended: batch.pages.ended(),
    results: results.written(),
    held: batch.heldNow(Date.now()),
    sample: [...rows].slice(0, SAMPLE_ROWS).map(activeRow),
    limits: batch.limitShares(),
  };
}

/** Micro-units that the rows of this batch may still need beyond its grant. */
function lacking({ rows, pages, budget, input }: BatchWork): number {
  let needed = 0;
  for (const row of rows)
    if (row.phase === 'waiting' && !isStarted(row) && row.create === null && row.cost === 0)
      needed += costOf(input.campaign, row);
  for (const set of pages.all) {
    if (set.opened === null) continue;
    for (const index of set.unstarted()) needed += set.row(index).spec.estimate ?? 0;
  }
  return needed - ((budget.granted() ?? 0) - budget.taken());
}

/**
 * The result of a batch.
 * @param polledAt when its rows may have been polled last, in workflow time
 */
export function batchResult(batch: BatchWork, polledAt: number): BatchResult {
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

/** Whether this batch may have started a row: the next batch finds it in the journal and pays nothing for it. */
function isPaid(row: Row): boolean {
  return row.phase !== 'waiting' || isStarted(row) || row.create?.unknown !== undefined;
}
