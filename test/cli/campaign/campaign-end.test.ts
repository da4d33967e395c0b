import { campaignEnd } from '../../../packages/cli/src/campaign/text';
import { type CampaignResult } from '../../../src/domain/campaign/campaign-state';
import { type PlanRefusal } from '../../../src/domain/campaign/plan';
import { type RowCounts, ROW_OUTCOMES } from '../../../src/domain/campaign/results';

const end = (
  counts: RowCounts,
  outcome: CampaignResult['outcome'] = 'completed',
  reason?: PlanRefusal['reason'],
) => {
  const plan = reason === undefined ? {} : { refused: { reason, message: 'x' } };
  const { type, exitCode } = campaignEnd({ outcome, counts, plan });
  return [type, exitCode];
};

describe('how a campaign ended', () => {
  test.each<[string, RowCounts, string, number]>([
    ['all rows completed', { completed: 4 }, 'done', 0],
    ['no row at all', {}, 'done', 0],
    ['a row of unknown fate', { completed: 4, unconfirmed: 1 }, 'campaign_unconfirmed', 5],
    ['a paid image that was lost', { results_lost: 1 }, 'campaign_unconfirmed', 5],
    ['a row that is still running', { completed: 4, still_running: 1 }, 'still_running', 75],
    ['a row that was cancelled', { completed: 4, cancelled: 1 }, 'campaign_cancelled', 5],
    ['a failed row', { completed: 4, failed: 1 }, 'campaign_failed_rows', 5],
    ['a refused row', { rejected: 1 }, 'campaign_failed_rows', 5],
    ['a row without its content', { content_unavailable: 1 }, 'campaign_failed_rows', 5],
    ['a row that the service does not know', { task_unknown: 1 }, 'campaign_failed_rows', 5],
    ['a row beyond the budget', { completed: 4, skipped_budget: 1 }, 'campaign_budget_spent', 5],
    ['a row with another text', { completed: 4, changed: 1 }, 'campaign_changed_rows', 5],
  ])('%s', (_title, counts, type, exitCode) => {
    expect(end(counts)).toEqual([type, exitCode]);
  });

  test('what needs attention first decides', () => {
    const order: (keyof RowCounts)[] = [
      'unconfirmed',
      'still_running',
      'cancelled',
      'failed',
      'skipped_budget',
      'changed',
      'completed',
    ];
    const counts = order.map((outcome) => ({ [outcome]: 1 }));
    order.forEach((outcome, place) => {
      const alone = end({ [outcome]: 1 });
      expect(end(Object.assign({}, ...counts.slice(place)) as RowCounts)).toEqual(alone);
    });
  });

  test('every outcome of a row but completed is told', () => {
    for (const outcome of ROW_OUTCOMES)
      expect([outcome, end({ [outcome]: 1 })[1] === 0]).toEqual([outcome, outcome === 'completed']);
  });

  test.each<[PlanRefusal['reason'], string, number]>([
    ['manifest_unreadable', 'manifest_unreadable', 65],
    ['invalid_rows', 'manifest_invalid', 65],
    ['no_rows', 'manifest_invalid', 65],
    ['mixed_currencies', 'budget_refused', 65],
    ['unpriced_models', 'budget_refused', 65],
    ['budget_currency', 'budget_refused', 65],
    ['account_not_configured', 'rejected/account_not_configured', 78],
  ])('a plan that was refused: %s', (reason, type, exitCode) => {
    expect(end({}, 'refused', reason)).toEqual([type, exitCode]);
    // Over earlier results a run ends by itself; that nothing was bought counts more than what was bought before.
    expect(end({ completed: 3 }, 'completed', reason)).toEqual([type, exitCode]);
  });

  test('an order to cancel is told even where no row was left', () => {
    expect(end({ completed: 1 }, 'cancelled')).toEqual(['campaign_cancelled', 5]);
  });
});
