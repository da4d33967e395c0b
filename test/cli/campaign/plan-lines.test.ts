import { mayCost, mostOf, planLines } from '../../../packages/cli/src/campaign/local-plan';
import { NO_MONEY } from '../../../src/domain/campaign/results';
import { makePlan } from './make-state';

const usd = (microUnits: number) => ({ microUnits, currency: 'USD' });
const none = { estimate: 0, models: [] };
const started = { rows: 2, estimate: 200_000, unpriced: 0 };
const WHY =
  'after capacity failures, a row is attempted up to 3 times (--max-attempts), and each attempt may be charged.';

describe('what a plan may cost', () => {
  test('the most is every row tried as often as is allowed, and never more than the budget', () => {
    expect(mostOf(makePlan(), {})).toEqual(usd(3_000_000));
    expect(mostOf(makePlan(), { maxAttempts: 1 })).toEqual(usd(1_000_000));
    expect(mostOf(makePlan(), { budget: usd(2_000_000) })).toEqual(usd(2_000_000));
    expect(mostOf(makePlan(), { budget: usd(9_000_000) })).toEqual(usd(3_000_000));
  });

  test('[C1.5] a price that is not known makes it unknown, but for a budget', () => {
    expect(mostOf(makePlan({ unpriced: 1 }), {})).toBeNull();
    expect(mostOf(makePlan({ unpriced: 1 }), { budget: usd(9_000_000) })).toEqual(usd(9_000_000));
    expect(mostOf(makePlan({ started: { rows: 1, estimate: 0, unpriced: 1 } }), {})).toBeNull();
    expect(mostOf(makePlan({ started: { rows: 1, estimate: 0, unpriced: 1 } }), { maxAttempts: 1 })).toEqual(
      usd(1_000_000),
    );
  });

  test('a row whose attempt is bought already may cost further attempts, and nothing where there are none', () => {
    const plan = makePlan({ ...none, started });
    expect([mayCost(plan), mostOf(plan, {})]).toEqual([true, usd(400_000)]);
    expect([mayCost(plan, 1), mostOf(plan, { maxAttempts: 1 })]).toEqual([false, usd(0)]);
    expect(mostOf(makePlan({ started }), {})).toEqual(usd(3_400_000));
  });
});

describe('a plan in words', () => {
  const money = (...args: Parameters<typeof planLines>) => planLines(...args).slice(2);

  test('the estimate, and in one sentence the most that retries may come to', () => {
    expect(money(makePlan())).toEqual([
      'estimate: 1.00 USD',
      `With retries it may cost at most 3.00 USD: ${WHY}`,
    ]);
    expect(money(makePlan(), { maxAttempts: 1 })).toEqual(['estimate: 1.00 USD']);
    expect(money(makePlan(), { budget: usd(2_000_000) })[1]).toBe(
      `With retries it may cost at most 2.00 USD, its budget. Without a budget, it could cost 3.00 USD: ${WHY}`,
    );
    expect(money(makePlan(), { budget: usd(500_000), maxAttempts: 1 })[1]).toBe(
      'It may cost at most 0.50 USD, its budget.',
    );
    expect(money(makePlan(), { budget: usd(9_000_000) })[1]).toContain('at most 3.00 USD: ');
  });

  test('[C1.5] what nobody knows is said, and a price of 0 needs no sentence', () => {
    expect(money(makePlan({ unpriced: 1 }))).toEqual([
      'estimate: 1.00 USD and 1 row without a known price',
      `The maximum cost is unknown because 1 row has no known price and there is no budget: ${WHY}`,
    ]);
    expect(money(makePlan({ estimate: 0 }))).toEqual(['estimate: 0.00 USD']);
  });

  test('nothing to buy, and rows that are bought already', () => {
    expect(planLines(makePlan({ ...none, planned: 0, done: 10 })).slice(1)).toEqual([
      'Nothing needs to be bought.',
    ]);
    expect(planLines(makePlan({ ...none, started })).slice(1)).toEqual([
      'Nothing new needs to be bought: 2 of the rows already have a task.',
      `With retries it may cost at most 0.40 USD: ${WHY}`,
    ]);
  });

  test('what earlier attempts of the rows may have cost is said beside the estimate', () => {
    const booked = { ...NO_MONEY, needsReview: 200_000, settled: 100_000, unknown: 1 };
    expect(money(makePlan({ booked }), { maxAttempts: 1 })).toEqual([
      'estimate: 1.00 USD',
      'Earlier attempts of these rows may already have been charged and are not in the estimate: settled 0.10 USD, needs review 0.20 USD, 1 attempt without a known price.',
    ]);
  });
});
