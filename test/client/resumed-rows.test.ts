import {
  type CampaignStart,
  presentOutcomes,
  RESUMED_OUTCOMES,
  resumedRows,
} from '../../src/client/campaign-records';
import { makeState } from '../cli/campaign/make-state';

const manifest = { source: { url: 'https://example.com/m.csv' } };
const counts = { completed: 5, still_running: 2, skipped_budget: 1 };
const rows = (input: Partial<CampaignStart>, status: string, remaining?: number) =>
  resumedRows(
    { manifest, ...input },
    { status, counts, state: remaining === undefined ? undefined : makeState({ remaining }) },
  );

describe('what a resume resumes', () => {
  test('everything that is missing, without a limit', () => {
    expect(rows({}, 'COMPLETED')).toEqual({ select: { rows: 'missing' } });
    expect(rows({}, 'TERMINATED', 4)).toEqual({ select: { rows: 'missing' } });
  });

  test('behind a limit only rows that were started: a limit of money is not lifted by a resume', () => {
    const again = { select: { rows: 'again', outcomes: ['still_running', 'skipped_budget'] } };
    expect(rows({ limit: 10 }, 'COMPLETED')).toEqual(again);
    expect(rows({ sample: 10 }, 'COMPLETED')).toEqual(again);
  });

  test('closed from outside behind a limit: no more rows than it had left', () => {
    expect(rows({ limit: 10 }, 'TERMINATED', 2)).toEqual({ select: { rows: 'missing' }, limit: 5 });
    expect(rows({ sample: 10 }, 'TERMINATED', 2)).toEqual({ select: { rows: 'missing' }, sample: 5 });
    expect(rows({ limit: 10 }, 'TERMINATED')).toEqual({ select: { rows: 'missing' }, limit: 10 });
  });

  test('outcomes that rows have', () => {
    expect(presentOutcomes({ failed: 3 }, RESUMED_OUTCOMES)).toEqual([]);
    expect(presentOutcomes(counts, RESUMED_OUTCOMES)).toEqual(['still_running', 'skipped_budget']);
  });
});
