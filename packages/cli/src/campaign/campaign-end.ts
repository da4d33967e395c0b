import { CAMPAIGN_ADVICE, filled } from 'temporal-media/internal/domain/advice';
import { type RowCounts, type RowOutcome, type CampaignResult, type PlanRefusal } from 'temporal-media';
import { type CommandErrorType, errorType, EXIT, type ExitCode } from '../exit-codes';
import { shellWord } from '../text';

/** How a campaign ended, as an exit code and a type of the registry. */
export type CampaignEnd =
  | { readonly ok: true; readonly type: 'done' | 'still_running'; readonly exitCode: ExitCode }
  | { readonly ok: false; readonly type: CampaignErrorType; readonly exitCode: ExitCode };

type CampaignErrorType =
  | CommandErrorType
  | 'rejected/account_not_configured'
  | 'rejected/unsafe_retry_policy';

const REFUSED: { readonly [reason in PlanRefusal['reason']]: CampaignErrorType } = {
  manifest_unreadable: 'manifest_unreadable',
  invalid_rows: 'manifest_invalid',
  no_rows: 'manifest_invalid',
  mixed_currencies: 'budget_refused',
  unpriced_models: 'budget_refused',
  budget_currency: 'budget_refused',
  account_not_configured: 'rejected/account_not_configured',
  no_journal: 'rejected/unsafe_retry_policy',
};

/** Rows with these outcomes wait for a decision. */
const UNDECIDED: readonly RowOutcome[] = ['unconfirmed', 'results_lost'];
/** Rows with these outcomes have failed. */
const FAILED: readonly RowOutcome[] = ['failed', 'content_unavailable', 'task_unknown', 'rejected'];

/**
 * How a campaign ended. The first that applies decides: refused before anything was sent; rows of unknown fate (5);
 * rows that are still running (75, resume it); cancelled by an order (5); failed rows (5); rows that the budget left
 * out (5); rows whose text has changed (5); all rows completed (0). Rows that --limit, --sample or --on-invalid skip
 * left out do not count.
 */
export function campaignEnd({
  outcome,
  plan,
  counts,
}: Pick<CampaignResult, 'outcome' | 'counts'> & {
  readonly plan: Pick<CampaignResult['plan'], 'refused'> | null;
}): CampaignEnd {
  // A run over earlier results ends normally even when its own plan was refused.
  if (plan?.refused !== undefined) return ended(refusalType(plan.refused));
  if (outcome === 'refused') return ended('manifest_unreadable');
  if (has(counts, UNDECIDED)) return ended('campaign_unconfirmed');
  if (has(counts, ['still_running'])) return { ok: true, type: 'still_running', exitCode: EXIT.stillRunning };
  if (outcome === 'cancelled' || has(counts, ['cancelled'])) return ended('campaign_cancelled');
  if (has(counts, FAILED)) return ended('campaign_failed_rows');
  if (has(counts, ['skipped_budget'])) return ended('campaign_budget_spent');
  if (has(counts, ['changed'])) return ended('campaign_changed_rows');
  return { ok: true, type: 'done', exitCode: EXIT.done };
}

/** The error type of a plan that was refused. */
export function refusalType({ reason }: PlanRefusal): CampaignErrorType {
  return REFUSED[reason];
}

/** What to do about a campaign that ended so, or whose plan was refused. */
export function endAdvice(type: CampaignEnd['type'], plan: RefusedPlan | null, campaign?: string): string {
  const advice: { readonly [name: string]: string } = CAMPAIGN_ADVICE;
  const text = advice[refusalName(plan) ?? type] ?? advice[type] ?? errorType(type).hint;
  return filled(text, { ID: campaign, CURRENCY: plan?.currency }, shellWord);
}

type RefusedPlan = Pick<CampaignResult['plan'], 'refused' | 'rows' | 'invalid' | 'currency'>;

/** Some reasons have several causes, each with an advice of its own. */
function refusalName(plan: RefusedPlan | null): string | undefined {
  if (plan?.refused?.reason === 'invalid_rows' && plan.rows === 0) return 'no_header';
  if (plan?.refused?.reason === 'no_rows' && plan.invalid > 0) return 'no_valid_rows';
  return plan?.refused?.reason;
}

function ended(type: CampaignErrorType): CampaignEnd {
  return { ok: false, type, exitCode: errorType(type).exitCode };
}

function has(counts: RowCounts, outcomes: readonly RowOutcome[]): boolean {
  return outcomes.some((outcome) => (counts[outcome] ?? 0) > 0);
}
