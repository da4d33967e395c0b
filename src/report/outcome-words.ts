import { failureRow } from '../domain/failure-table';
import { type CampaignRowResult, type RowOutcome } from '../domain/campaign/row';

/** How an outcome looks: `good` is done, `wait` goes on or was left out, `bad` needs a person. */
export type Tone = 'good' | 'wait' | 'bad';

export const OUTCOME_WORDS: {
  readonly [outcome in RowOutcome]: { readonly label: string; readonly tone: Tone };
} = {
  completed: { label: 'Completed', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  still_running: { label: 'Still running', tone: 'wait' },
  content_unavailable: { label: 'File unavailable', tone: 'bad' },
  task_unknown: { label: 'Task unknown', tone: 'bad' },
  unconfirmed: { label: 'Unconfirmed', tone: 'bad' },
  rejected: { label: 'Rejected', tone: 'bad' },
  results_lost: { label: 'Results lost', tone: 'bad' },
  cancelled: { label: 'Cancelled', tone: 'wait' },
  skipped_budget: { label: 'Not bought', tone: 'wait' },
  changed: { label: 'Text changed', tone: 'wait' },
};

/** What happened to a row without a result, and what a person does next: the words of the failure table. */
export function trouble(
  result: CampaignRowResult,
): { readonly meaning: string; readonly todo: string } | null {
  const own = CAMPAIGN_TROUBLE[result.outcome];
  if (own !== undefined) return own;
  const row = failureRow({
    outcome: result.outcome,
    ...(result.reason !== undefined && { reason: result.reason }),
    error: { kind: result.errorKind ?? 'unknown' },
  });
  return row === undefined ? null : { meaning: row.meaning, todo: row.hint };
}

const CAMPAIGN_TROUBLE: {
  readonly [outcome in RowOutcome]?: { readonly meaning: string; readonly todo: string };
} = {
  still_running: {
    meaning: 'The wait ended before the video did; the service goes on with it.',
    todo: 'temporal-media campaign resume fetches it; nothing is created again.',
  },
  skipped_budget: {
    meaning: 'The budget was spent before this row; nothing was sent.',
    todo: 'Raise the budget and run the campaign again under the same id: only what is missing is bought.',
  },
  changed: {
    meaning: 'The row was bought before with another text.',
    todo: 'Its earlier result stands. Run the campaign again with --rebuy-changed to buy the new text.',
  },
};
