import {
  type BudgetState,
  type CampaignResult,
  type CampaignState,
  type MoneyTotals,
  type PlanRefusal,
  type RowCounts,
  type RowOutcome,
} from 'temporal-media';
import { CAMPAIGN_ADVICE } from 'temporal-media/internal/domain/advice';
import { endedRows, ROW_OUTCOMES } from 'temporal-media/internal/domain/campaign/results';
import { formatMoney } from 'temporal-media/internal/domain/money';
import { filled } from 'temporal-media/internal/domain/terminal-text';
import { type CommandErrorType, errorType, EXIT, type ExitCode } from '../shared/exit-codes';
import { shellWord } from '../shared/text';

/** How a campaign ended, with an exit code and an error type from the registry. */
type CampaignEnd =
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
 * Determines how a campaign ended. The first condition that applies decides: refused before anything was sent, rows
 * with an unknown outcome (5), rows still running (75, to be resumed), canceled by a command (5), failed rows (5), rows
 * that did not fit in the budget (5), rows with changed text (5), all rows completed (0). Rows excluded by --limit,
 * --sample or --on-invalid skip do not count.
 */
export function campaignEnd({
  outcome,
  plan,
  counts,
}: Pick<CampaignResult, 'outcome' | 'counts'> & {
  readonly plan: Pick<CampaignResult['plan'], 'refused'> | null;
}): CampaignEnd {
  // A run that has earlier results ends normally even if its own plan was refused.
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

/** Returns a refused plan's error type. */
export function refusalType({ reason }: PlanRefusal): CampaignErrorType {
  return REFUSED[reason];
}

/** Returns what to do next after a campaign ended this way or its plan was refused. */
export function endAdvice(type: CampaignEnd['type'], plan: RefusedPlan | null, campaign?: string): string {
  const advice: { readonly [name: string]: string } = CAMPAIGN_ADVICE;
  const text = advice[refusalName(plan) ?? type] ?? advice[type] ?? errorType(type).hint;
  return filled(text, { ID: campaign, CURRENCY: plan?.currency }, shellWord);
}

type RefusedPlan = Pick<CampaignResult['plan'], 'refused' | 'rows' | 'invalid' | 'currency'>;

/** Returns the advice name for a refusal. Some reasons have several causes, each with its own advice. */
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

/** `12 completed, 3 failed`, in the order of the outcomes. Empty if all counts are 0. */
export function countsText(counts: RowCounts): string {
  return ROW_OUTCOMES.filter((outcome) => (counts[outcome] ?? 0) > 0)
    .map((outcome) => `${counts[outcome] ?? 0} ${outcome.replaceAll('_', ' ')}`)
    .join(', ');
}

/** `12 of 20 rows have a result: 12 completed.` @param rows number of rows in the manifest, or null when unknown */
export function resultsText(counts: RowCounts, rows: number | null): string {
  const ended = endedRows(counts);
  // A shortened manifest has fewer rows than there are results.
  const all = rows === null || rows < ended ? ended : rows;
  if (ended === 0) return all === 0 ? 'No rows have a result.' : `0 of ${all} rows have a result.`;
  const of = all === ended ? '' : ` of ${all}`;
  return `${ended}${of} ${all === 1 ? 'row has' : 'rows have'} a result: ${countsText(counts)}.`;
}

function noneEnded({ inFlight }: Pick<CampaignState, 'inFlight'>, all: number): string {
  const of = `${all} ${all === 1 ? 'row' : 'rows'}`;
  if (inFlight === 0) return `No rows have ended yet, and 0 of ${of} are in flight.`;
  return `No rows have ended yet; ${inFlight} of ${of} ${inFlight === 1 ? 'is' : 'are'} in flight.`;
}

/**
 * `settled 1.20 USD, reserved 0.40 USD, 2 attempts without a known price; 3 attempts billed 1.20 USD, estimate 1.90 USD
 * for all`. Omits parts that are 0.
 */
export function moneyTotalsText(money: MoneyTotals, currency: string | null): string {
  return moneyParts(money, currency) || 'no cost recorded for ended rows';
}

function moneyParts(money: MoneyTotals, currency: string | null): string {
  const parts = (
    [
      ['settled', money.settled],
      ['estimated', money.estimated],
      ['reserved', money.reserved],
      ['needs review', money.needsReview],
    ] as const
  )
    .filter(([, microUnits]) => microUnits !== 0)
    .map(([word, microUnits]) => `${word} ${formatMoney({ microUnits, currency })}`);
  if (money.unknown > 0)
    parts.push(`${money.unknown} attempt${money.unknown === 1 ? '' : 's'} without a known price`);
  if (money.billed === 0) return parts.join(', ');
  const [actual, estimate] = [money.actual, money.estimate].map((microUnits) =>
    formatMoney({ microUnits, currency }),
  );
  const bills = `${money.billed} attempt${money.billed === 1 ? '' : 's'} billed ${actual}`;
  return [...(parts.length === 0 ? [] : [parts.join(', ')]), `${bills}, estimate ${estimate} for all`].join(
    '; ',
  );
}

/**
 * `5.00 USD of 15.00 USD spent, 2.00 USD reserved for rows in flight, …, 7.00 USD free`. The parts add up to the total,
 * plus what bills have added beyond it.
 */
export function budgetText({ total, spent, reserved, review, free, over }: BudgetState): string {
  const amount = (microUnits: number) => formatMoney({ ...total, microUnits });
  const parts = [`${amount(spent)} of ${formatMoney(total)} spent`];
  if (reserved !== 0) parts.push(`${amount(reserved)} reserved for rows in flight`);
  if (review !== 0) parts.push(`${amount(review)} under review (may have been charged)`);
  if (over !== 0) return [...parts, `${amount(over)} over the budget, because of bills`].join(', ');
  return [...parts, `${amount(free)} free`].join(', ');
}

/** Returns how many rows there are, and how many are done. `counts` still includes a resumed row's earlier outcome. */
export function rowProgress({
  counts,
  remaining,
  plan,
}: Pick<CampaignState, 'counts' | 'remaining' | 'plan'>): {
  readonly done: number;
  readonly all: number;
} {
  const counted = endedRows(counts) + remaining;
  const all = plan === null ? counted : Math.min(counted, plan.rows);
  return { done: Math.max(0, all - remaining), all };
}

/** Explains what a phase means for rows that have not been bought yet. Empty while the campaign runs. */
export const PHASE_TEXT: { readonly [phase in CampaignState['phase']]: string } = {
  planning: 'Reading the manifest.',
  running: '',
  paused: 'Paused: nothing more is created.',
  stopping: 'Ending: nothing more is created, and rows in flight are collected.',
  done: 'The campaign has ended.',
};

/** Describes a campaign's rows and money. */
export function standText(state: CampaignState): string {
  const { counts, inFlight, money, currency } = state;
  if (endedRows(counts) === 0) return noneEnded(state, rowProgress(state).all);
  const parts = [countsText(counts), `${inFlight} in flight`, moneyParts(money, currency)];
  return `${parts.filter((part) => part !== '').join('; ')}.`;
}

/** Describes a campaign's state in one line, for output that does not go to a terminal. */
export function progressLine(state: CampaignState): string {
  if (state.phase === 'planning') return PHASE_TEXT.planning;
  const { done, all } = rowProgress(state);
  const started = endedRows(state.counts) > 0 ? `${done}/${all} rows: ` : '';
  const sentences = [`${started}${standText(state)}`];
  if (state.rowsPerMinute !== null) sentences.push(`${state.rowsPerMinute} rows per minute.`);
  if (state.etaAt !== null) sentences.push(`Estimated end: ${state.etaAt}.`);
  return [...sentences, PHASE_TEXT[state.phase]].filter((sentence) => sentence !== '').join(' ');
}

/** Describes a row in progress: its key, its current step, and how long that step has taken. */
export function activeText(
  { key, phase, status, progress, since }: CampaignState['active'][number],
  now: number,
): string {
  const word = phase === 'watching' ? (status ?? 'watching') : phase;
  const share = progress === undefined ? '' : ` ${progress}%`;
  const seconds = Math.max(0, Math.round((now - Date.parse(since)) / 1_000));
  return `${plainKey(key)}  ${word}${share}  ${seconds} s`;
}

/** Replaces control characters, so that a key from an untrusted manifest cannot move the terminal's cursor. */
export function plainKey(key: string): string {
  // eslint-disable-next-line no-control-regex
  return key.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, '?');
}
