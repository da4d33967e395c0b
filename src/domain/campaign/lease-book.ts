import { type PageLease, packRows, pageName, unpackRows } from './messages';

/** A page that a lane holds, as the parent keeps it. */
export interface Lease extends PageLease {
  readonly lane: number;
}

/** A plan of which pages are still to be given out. */
export interface OpenPlan {
  readonly index: string;
  readonly generation: number;
  readonly pages: number;
  /** Next page that no lane has had. */
  readonly next: number;
}

export interface LeaseBookState {
  readonly plans: readonly OpenPlan[];
  readonly leases: readonly Lease[];
  /** Number of the next lease. */
  readonly next: number;
}

/** Which lane holds which page (design 4.11). Pages are given out in their order; no list of rows is kept. */
export class LeaseBook {
  private plans: OpenPlan[];
  private readonly leases = new Map<number, Lease>();
  private next: number;

  constructor(saved?: LeaseBookState) {
    this.plans = [...(saved?.plans ?? [])];
    for (const lease of saved?.leases ?? []) this.leases.set(lease.lease, lease);
    this.next = saved?.next ?? 0;
  }

  addPlan(plan: Omit<OpenPlan, 'next'>): void {
    if (plan.pages > 0) this.plans.push({ ...plan, next: 0 });
  }

  /** Gives the next page to a lane. @returns undefined when there is none */
  lend(lane: number): Lease | undefined {
    const [plan] = this.plans;
    if (plan === undefined) return undefined;
    const { index, generation, next: page } = plan;
    const lease: Lease = { lease: this.next, lane, index, page, generation, done: '' };
    this.next += 1;
    this.leases.set(lease.lease, lease);
    if (page + 1 >= plan.pages) this.plans.shift();
    else this.plans[0] = { ...plan, next: page + 1 };
    return lease;
  }

  /** Rows of a lease of which the parent has the results. @returns rows that it had already; null for no lease of ours */
  note(number: number, page: string, rows: string): number | null {
    const lease = this.leases.get(number);
    if (lease === undefined || pageName(lease) !== page) return null;
    const had = unpackRows(lease.done);
    const more = unpackRows(rows);
    const doubled = [...more].filter((row) => had.has(row)).length;
    this.leases.set(number, { ...lease, done: packRows(new Set([...had, ...more])) });
    return doubled;
  }

  /**
   * All rows of the page have ended, says its lane. It stays open for as long as the parent has not got every one of them.
   * @returns whether rows are lacking
   */
  close(number: number, page: string, rows: number): boolean {
    const lease = this.leases.get(number);
    if (lease === undefined || pageName(lease) !== page) return false;
    if (unpackRows(lease.done).size < rows) return true;
    this.leases.delete(number);
    return false;
  }

  of(lane: number): Lease[] {
    return [...this.leases.values()].filter((lease) => lease.lane === lane);
  }

  has(number: number): boolean {
    return this.leases.has(number);
  }

  /** How many lanes hold pages. */
  holders(): number {
    return new Set([...this.leases.values()].map(({ lane }) => lane)).size;
  }

  /** Whether every page was given out and came back. */
  isDone(): boolean {
    return this.plans.length === 0 && this.leases.size === 0;
  }

  /** Whether pages of a plan after this one are still out: rows that were taken up again. */
  hasTakenUp(first: number | null): boolean {
    const later = ({ generation }: { readonly generation: number }) => first !== null && generation > first;
    return this.plans.some(later) || [...this.leases.values()].some(later);
  }

  hasPages(): boolean {
    return this.plans.length > 0;
  }

  save(): LeaseBookState {
    return { plans: this.plans, leases: [...this.leases.values()], next: this.next };
  }
}
