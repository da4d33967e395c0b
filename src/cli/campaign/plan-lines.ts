import { type CampaignPlan, DEFAULT_MAX_ATTEMPTS, type PlannedModel } from '../../domain/campaign/plan';
import { type MoneyTotals, sumOf } from '../../domain/campaign/results';
import { formatMoney } from '../../domain/price';
import { amountText, moneyText, plainKey } from './campaign-text';
import { type SpendBounds, withRetries } from './most-spent';

/** A plan as scripts see it before anything exists of it: without the artifacts that hold its pages. */
export type ShownPlan = Omit<CampaignPlan, 'index' | 'issuesFile'>;

export function shownPlan({ index: _index, issuesFile: _file, ...plan }: CampaignPlan): ShownPlan {
  return plan;
}

/** What would be bought, for people; issues have lines of their own. */
export function planLines(plan: ShownPlan, bounds: SpendBounds = {}): string[] {
  const { rows, planned, done, left, invalid, changed, currency } = plan;
  const isRefused = plan.refused !== undefined;
  const parts = [isRefused ? 'none of them planned' : `${planned} to do`];
  if (done > 0) parts.push(`${done} have a result`);
  if (left > 0) parts.push(`${left} left for later`);
  if (invalid > 0) parts.push(`${invalid} not valid`);
  const lines = [`rows: ${rows} in the manifest, ${parts.join(', ')}`];
  for (const model of plan.models) lines.push(`  ${modelLine(model, currency)}`);
  if (changed.rows > 0)
    lines.push(
      `changed: ${changed.rows} bought with another text (${changed.keys.slice(0, 5).map(plainKey).join(', ')}${changed.rows > 5 ? ', …' : ''})`,
    );
  // Sums stand beside the models; of a plan that is refused they say what it would have cost.
  return isRefused ? lines : [...lines, ...moneyLines(plan, bounds)];
}

function moneyLines(plan: ShownPlan, bounds: SpendBounds): string[] {
  const { models, estimate, unpriced, begun, booked, currency } = plan;
  const lines: string[] = [];
  if (models.length > 0) lines.push(`estimate: ${sumText(estimate, unpriced, currency)}`);
  else if (begun.rows === 0) lines.push('Nothing has to be bought.');
  else lines.push(`Nothing new has to be bought: ${begun.rows} of the rows have a task already.`);
  const most = mostText(plan, bounds);
  if (most !== null) lines.push(most);
  const before = bookedText(booked, currency);
  if (before !== null) lines.push(before);
  return lines;
}

/** What retries may come to; null where nothing can be retried, and the estimate is all there is. */
function mostText(
  plan: ShownPlan,
  { maxAttempts = DEFAULT_MAX_ATTEMPTS, budget }: SpendBounds,
): string | null {
  const { models, estimate, unpriced, begun } = plan;
  const retries = maxAttempts > 1;
  const why = `after capacity failures a row is tried up to ${maxAttempts} times (--max-attempts), and each try may cost.`;
  const sum = withRetries(plan, maxAttempts);
  if (budget !== undefined && (sum === null || budget.microUnits < sum.microUnits)) {
    const bound = `at most ${formatMoney(budget)}, its budget`;
    if (!retries) return `It may cost ${bound}.`;
    const without =
      sum === null || sum.microUnits <= estimate
        ? '.'
        : `; without a budget it could be ${formatMoney(sum)}: ${why}`;
    return `With retries it may cost ${bound}${without}`;
  }
  if (!retries || (models.length === 0 && begun.rows === 0)) return null;
  if (sum !== null)
    return sum.microUnits === 0 ? null : `With retries it may cost at most ${formatMoney(sum)}: ${why}`;
  const rows = unpriced + begun.unpriced;
  return `What it may cost at most is not known, because ${rowsText(rows)} no known price and there is no budget: ${why}`;
}

/** What rows have cost before comes on top of the estimate; null where they cannot have cost anything. */
export function bookedText(booked: MoneyTotals, currency: string | null): string | null {
  if (sumOf(booked) === 0 && booked.unknown === 0) return null;
  return `Earlier attempts of these rows may have cost already, and the estimate does not count them: ${moneyText(booked, currency)}.`;
}

function modelLine(
  { model, operation, rows, estimate, unpriced }: PlannedModel,
  currency: string | null,
): string {
  const kind = { create_video: 'video', generate_image: 'image', edit_image: 'edit' }[operation];
  return `${plainKey(model)} (${kind}): ${rows} row${rows === 1 ? '' : 's'}, ${sumText(estimate, unpriced, currency)}`;
}

function rowsText(rows: number): string {
  return rows === 1 ? '1 row has' : `${rows} rows have`;
}

/** A sum with a part that nobody knows is no price (C1.5). */
function sumText(estimate: number, unpriced: number, currency: string | null): string {
  if (unpriced === 0) return amountText(estimate, currency);
  const known = estimate === 0 ? '' : `${amountText(estimate, currency)} and `;
  return `${known}${unpriced} row${unpriced === 1 ? '' : 's'} without a known price`;
}
