import { isOpen } from '../../domain/execution-status';
import { type RetriedOutcome, type TakenUp } from '../../client';
import { RETRIED_OUTCOMES } from '../../client/campaigns';
import { type MediaConfig } from '../../config';
import { type CampaignInput } from '../../domain/campaign/plan';
import { badInput } from '../cli-error';
import { type CommandContext, effectiveConfig, effectiveEnvironment } from '../command-context';
import { given } from '../given';
import { openStore } from '../paid-options';
import { commandFor } from '../shell-word';
import { spendLimitOf } from '../spend/spend-limit';
import { withServer } from '../with-server';
import { amountOf, changesOf, moneyOf, type TakeUpCommandOptions } from './campaign-options';
import { confirmMore, confirmPlan, confirmUnjudged, showPlan } from './confirm-campaign';
import { needWorker } from './order-campaign';
import { modelsKnownHere, planHere } from './plan-here';
import { followCampaign } from './watch-campaign';

/** `campaign resume` and `campaign retry`: takes rows up, then follows the campaign. @throws CliError */
export async function takeUpCampaign(
  context: CommandContext,
  id: string,
  how: 'resume' | 'retry',
  options: TakeUpCommandOptions,
): Promise<void> {
  const { report } = context;
  const changes = changesOf(options);
  const amount = amountOf('--budget', options.budget);
  const outcomes = retriedOutcomes(options.outcome);
  const config = effectiveConfig(context, options);
  const env = effectiveEnvironment(context, options);
  const limit = spendLimitOf(options.maxSpend, env);
  await withServer(context, options, async (connected) => {
    const { media } = connected;
    const running = isOpen((await needWorker(connected, id)).status);
    const state = await media.campaignState(id).catch(() => undefined);
    const budget = moneyOf('--budget', amount, state?.budget?.total.currency ?? state?.currency);
    const confirm = async (input: CampaignInput): Promise<void> => {
      const consent = { limit, yes: options.yes === true, budget: budget ?? input.budget };
      const raised = running && budget !== undefined;
      if (raised) await confirmMore(report, consent, state?.budget?.total);
      // What a resume takes up of a campaign that runs was agreed to within its budget; a retry buys other attempts.
      if (!raised || how === 'retry') await confirmTakeUp(context, { id, config, env }, input, consent);
    };
    const all = { ...changes, ...given({ budget }), confirm };
    const taken =
      how === 'resume' ? await media.resumeCampaign(id, all) : await media.retryCampaign(id, outcomes, all);
    for (const message of taken.messages) report.say(message);
    if (running && (changes.waitFor !== undefined || changes.maxAttempts !== undefined)) report.say(NOT_NOW);
    report.say(takenText(taken, id));
    const { workflowId, runId, isNew } = taken.started;
    const url = connected.workflowUrl(workflowId);
    const facts = { workflowId, runId, isNew, ...given({ url }) };
    report.event('started', facts);
    if (options.detach === true) {
      report.result(id);
      report.reply({ ok: true, data: { ...facts, by: taken.by, rows: taken.rows } });
      return;
    }
    await followCampaign(context, connected, taken.started, options);
  });
}

const NOT_NOW =
  '--wait-for and --max-attempts change nothing while it runs: give them again once it has ended.';

function takenText({ by, rows }: TakenUp, id: string): string {
  if (by === 'start') return `Started ${id} again: it takes up what is left.`;
  return rows === null || rows === 0
    ? `${id} runs, and no row of it had to be taken up.`
    : `${rows} ${rows === 1 ? 'row' : 'rows'} of ${id} ${rows === 1 ? 'is' : 'are'} taken up.`;
}

/** @throws CliError */
async function confirmTakeUp(
  { report }: CommandContext,
  { id, config, env }: { readonly id: string; readonly config: MediaConfig; readonly env: NodeJS.ProcessEnv },
  input: CampaignInput,
  consent: Parameters<typeof confirmPlan>[2],
): Promise<void> {
  const models = await modelsKnownHere(config, env);
  const { source, format } = input.manifest;
  // A manifest that only the worker can read is judged there alone.
  if (models === undefined || !('artifact' in source)) return confirmUnjudged(report, consent);
  const store = openStore(config);
  const open = async () => (await store.read(source.artifact)) as AsyncIterable<Uint8Array>;
  const plan = await planHere(report, models, { campaign: id, input, format, open, store });
  const bounds = { ...consent, maxAttempts: input.maxAttempts };
  showPlan(report, plan, bounds);
  await confirmPlan(report, plan, bounds);
}

/** @throws CliError for an outcome of which no new attempt may be ordered */
function retriedOutcomes(names: readonly string[] | undefined): readonly RetriedOutcome[] | undefined {
  if (names === undefined) return undefined;
  const known: readonly string[] = RETRIED_OUTCOMES;
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return names as readonly RetriedOutcome[];
  const decided = unknown.includes('unconfirmed')
    ? ` A row that is unconfirmed is settled first: ${commandFor('campaign adopt', 'ID')} or declare-lost.`
    : '';
  throw badInput([
    { field: '--outcome', message: `cannot be ${unknown.join(', ')}.${decided}`, allowed: known },
  ]);
}
