import { type CampaignPlan, DEFAULT_MAX_ATTEMPTS, type PlannedModel } from '../../domain/campaign/plan';
import { amountText, plainKey } from './campaign-text';

/** A plan as scripts see it before anything exists of it: without the artifacts that hold its pages. */
export type ShownPlan = Omit<CampaignPlan, 'index' | 'issuesFile'>;

export function shownPlan({ index: _index, issuesFile: _file, ...plan }: CampaignPlan): ShownPlan {
  return plan;
}

/**
 * What would be bought, for people; issues have lines of their own.
 * @param maxAttempts how often a row is tried after capacity failures, each of which may cost
 */
export function planLines(plan: ShownPlan, maxAttempts = DEFAULT_MAX_ATTEMPTS): string[] {
  const { rows, planned, done, left, invalid, changed, currency, estimate, unpriced } = plan;
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
  if (!isRefused)
    lines.push(
      planned === 0
        ? 'estimate: nothing to buy'
        : `estimate: ${sumText(estimate, unpriced, currency)}${mostText(estimate, currency, maxAttempts)}`,
    );
  return lines;
}

function modelLine(
  { model, operation, rows, estimate, unpriced }: PlannedModel,
  currency: string | null,
): string {
  const kind = { create_video: 'video', generate_image: 'image', edit_image: 'edit' }[operation];
  return `${plainKey(model)} (${kind}): ${rows} row${rows === 1 ? '' : 's'}, ${sumText(estimate, unpriced, currency)}`;
}

/** What rows without a known price may cost stays unknown: the words before say that there are some. */
function mostText(estimate: number, currency: string | null, maxAttempts: number): string {
  if (maxAttempts === 1 || estimate === 0) return '';
  const most = amountText(estimate * maxAttempts, currency);
  return `; at most ${most} if every row is tried ${maxAttempts} times after capacity failures (--max-attempts)`;
}

/** A sum with a part that nobody knows is no price (C1.5). */
function sumText(estimate: number, unpriced: number, currency: string | null): string {
  if (unpriced === 0) return amountText(estimate, currency);
  const known = estimate === 0 ? '' : `${amountText(estimate, currency)} and `;
  return `${known}${unpriced} row${unpriced === 1 ? '' : 's'} without a known price`;
}
