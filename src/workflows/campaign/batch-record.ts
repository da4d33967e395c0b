import { type BatchReport, type BatchResult } from '../../domain/campaign/batch-messages';
import { type RowSet, sizeOf, without } from '../../domain/campaign/row-sets';

/** A batch that was opened in the book and is not closed in it. */
export interface OpenBatch {
  readonly batch: number;
  readonly rows: readonly RowSet[];
  readonly size: number;
  slots: number;
  report: BatchReport | null;
  reportedAt: number;
  /** When it last reported or received orders. */
  acknowledgedAt: number;
  /** The last orders that it was sent, as text. */
  sentOrders: string;
  ordersInFlight: boolean;
  handBack: boolean;
  /** `gone`: it ended without a result. */
  end: BatchResult | 'gone' | null;
  closing: boolean;
}

export function openBatch(batch: number, rows: readonly RowSet[], now: number): OpenBatch {
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

/** Rows that are in flight or may be soon, by its last report: rows that wait for money leave their slots to others. */
export function leftOf({ report, size }: Pick<OpenBatch, 'report' | 'size'>): number {
  if (report === null) return size;
  return report.needs === null ? report.inFlight + report.waiting : report.inFlight;
}

export function waitingOf({ report, size }: Pick<OpenBatch, 'report' | 'size'>): number {
  return report === null ? size : report.waiting;
}

/** Whether a report has every ended row of the last one: after a reset by hand, a batch may report fewer. */
export function isWholeReport(report: BatchReport, before: Pick<OpenBatch, 'report'>): boolean {
  return without(before.report?.ended ?? [], report.ended).length === 0;
}

/** Rows without a reported result of a batch that is gone: any may be bought, and have been polled until now. */
export function leftByGone({ rows, report }: Pick<OpenBatch, 'rows' | 'report'>, now: number): RowSet[] {
  return without(rows, report?.ended ?? []).map((set) => ({ ...set, started: now }));
}
