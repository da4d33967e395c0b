import { LaneBudget } from '../../src/workflows/campaign/lane-budget';

const order = (n: number, granted: number | null, heard?: number) => ({
  n,
  granted,
  freeze: false,
  ...(heard !== undefined && { heard }),
});

describe("a lane's part of the budget", () => {
  it('adds nothing that another run of the parent grants before that one has heard of an order of its own', () => {
    const budget = new LaneBudget(order(1, 50, 0), 0);
    budget.apply(order(2, 80, 1), false);
    expect(budget.take(80)).toBe(true);
    // Reset to before the second order, it gives the money to somebody else, and less or more to this one.
    budget.apply(order(10, 60, 1), true);
    expect(budget.grant()).toEqual({ held: 60, since: 10 });
    budget.apply(order(11, 90, 1), false);
    expect([budget.grant().held, budget.take(1)]).toEqual([60, false]);
    budget.apply(order(12, 90, 10), false);
    expect([budget.grant().held, budget.take(10), budget.take(1)]).toEqual([90, true, false]);
  });

  it('gives up at once what is taken back', () => {
    const budget = new LaneBudget(order(1, 50, 0), 0);
    budget.apply(order(2, 20, 1), true);
    expect([budget.take(21), budget.needs]).toEqual([false, 21]);
  });

  it('goes on with what it held when its own run is left behind', () => {
    const budget = new LaneBudget(order(1, 50, 0), 0);
    budget.apply(order(10, 90, 1), true);
    const next = new LaneBudget(order(10, 90, 1), 0, budget.grant());
    expect(next.grant()).toEqual({ held: 50, since: 10 });
  });

  it('takes a parent of the first versions at its word, and no budget for no bound', () => {
    const old = new LaneBudget(order(1, 50), 0);
    old.apply(order(2, 80), true);
    expect(old.grant().held).toBe(80);
    const free = new LaneBudget(order(1, null, 0), 0);
    free.apply(order(2, null, 1), true);
    expect(free.take(1_000_000)).toBe(true);
  });
});
