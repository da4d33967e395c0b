import { ACTIVITY } from '../../domain/names';
import { type OpenedRow } from '../../domain/campaign/activities';
import { type ReportedSegment } from '../../domain/campaign/messages';
import { packRows, unpackRows } from '../../domain/campaign/row-set';
import { totalsOf } from '../../domain/campaign/row-result';
import { type CampaignRowResult } from '../../domain/campaign/row';
import { failedByHand, unlessCancelled } from '../failed-by-hand';
import { campaignPagesActivities } from '../proxies';
import { type OpenLease } from './lane-pages';

interface EndedRow {
  readonly lease: OpenLease;
  readonly index: number;
  readonly result: CampaignRowResult;
  readonly was: OpenedRow['was'] | undefined;
  readonly endedAt: number;
}

/** Rows of one segment at most: its activity's input stays far below the limit of a payload. */
const SEGMENT_ROWS = 200;
/** Enough rows to be worth a segment, or the oldest has waited so long: less where few rows end, and somebody watches. */
const WORTH_ROWS = 100;
const WORTH_MS = 15_000;
const FEW_WORTH_MS = 3_000;
const FEW_ROWS = 50;
/** Confirmed segments that are kept: a parent that was reset may ask for them again. */
const KEPT_SEGMENTS = 50;

/** Rows that ended, on their way into segments and to the parent. */
export class LaneResults {
  private ended: EndedRow[] = [];
  /** Rows of the segment that is being written. */
  private written: readonly EndedRow[] = [];
  private writing = false;
  private kept: ReportedSegment[] = [];
  private worthMs = FEW_WORTH_MS;

  constructor(
    private seq: number,
    private waiting: readonly ReportedSegment[],
    private readonly onChange: () => void,
    /** A segment was written: the parent should know. */
    private readonly onSegment: () => void,
  ) {}

  add(row: EndedRow): void {
    row.lease.end(row.index);
    row.lease.unwritten += 1;
    this.ended.push(row);
    this.onChange();
  }

  /** Starts a segment when there is enough, or when nothing else is left to wait for. */
  write(now: number, idle: boolean, inFlight: number): void {
    const oldest = this.ended[0];
    if (this.writing || oldest === undefined) return;
    this.worthMs = inFlight > FEW_ROWS ? WORTH_MS : FEW_WORTH_MS;
    if (!idle && this.ended.length < WORTH_ROWS && now - oldest.endedAt < this.worthMs) return;
    this.writing = true;
    const rows = this.ended.splice(0, SEGMENT_ROWS);
    this.written = rows;
    void this.record(rows).then(() => {
      this.writing = false;
      this.written = [];
      this.onSegment();
    }, unlessCancelled);
  }

  /** When the oldest row must be written, in workflow time; null when none waits. */
  dueAt(): number | null {
    const oldest = this.ended[0];
    return this.writing || oldest === undefined ? null : oldest.endedAt + this.worthMs;
  }

  /** The parent has everything up to this number. */
  confirm(seen: number): void {
    // A parent that was reset knows less than it said before.
    const again = this.kept.filter(({ seq }) => seq > seen);
    const confirmed = this.waiting.filter(({ seq }) => seq <= seen);
    this.kept = [...this.kept.filter(({ seq }) => seq <= seen), ...confirmed].slice(-KEPT_SEGMENTS);
    this.waiting = [...again, ...this.waiting.filter(({ seq }) => seq > seen)];
  }

  /** Rows of a page that have ended and that the parent has not confirmed. */
  onTheWay(lease: OpenLease): ReadonlySet<number> {
    const rows = new Set<number>();
    for (const row of [...this.ended, ...this.written]) if (row.lease === lease) rows.add(row.index);
    for (const { done } of this.waiting)
      for (const [number, packed, page] of done)
        if (number === lease.lease && page === lease.name())
          for (const row of unpackRows(packed)) rows.add(row);
    return rows;
  }

  /** Rows that have ended and stand in no segment yet. */
  unwritten(): number {
    return this.ended.length + this.written.length;
  }

  segments(): readonly ReportedSegment[] {
    return this.waiting;
  }

  /** Number of the newest segment. */
  lastSeq(): number {
    return this.seq;
  }

  /** Whether nothing waits to be written. */
  isWritten(): boolean {
    return !this.writing && this.ended.length === 0;
  }

  private async record(rows: readonly EndedRow[]): Promise<void> {
    const activities = campaignPagesActivities({ summary: `results of ${rows.length}` });
    const results = rows.map(({ result }) => result);
    for (;;)
      try {
        const { sha256 } = await activities[ACTIVITY.recordRows]({ rows: results });
        // The SDK keeps what an activity was called with until the run ends (docs/adr/0011).
        results.length = 0;
        return this.note(rows, sha256);
      } catch (error) {
        await failedByHand(error);
      }
  }

  private note(rows: readonly EndedRow[], sha256: string): void {
    const byLease = new Map<OpenLease, number[]>();
    for (const { lease, index } of rows) {
      lease.unwritten -= 1;
      const indexes = byLease.get(lease);
      if (indexes === undefined) byLease.set(lease, [index]);
      else indexes.push(index);
    }
    this.seq += 1;
    const done = [...byLease].map(
      ([lease, indexes]) => [lease.lease, packRows(indexes), lease.name()] as const,
    );
    this.waiting = [...this.waiting, { seq: this.seq, sha256, rows: rows.length, ...totalsOf(rows), done }];
  }
}
