import { type FoundPurchases, type PageRange } from './activities';
import { type PageLease, pageName } from './messages';
import { packRows, unpackRows } from './row-set';

/** A page that a lane holds, as the parent keeps it. */
export interface Lease extends PageLease {
  readonly lane: number;
  /** Micro-units that the journal knows of, until its lane says what it has bought. */
  readonly found?: number;
  /** Its lane has said so. */
  readonly seen?: true;
}

/** A plan of which pages are still to be given out. */
export interface OpenPlan {
  readonly index: string;
  readonly generation: number;
  readonly pages: number;
  /** Next page that no lane has had. */
  readonly next: number;
  /** Micro-units that the journal knows of, by page; of pages before `next` their leases know. */
  readonly found?: readonly (readonly [page: number, microUnits: number])[];
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
    const found = plan.found?.find(([at]) => at === page)?.[1];
    const bare = { lease: this.next, lane, index, page, generation, done: '' };
    const lease: Lease = found === undefined ? bare : { ...bare, found };
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

  /** The pages of a lane have to be opened anew: what was bought of them is unknown until then. */
  forget(lane: number): void {
    for (const { seen: _, ...lease } of this.of(lane)) this.leases.set(lease.lease, lease);
  }

  /** The lane has said what it holds, and with it what was bought of this page. */
  see(number: number, page: string): void {
    const lease = this.leases.get(number);
    if (lease === undefined || lease.seen === true || pageName(lease) !== page) return;
    const { found: _, ...rest } = lease;
    this.leases.set(number, { ...rest, seen: true });
  }

  /** Pages of which nobody has said what was bought of them: those of lanes, then those that are still to be given out. */
  unseen(): PageRange[] {
    const lent = [...this.leases.values()].filter(({ seen }) => seen !== true);
    return [
      ...lent.map(({ index, page }) => ({ index, from: page, until: page + 1 })),
      ...this.plans.map(({ index, next, pages }) => ({ index, from: next, until: pages })),
    ];
  }

  /** What the journal knows of pages that are not seen yet, in place of what was found before. @param ranges from {@link unseen} */
  find(ranges: readonly PageRange[], { found }: FoundPurchases): void {
    const amounts = new Map<string, number>();
    for (const [range, page, money] of found) amounts.set(`${ranges[range]?.index ?? ''}/${page}`, money);
    this.plans = this.plans.map(({ found: _, ...plan }) => {
      const ahead = found.flatMap(([range, page, money]) =>
        ranges[range]?.index === plan.index ? [[page, money] as const] : [],
      );
      return ahead.length > 0 ? { ...plan, found: ahead } : plan;
    });
    for (const { found: _, ...lease } of [...this.leases.values()]) {
      if (lease.seen === true) continue;
      const amount = amounts.get(`${lease.index}/${lease.page}`);
      this.leases.set(lease.lease, amount === undefined ? lease : { ...lease, found: amount });
    }
  }

  /** Micro-units that were found and that no lane has spoken of: of pages of lanes, and of those still to be given out. */
  foundMoney(): { readonly lent: number; readonly ahead: number } {
    let lent = 0;
    for (const { found = 0 } of this.leases.values()) lent += found;
    let ahead = 0;
    for (const { found = [], next } of this.plans)
      for (const [page, money] of found) if (page >= next) ahead += money;
    return { lent, ahead };
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
