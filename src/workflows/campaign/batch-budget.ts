/**
 * The money of a batch, in integer micro-units. The book grants an amount; the batch takes from it before each send and
 * gives back what provably bought nothing. Without a budget there is no limit.
 */
export class BatchBudget {
  /** Creation keys of attempts that cost nothing, although the journal records them as bought. */
  readonly free = new Set<string>();
  private spent = 0;
  /** Smallest estimate that recently did not fit. */
  private lacked = 0;

  constructor(private grant: number | null) {}

  /** Takes `cost` from the grant. @returns whether it fitted */
  take(cost: number): boolean {
    if (this.grant !== null && cost > 0 && this.spent + cost > this.grant) {
      this.lacked = Math.min(this.needs() ?? cost, cost);
      return false;
    }
    this.spent += cost;
    return true;
  }

  giveBack(cost: number): void {
    this.spent -= cost;
  }

  grantNow(granted: number | null): void {
    this.grant = granted;
  }

  /** Estimate of the cheapest row that waits for money; null when none does. */
  needs(): number | null {
    const { grant, spent, lacked } = this;
    return grant !== null && lacked > 0 && spent + lacked > grant ? lacked : null;
  }

  granted(): number | null {
    return this.grant;
  }

  taken(): number {
    return this.spent;
  }
}
