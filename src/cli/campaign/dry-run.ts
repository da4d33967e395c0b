import { type MediaConfig } from '../../config';
import { type Money } from '../../domain/billing';
import { type CommandContext } from '../command-context';
import { modelsInForce, type ModelsOrigin } from '../models/models-in-force';
import { refused } from './confirm-campaign';
import { issueLines } from './issue-lines';
import { mostOf } from './most-spent';
import { type PlanHere, planHere } from './plan-here';
import { planLines, type ShownPlan, shownPlan } from './plan-lines';

/** `data` of a dry run. */
export interface CampaignEstimate {
  readonly dryRun: true;
  readonly plan: ShownPlan;
  /** The most that it may cost with all retries, never more than the budget; null is unknown. */
  readonly most: Money | null;
  readonly source: ModelsOrigin;
}

/**
 * `campaign run --dry-run`: the rows, their models, their price and every row that is not valid. Sends nothing, stores
 * nothing, starts nothing, needs no server; earlier results under the id are therefore not known. @throws CliError
 */
export async function showCampaignDryRun(
  { report }: CommandContext,
  manifest: PlanHere,
  config: MediaConfig,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const models = await modelsInForce(config, env);
  const plan = await planHere(report, models, manifest);
  for (const line of planLines(plan, manifest.input)) report.result(line);
  if (models.origin.origin === 'none')
    report.result('models: not in a configuration, so their values were not checked');
  for (const line of issueLines(plan)) report.say(line);
  report.say('Dry run: nothing was sent and nothing was started.');
  if (plan.refused !== undefined) throw refused(plan);
  const most = mostOf(plan, manifest.input);
  const data: CampaignEstimate = { dryRun: true, plan: shownPlan(plan), most, source: models.origin };
  report.reply({ ok: true, data: { ...data } });
}
