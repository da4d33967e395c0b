import { type OpenedPage, type OpenedRow, type RowSpec } from '../../domain/campaign/activities';
import { type CarriedLease } from '../../domain/campaign/lane-state';
import { pageName, type PageLease } from '../../domain/campaign/messages';
import { packRows, unpackRows } from '../../domain/campaign/row-set';

/** A page that this lane holds. */
export class OpenLease {
  readonly lease: number;
  readonly index: string;
  readonly page: number;
  readonly generation: number;
  /** First row that was not begun; rows that ended before are passed over. */
  next: number;
  readonly ended: Set<number>;
  opened: OpenedPage | null = null;
  opening = false;
  /** Rows that ended and of which no segment was written yet. */
  unwritten = 0;
  /** The parent does not name it any more: nothing of it is begun. */
  dropped = false;
  /** Rows that ended and whose results never came to the parent: begun anew. */
  readonly redo: Set<number>;
  /** Rows beyond `next` that are in flight: what was bought before is begun first. */
  readonly ahead = new Set<number>();
  /** What was bought of it before is in flight. */
  sought: boolean;
  /** Rows whose results the parent has. */
  there: ReadonlySet<number> = new Set();

  constructor(saved: PageLease | CarriedLease) {
    ({ lease: this.lease, index: this.index, page: this.page, generation: this.generation } = saved);
    this.next = 'next' in saved ? saved.next : 0;
    this.ended = unpackRows('ended' in saved ? saved.ended : saved.done);
    this.redo = unpackRows(('redo' in saved ? saved.redo : undefined) ?? '');
    this.sought = 'sought' in saved && saved.sought === true;
  }

  name(): string {
    return pageName(this);
  }

  /**
   * The parent says which results it has. Rows that have ended here, and whose results are neither there nor on their
   * way, are lost: a parent that was reset has forgotten them. They are begun anew, under the keys that they have.
   */
  agree(done: string, onTheWay: ReadonlySet<number>): void {
    const there = unpackRows(done);
    this.there = there;
    for (const row of there) if (row >= this.next && !this.ahead.has(row)) this.ended.add(row);
    for (const row of [...this.ended]) {
      if (there.has(row) || onTheWay.has(row)) continue;
      this.ended.delete(row);
      this.redo.add(row);
      // What the journal knows of it by now is asked for again.
      this.opened = null;
      this.sought = false;
    }
  }

  isUnbegun(row: number): boolean {
    if (this.redo.has(row)) return true;
    return row >= this.next && !this.ended.has(row) && !this.ahead.has(row);
  }

  /** The next row that was neither begun nor ended. */
  nextRow(): number | undefined {
    for (const row of this.redo) return row;
    const rows = this.opened?.rows.length ?? 0;
    while (this.next < rows && !this.isUnbegun(this.next)) {
      this.ahead.delete(this.next);
      this.next += 1;
    }
    return this.next < rows ? this.next : undefined;
  }

  /** Rows that this lane has begun or ended: what was begun of them before is known here. @param inFlight of the run before */
  known(inFlight: readonly number[]): ReadonlySet<number> {
    const known = new Set([...Array(this.next).keys(), ...this.ended, ...this.ahead, ...inFlight]);
    for (const row of this.redo) known.delete(row);
    return known;
  }

  /** Whether a row of these is to be begun anew, so that what is known of it is not enough. */
  wantsAnyOf(rows: ReadonlySet<number>): boolean {
    return [...this.redo].some((row) => rows.has(row));
  }

  end(row: number): void {
    this.ahead.delete(row);
    this.ended.add(row);
  }

  begin(row: number): void {
    this.redo.delete(row);
    if (row >= this.next) this.ahead.add(row);
  }

  row(index: number): { readonly opened: OpenedRow; readonly spec: RowSpec } {
    const opened = this.opened?.rows[index];
    const spec = opened === undefined ? undefined : this.opened?.specs[opened.spec];
    if (opened === undefined || spec === undefined) throw new Error(`Page ${this.page} has no row ${index}`);
    return { opened, spec };
  }

  /** Rows that were neither begun nor ended; unknown pages count as full. */
  unbegun(): number {
    if (this.dropped || this.opened === null) return 0;
    let count = this.redo.size;
    for (let index = this.next; index < this.opened.rows.length; index += 1)
      if (this.isUnbegun(index) && !this.redo.has(index)) count += 1;
    return count;
  }

  isDone(): boolean {
    return this.opened !== null && this.unwritten === 0 && this.ended.size >= this.opened.rows.length;
  }

  carry(): CarriedLease {
    const { lease, index, page, generation, next, sought, redo } = this;
    return {
      lease,
      index,
      page,
      generation,
      next,
      ended: packRows(this.ended),
      ...(redo.size > 0 && { redo: packRows(redo) }),
      ...(sought && { sought }),
    };
  }
}

/** The pages of a lane, in the order in which they came. */
export class LanePages {
  private leases = new Map<number, OpenLease>();

  constructor(carried: readonly CarriedLease[]) {
    for (const saved of carried) this.leases.set(saved.lease, new OpenLease(saved));
  }

  /**
   * All pages as the parent names them.
   * @param onTheWay rows of a page whose results are on their way to the parent
   * @returns whether something changed
   */
  apply(leases: readonly PageLease[], onTheWay: (lease: OpenLease) => ReadonlySet<number>): boolean {
    let changed = false;
    const named = new Map(leases.map((lease) => [lease.lease, pageName(lease)] as const));
    for (const [number, held] of this.leases) {
      if (named.get(number) === held.name()) continue;
      this.leases.delete(number);
      held.dropped = true;
      changed = true;
    }
    for (const lease of leases) {
      const held = this.leases.get(lease.lease);
      if (held === undefined) this.leases.set(lease.lease, new OpenLease(lease));
      else held.agree(lease.done, onTheWay(held));
      changed ||= held === undefined || held.opened === null;
    }
    return changed;
  }

  all(): OpenLease[] {
    return [...this.leases.values()];
  }

  get(lease: number): OpenLease | undefined {
    return this.leases.get(lease);
  }

  unopened(): OpenLease[] {
    return this.all().filter(({ opened, opening }) => opened === null && !opening);
  }

  /** Rows that can be begun. */
  unbegun(): number {
    return this.all().reduce((sum, lease) => sum + lease.unbegun(), 0);
  }

  /** Pages that are not open yet. */
  pending(): number {
    return this.all().filter(({ opened }) => opened === null).length;
  }

  /** The next row in order that was neither begun nor ended. */
  nextRow(): { readonly lease: OpenLease; readonly index: number } | undefined {
    for (const lease of this.leases.values()) {
      if (lease.opened === null) continue;
      const index = lease.nextRow();
      if (index !== undefined) return { lease, index };
    }
    return undefined;
  }

  carry(): CarriedLease[] {
    return this.all().map((lease) => lease.carry());
  }
}
