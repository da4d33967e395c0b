import { requireUnpaused } from '../../client/errors';
import { type CampaignExecution } from '../../client';
import { type CampaignUpdateResult } from '../../domain/campaign/state';
import { badInput, CliError } from '../cli-error';
import { type CommandContext, type CommonOptions, effectiveEnvironment } from '../command-context';
import { type Connected } from '../connect';
import { spendLimitOf } from '../spend/spend-limit';
import { withServer } from '../with-server';
import { amountOf, type ConsentOptions, countOf, moneyOf } from './campaign-options';
import { confirmMore } from './confirm-campaign';

export interface SetOptions extends CommonOptions, ConsentOptions {
  readonly concurrency?: string;
  readonly budget?: string;
}

/** `campaign pause` and `campaign cancel`. @throws CliError */
export async function orderCampaign(
  context: CommandContext,
  id: string,
  order: 'pause' | 'cancel',
  options: CommonOptions,
): Promise<void> {
  await withServer(context, options, async (connected) => {
    await needWorker(connected, id);
    answerOrders(context, id, [await connected.media.orderCampaign(id, order)]);
  });
}

/** `campaign set`: another concurrency, another budget, while it runs. @throws CliError */
export async function setCampaign(context: CommandContext, id: string, options: SetOptions): Promise<void> {
  const { report } = context;
  const concurrency = countOf('--concurrency', options.concurrency);
  const amount = amountOf('--budget', options.budget);
  if (concurrency === undefined && amount === undefined)
    throw badInput([
      { field: '--concurrency', message: '--concurrency or --budget is needed: nothing else can be set.' },
    ]);
  const limit = spendLimitOf(options.maxSpend, effectiveEnvironment(context, options));
  await withServer(context, options, async (connected) => {
    await needWorker(connected, id);
    const { media } = connected;
    const results: CampaignUpdateResult[] = [];
    if (amount !== undefined) {
      const state = await media.campaignState(id);
      const before = state.budget?.total;
      const budget = moneyOf('--budget', amount, before?.currency ?? state.currency);
      if (budget !== undefined) {
        await confirmMore(report, { limit, yes: options.yes === true, budget }, before);
        results.push(await media.orderCampaign(id, 'raiseBudget', { budget }));
      }
    }
    if (concurrency !== undefined)
      results.push(await media.orderCampaign(id, 'setConcurrency', { concurrency }));
    answerOrders(context, id, results);
  });
}

/** An Update waits until a worker has carried it out: for a person that is no answer. @throws CliError */
export async function needWorker(connected: Connected, id: string): Promise<CampaignExecution> {
  const found = await connected.media.findCampaign(id);
  requireUnpaused(id, found.status);
  if ((await connected.hasWorker()) !== false) return found;
  const message = `No worker serves the task queue ${connected.taskQueue}: nobody carries out what the campaign is told.`;
  throw new CliError('no_worker', message);
}

/** @throws CliError `campaign_order_refused` for the first that was not carried out */
export function answerOrders(
  { report }: CommandContext,
  workflowId: string,
  results: readonly CampaignUpdateResult[],
): void {
  const refused = results.find(({ accepted }) => !accepted);
  const data = { workflowId, orders: results };
  for (const { accepted, message } of results) if (accepted) report.say(message);
  if (refused !== undefined) throw new CliError('campaign_order_refused', refused.message, { data });
  report.result(workflowId);
  report.reply({ ok: true, data });
}
