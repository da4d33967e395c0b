import { type OpenedPage, type OpenedRow, type RowSpec } from '../../domain/campaign/activities';
import { type CarriedLease } from '../../domain/campaign/lane-state';
import { packRows, unpackRows, type PageLease } from '../../domain/campaign/messages';

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

  constructor(saved: PageLease | CarriedLease) {
    ({ lease: this.lease, index: this.index, page: this.page, generation: this.generation } = saved);
    this.next = 'next' in saved ? saved.next : 0;
    this.ended = unpackRows('ended' in saved ? saved.ended : saved.done);
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
    let count = 0;
    for (let index = this.next; index < this.opened.rows.length; index += 1)
      if (!this.ended.has(index)) count += 1;
    return count;
  }

  isDone(): boolean {
    return this.opened !== null && this.unwritten === 0 && this.ended.size >= this.opened.rows.length;
  }

  carry(): CarriedLease {
    const { lease, index, page, generation, next } = this;
    return { lease, index, page, generation, next, ended: packRows(this.ended) };
  }
}

/** The pages of a lane, in the order in which they came. */
export class LanePages {
  private leases = new Map<number, OpenLease>();

  constructor(carried: readonly CarriedLease[]) {
    for (const saved of carried) this.leases.set(saved.lease, new OpenLease(saved));
  }

  /** All pages as the parent names them. @returns whether something changed */
  apply(leases: readonly PageLease[]): boolean {
    let changed = false;
    const named = new Set(leases.map(({ lease }) => lease));
    for (const [number, held] of this.leases) {
      if (named.has(number)) continue;
      this.leases.delete(number);
      held.dropped = true;
      changed = true;
    }
    for (const lease of leases) {
      if (this.leases.has(lease.lease)) continue;
      this.leases.set(lease.lease, new OpenLease(lease));
      changed = true;
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
      const rows = lease.opened?.rows.length ?? 0;
      while (lease.next < rows && lease.ended.has(lease.next)) lease.next += 1;
      if (lease.next < rows) return { lease, index: lease.next };
    }
    return undefined;
  }

  carry(): CarriedLease[] {
    return this.all().map((lease) => lease.carry());
  }
}
