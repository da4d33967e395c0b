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

  giveBack(cost: number): void {
    this.spent -= cost;
  }

  committed(): number {
    return this.spent;
  }
}
