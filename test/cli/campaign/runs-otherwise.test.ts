import { runsOtherwise } from '../../../packages/cli/src/campaign/run';
import { type CampaignState } from '../../../src/domain/campaign/campaign-state';

const usd = (microUnits: number) => ({ microUnits, currency: 'USD' });
const state = (budget: number | null): Pick<CampaignState, 'budget' | 'concurrency'> => ({
  concurrency: 100,
  budget:
    budget === null ? null : { total: usd(budget), spent: 0, reserved: 0, review: 0, free: budget, over: 0 },
});

describe('a campaign that runs already', () => {
  test.each([
    [{}, null],
    [{ budget: usd(2_000_000), concurrency: 100 }, 2_000_000],
    [{ concurrency: 100 }, null],
  ])('as it is asked to: %j', (asked, budget) => {
    expect(runsOtherwise(state(budget), asked)).toBeUndefined();
  });

  test.each([
    [{ budget: usd(5_000_000) }, 2_000_000, 'Its budget is 2.00 USD, not 5.00 USD.'],
    [{ budget: usd(5_000_000) }, null, 'It has no budget and is not limited to 5.00 USD.'],
    [{ concurrency: 20 }, 2_000_000, 'Its concurrency is 100, not 20.'],
    [
      { budget: { microUnits: 2_000_000, currency: 'EUR' }, concurrency: 1 },
      2_000_000,
      'Its budget is 2.00 USD, not 2.00 EUR. Its concurrency is 100, not 1.',
    ],
  ])('otherwise than %j', (asked, budget, words) => {
    expect(runsOtherwise(state(budget), asked)).toBe(words);
  });
});
