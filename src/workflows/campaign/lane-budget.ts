import { type LaneGrant } from '../../domain/campaign/lane-state';
import { type LaneOrders } from '../../domain/campaign/messages';

type GrantOrder = Pick<LaneOrders, 'n' | 'granted' | 'freeze' | 'heard'>;

/**
 * A lane's part of the budget in integer micro-units. The parent grants, the lane commits before it sends; what provably
 * bought nothing is given back. Without a budget everything fits.
 */
export class LaneBudget {
  /** Estimate of the row that waits for money; null when none does. */
  needs: number | null = null;

  private granted: number | null;
  private frozen: boolean;
  /** Number of the first order of the run of the parent that is followed; 0 where parents of the first versions speak. */
  private since: number;

  constructor(
    { n, granted, freeze, heard }: GrantOrder,
    private spent: number,
    carried?: LaneGrant,
  ) {
    this.granted = carried === undefined ? granted : carried.held;
    this.frozen = freeze;
    this.since = carried?.since ?? (heard === undefined ? 0 : n);
  }

  /**
   * Another run of the parent may be one that was reset: what it grants, it may have given to another lane in what was
   * undone. So nothing is added before it has heard of an order of its own, and with it what each lane holds.
   */
  apply({ n, granted, freeze, heard }: GrantOrder, isOtherRun: boolean): void {
    if (heard !== undefined && isOtherRun) this.since = n;
    const { granted: held } = this;
    const waits = heard !== undefined && heard < this.since;
    this.granted = waits && held !== null && granted !== null ? Math.min(held, granted) : granted;
    this.frozen = freeze;
  }

  grant(): LaneGrant {
    return { held: this.granted, since: this.since };
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
