import { failureRow } from '../domain/failure-table';
import { type CampaignRowResult, type RowOutcome } from '../domain/campaign/row';
import { type RejectReason } from '../domain/paid-call';
import { type ErrorKind } from '../domain/task-error';

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

/** What happened to a row without a result, and what a person does next in a campaign. Code stands between backticks. */
export function trouble(
  result: CampaignRowResult,
): { readonly meaning: string; readonly todo: string } | null {
  const row = failureRow({
    outcome: result.outcome,
    ...(result.reason !== undefined && { reason: result.reason }),
    error: { kind: result.errorKind ?? 'unknown' },
  });
  const meaning = CAMPAIGN_MEANING[result.outcome] ?? row?.meaning;
  return meaning === undefined ? null : { meaning, todo: todoOf(result) ?? row?.hint ?? '' };
}

const CAMPAIGN_MEANING: { readonly [outcome in RowOutcome]?: string } = {
  skipped_budget: 'The budget was spent before this row; nothing was sent.',
  changed: 'The row was bought before with another text, and its earlier result stands.',
};

/** The hints of the failure table are about single calls: a row goes on by the commands of its campaign. */
function todoOf({ outcome, reason, errorKind }: CampaignRowResult): string | undefined {
  switch (outcome) {
    case 'still_running':
    case 'content_unavailable':
      return reason === 'expired'
        ? undefined
        : '`temporal-media campaign resume` fetches it; nothing is created again.';
    case 'failed':
      return `${FAILED[errorKind ?? 'unknown']} Check the bill first: a failed job can still cost.`;
    case 'rejected':
      return reason === undefined ? undefined : REJECTED[reason];
    case 'unconfirmed':
      return 'Look into the task records of the service, then settle the row with `temporal-media campaign adopt` or `temporal-media campaign declare-lost`. Nothing is sent again until then.';
    case 'cancelled':
      return 'Run the campaign again under the same id: what was bought is fetched, never bought again.';
    case 'skipped_budget':
      return 'Raise the budget with `temporal-media campaign resume --budget`: only what is missing is bought.';
    case 'changed':
      return 'Run the campaign again with `--rebuy-changed` to buy the new text.';
    default:
      return undefined;
  }
}

const RETRY = '`temporal-media campaign retry`';
const CHANGE =
  'Change the row in the manifest and run the campaign again under the same id with `--rebuy-changed`.';

const FAILED: { readonly [kind in ErrorKind]: string } = {
  moderation: CHANGE,
  invalid: CHANGE,
  capacity: `${RETRY} buys a new attempt.`,
  quota: `Top up or raise the quota, then ${RETRY}.`,
  unknown: `Read the error; ${RETRY} buys a new attempt.`,
};

const REJECTED: { readonly [reason in RejectReason]?: string } & { readonly [reason: string]: string } = {
  moderation: CHANGE,
  invalid_request: CHANGE,
  capacity: `${RETRY} tries it again later.`,
  service_error: `${RETRY} tries it again when the service has recovered.`,
  quota: `Top up or raise the quota, then ${RETRY}.`,
  credentials: `Fix the key of the worker or its rights, then ${RETRY}.`,
  account_not_configured: `Start a worker with that account, then ${RETRY}.`,
  not_sent: `Check that the service and the workers are up, then ${RETRY}.`,
  retry_later: `${RETRY} tries it again, not before the time that the service named.`,
  declared_lost: `${RETRY} buys it anew.`,
};
