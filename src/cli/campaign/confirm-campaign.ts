import { type CampaignPlan } from '../../domain/campaign/plan';
import { type Money } from '../../domain/billing';
import { CliError } from '../cli-error';
import { given } from '../given';
import { type Report } from '../report';
import { confirmSpend } from '../spend/confirm-spend';
import { type SpendLimit } from '../spend/spend-limit';
import { refusalType } from './campaign-end';
import { issueLines } from './issue-lines';
import { mayCost, mostOf, mostSpent, type SpendBounds } from './most-spent';
import { bookedText, planLines, shownPlan } from './plan-lines';
import { refusalHint } from './refusal-hint';

export interface CampaignConsent extends SpendBounds {
  readonly limit: SpendLimit | undefined;
  readonly yes: boolean;
}

/** Shows what a plan comes to. @throws CliError for a plan of which nothing may be sent, with its first issues */
export function showPlan(report: Report, plan: CampaignPlan, bounds: SpendBounds): void {
  for (const line of [...planLines(plan, bounds), ...issueLines(plan)]) report.say(line);
  if (plan.refused !== undefined) throw refused(plan);
}

/** Nothing is asked where nothing is bought, or nobody set a limit. @throws CliError `spend_not_confirmed` */
export async function confirmPlan(
  report: Report,
  plan: CampaignPlan,
  { limit, yes, ...bounds }: CampaignConsent,
): Promise<void> {
  if (limit === undefined || yes || !mayCost(plan, bounds.maxAttempts)) return;
  const estimate = mostOf(plan, bounds);
  const { unpriced, begun, booked, currency } = plan;
  await confirmSpend(report, {
    limit,
    estimate,
    upTo: true,
    ...given({ before: bookedText(booked, currency) ?? undefined }),
    ...(estimate === null && { unknownBecause: `${unpriced + begun.unpriced} rows have no known price.` }),
  });
}

/** Where only the worker knows the models, nobody knows the price here. @throws CliError `spend_not_confirmed` */
export async function confirmUnjudged(
  report: Report,
  { limit, yes, budget }: CampaignConsent,
): Promise<void> {
  report.say('No model configuration is known here (MEDIA_MODELS): the worker judges the rows.');
  if (limit === undefined || yes) return;
  const unknownBecause = 'No model configuration with prices is known here (MEDIA_MODELS).';
  await confirmSpend(report, { limit, estimate: mostSpent(null, budget), upTo: true, unknownBecause });
}

/** What a campaign that runs may spend more than before. @throws CliError `spend_not_confirmed` */
export async function confirmMore(
  report: Report,
  { limit, yes, budget }: CampaignConsent,
  before: Money | undefined,
): Promise<void> {
  if (budget === undefined || limit === undefined || yes) return;
  const more = budget.microUnits - (before?.microUnits ?? 0);
  if (more > 0) await confirmSpend(report, { limit, estimate: { ...budget, microUnits: more }, upTo: true });
}

export function refused(plan: CampaignPlan): CliError {
  const { refused: refusal } = plan;
  if (refusal === undefined) throw new Error('The plan stands.');
  const type = refusalType(refusal);
  const message = refusal.message.replace(' with onInvalid "skip"', ' with --on-invalid skip');
  return new CliError(type, `${message} Nothing was sent.`, {
    hint: refusalHint(plan),
    data: { plan: shownPlan(plan) },
  });
}
