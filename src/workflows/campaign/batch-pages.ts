import { type OpenedPage, type OpenedRow, type RowSpec } from '../../domain/campaign/activities';
import { type CreatedVideo } from '../../domain/paid-call';
import { partOf, rowNumbers, type RowSet } from '../../domain/campaign/row-set';

/** The rows of one page that belong to this batch. */
export class OpenSet {
  opened: OpenedPage | null = null;
  opening = false;
  private created = new Map<number, CreatedVideo>();
  /** Whether rows that were bought before have been started. */
  sought = false;
  private readonly rows: readonly number[];
  /** Index into `rows` of the first row that was not started; rows that were bought before start ahead of it. */
  private next = 0;
  private readonly ahead = new Set<number>();
  /** Rows whose results are in a segment. */
  private readonly reported = new Set<number>();

  constructor(readonly set: RowSet) {
    this.rows = rowNumbers(set);
  }

  /** Sets the page's rows and what the journal has of them. */
  open({ created = [], ...page }: OpenedPage): void {
    this.opened = page;
    this.created = new Map(created);
  }

  /** The video of a row that was started before. Returned only once, because it is large. */
  takeCreated(row: number): CreatedVideo | undefined {
    const created = this.created.get(row);
    this.created.delete(row);
    return created;
  }

  /** The next row that was not started. */
  nextRow(): number | undefined {
    if (this.opened === null) return undefined;
    for (; this.next < this.rows.length; this.next += 1) {
      const row = this.rows[this.next] as number;
      if (!this.ahead.has(row)) return row;
    }
    return undefined;
  }

  begin(row: number): void {
    this.ahead.add(row);
  }

  row(index: number): { readonly opened: OpenedRow; readonly spec: RowSpec } {
    const opened = this.opened?.rows[index];
    const spec = opened ? this.opened?.specs[opened.spec] : undefined;
    if (!opened || spec === undefined) throw new Error(`Page ${this.set.page} has no row ${index}`);
    return { opened, spec };
  }

  /** Rows that were not started. */
  unstarted(): number[] {
    return this.rows.filter((row) => !this.ahead.has(row));
  }

  remaining(): number {
    return this.rows.length - this.ahead.size;
  }

  markReported(row: number): void {
    this.reported.add(row);
  }

  ended(): RowSet | undefined {
    if (this.reported.size === this.rows.length) return this.set;
    return partOf(this.set, [...this.reported]);
  }

  /**
   * Rows without a result; those that the journal may know are in separate sets.
   * @param isStarted whether a row that was started here may be bought
   * @param polledAt when they may have been polled last, in workflow time
   */
  left(isStarted: (row: number) => boolean, polledAt: number): RowSet[] {
    const left = this.rows.filter((row) => !this.reported.has(row));
    const bought = (row: number) => (this.ahead.has(row) ? isStarted(row) : this.set.started !== undefined);
    const started = partOf(this.set, left.filter(bought), Math.max(polledAt, this.set.started ?? 0));
    const fresh = partOf(
      this.set,
      left.filter((row) => !bought(row)),
    );
    return [started ?? [], fresh ?? []].flat();
  }
}

/** The pages of a batch, in the order of its row sets. */
export class BatchPages {
  readonly all: readonly OpenSet[];

  constructor(sets: readonly RowSet[]) {
    this.all = sets.map((set) => new OpenSet(set));
  }

  unopened(): OpenSet[] {
    return this.all.filter(({ opened, opening }) => opened === null && !opening);
  }

  areOpen(): boolean {
    return this.all.every(({ opened }) => opened !== null);
  }

  /** Rows that were not started. */
  unstarted(): number {
    return this.all.reduce((sum, set) => sum + set.remaining(), 0);
  }

  /** The next row in order that was not started. */
  nextRow(): { readonly set: OpenSet; readonly index: number } | undefined {
    for (const set of this.all) {
      const index = set.nextRow();
      if (index !== undefined) return { set, index };
    }
    return undefined;
  }

  ended(): RowSet[] {
    return this.all.flatMap((set) => set.ended() ?? []);
  }
}
