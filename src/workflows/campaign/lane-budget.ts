/**
 * A lane's part of the budget in integer micro-units. The parent grants, the lane commits before it sends; what provably
 * bought nothing is given back. Without a budget everything fits.
 */
export class LaneBudget {
  /** Estimate of the row that waits for money; null when none does. */
  needs: number | null = null;

  constructor(
    private granted: number | null,
    private spent: number,
    private frozen: boolean,
  ) {}

  apply(granted: number | null, frozen: boolean): void {
    this.granted = granted;
    this.frozen = frozen;
  }

  /** Takes `cost` out of the grant. @returns whether it fitted */
  take(cost: number): boolean {
    if (this.granted !== null && cost > 0 && (this.frozen || this.spent + cost > this.granted)) {
      this.needs = cost;
      return false;
    }
    this.spent += cost;
    return true;
  }

  /** What was bought before counts, whether it fits or not: nothing else is bought until the parent grants more. */
  takeAnyway(cost: number): void {
    this.spent += cost;
  }

  giveBack(cost: number): void {
    this.spent -= cost;
  }

  /**
   * A row is over: of what was taken for it, what stands on its books stays. So what is committed is at any time what the
   * books of ended rows have changed by, and what rows in flight have taken. `change` is below zero for a row that was
   * booked before and turned out to cost nothing.
   */
  settle(taken: number, change: number): void {
    this.spent += change - taken;
  }

  committed(): number {
    return this.spent;
  }
}
