import { type OpenedRow } from '../../domain/campaign/campaign-activities';
import {
  addSegments,
  NO_MONEY,
  NO_SEGMENTS,
  type ResultsRef,
  type SegmentTotals,
} from '../../domain/campaign/results';
import { type CampaignRowResult } from '../../domain/campaign/row';
import { totalsOf } from '../../domain/campaign/row-result';
import { ACTIVITY } from '../../domain/names';
import { activity } from '../proxies';
import { failedByHand, unlessCancelled } from '../timers';
import { type OpenSet } from './batch-rows';

export function noResults(): ResultsRef {
  return { v: 1, generation: -1, indexes: [], segments: [], counts: {}, money: NO_MONEY, currency: null };
}

/**
 * Writes an index of segments, so that one hash replaces many.
 * @returns a function that replaces the segments in the results, which may have received more segments in the meantime
 */
export async function foldSegments(
  segments: readonly string[],
): Promise<(results: ResultsRef) => ResultsRef> {
  const fold = activity(ACTIVITY.foldResults, { summary: `index ${segments.length} segments` });
  for (;;)
    try {
      const { sha256 } = await fold({ segments });
      return (results) => ({
        ...results,
        indexes: [...results.indexes, sha256],
        segments: results.segments.slice(segments.length),
      });
    } catch (error) {
      await failedByHand(error);
    }
}

interface EndedRow {
  readonly set: OpenSet;
  readonly index: number;
  readonly result: CampaignRowResult;
  readonly was: OpenedRow['was'] | undefined;
  readonly estimate: number | null;
  readonly endedAt: number;
}

/** Maximum rows per segment. Keeps the activity's input far below the payload limit. */
const SEGMENT_ROWS = 200;
/**
 * A segment is written at this number of ended rows, or when the oldest ended row reaches this age. The age limit is
 * lower if few rows are in flight, because a person may be watching.
 */
const FLUSH_ROWS = 100;
const FLUSH_MS = 15_000;
const FLUSH_FEW_MS = 3_000;
const FEW_ROWS = 50;

export class BatchResults {
  private ended: EndedRow[] = [];
  private writing = 0;
  private totals = NO_SEGMENTS;
  private flushMs = FLUSH_FEW_MS;

  constructor(
    private readonly onChange: () => void,
    private readonly onSegment: () => void,
  ) {}

  add(row: EndedRow): void {
    this.ended.push(row);
    this.onChange();
  }

  /** Starts writing a segment when enough rows have ended, or when there is nothing else to wait for. */
  write(now: number, idle: boolean, inFlight: number): void {
    const oldest = this.ended[0];
    if (this.writing > 0 || oldest === undefined) return;
    this.flushMs = inFlight > FEW_ROWS ? FLUSH_MS : FLUSH_FEW_MS;
    if (!idle && this.ended.length < FLUSH_ROWS && now - oldest.endedAt < this.flushMs) return;
    const rows = this.ended.splice(0, SEGMENT_ROWS);
    this.writing = rows.length;
    void this.record(rows).then(() => {
      this.writing = 0;
      this.onSegment();
    }, unlessCancelled);
  }

  /** Returns the workflow time by which the oldest row must be written; null if no row is waiting. */
  dueAt(): number | null {
    const oldest = this.ended[0];
    return this.writing > 0 || oldest === undefined ? null : oldest.endedAt + this.flushMs;
  }

  unwritten(): number {
    return this.ended.length + this.writing;
  }

  written(): SegmentTotals {
    return this.totals;
  }

  private async record(rows: readonly EndedRow[]): Promise<void> {
    const record = activity(ACTIVITY.recordRows, { summary: `results of ${rows.length}` });
    const results = rows.map(({ result }) => result);
    for (;;)
      try {
        const { sha256 } = await record({ rows: results });
        // The SDK keeps an activity's arguments until the run ends (docs/adr/0011).
        results.length = 0;
        for (const { set, index } of rows) set.markReported(index);
        this.totals = addSegments(this.totals, { segments: [sha256], ...totalsOf(rows) });
        return;
      } catch (error) {
        await failedByHand(error);
      }
  }
}
