import { ActivityFailure, defineUpdate, setHandler, workflowInfo } from '@temporalio/workflow';
import { UPDATE } from '../../domain/names';
import { decisionIssue, type UnconfirmedDecision } from '../../domain/unconfirmed-decision';
import { type CampaignUpdateResult, type CampaignUpdates } from '../../domain/campaign/state';
import { ROW_OUTCOMES, type RowOutcome } from '../../domain/campaign/row';
import { resolveUnconfirmedActivity } from '../proxies';
import { type Campaign } from './campaign';
import { laneSettings } from './campaign-settings';

type Simple = () => CampaignUpdateResult;

export const pauseUpdate = defineUpdate<CampaignUpdateResult, []>(UPDATE.pause);
export const resumeUpdate = defineUpdate<CampaignUpdateResult, []>(UPDATE.resume);
export const cancelUpdate = defineUpdate<CampaignUpdateResult, []>(UPDATE.cancel);
export const setConcurrencyUpdate = defineUpdate<CampaignUpdateResult, [CampaignUpdates['setConcurrency']]>(
  UPDATE.setConcurrency,
);
export const raiseBudgetUpdate = defineUpdate<CampaignUpdateResult, [CampaignUpdates['raiseBudget']]>(
  UPDATE.raiseBudget,
);
export const takeUpUpdate = defineUpdate<CampaignUpdateResult, [CampaignUpdates['takeUp']]>(UPDATE.takeUp);
export const adoptRowUpdate = defineUpdate<CampaignUpdateResult, [CampaignUpdates['adopt']]>(UPDATE.adopt);
export const declareRowLostUpdate = defineUpdate<CampaignUpdateResult, [CampaignUpdates['declareLost']]>(
  UPDATE.declareLost,
);

const yes = (message: string): CampaignUpdateResult => ({ accepted: true, message });
const no = (message: string): CampaignUpdateResult => ({ accepted: false, message });

/** What a person may do with a campaign while it runs. Set before the first await. */
export function acceptUpdates(campaign: Campaign): void {
  const change =
    (run: Simple): Simple =>
    () => {
      const result = run();
      campaign.wake();
      return result;
    };
  setHandler(
    pauseUpdate,
    change(() => {
      campaign.paused = true;
      return yes('Nothing more is created. What runs is collected.');
    }),
  );
  setHandler(
    resumeUpdate,
    change(() => {
      if (campaign.stop === 'cancel') return no('It was cancelled. Run it again under the same id.');
      campaign.paused = false;
      return yes('Rows are created again.');
    }),
  );
  setHandler(
    cancelUpdate,
    change(() => {
      campaign.cancel();
      return yes(
        'Nothing more is created: rows that are not bought end. What runs is paid for and is collected.',
      );
    }),
  );
  setHandler(setConcurrencyUpdate, (input) => setConcurrency(campaign, input));
  setHandler(raiseBudgetUpdate, (input) => raiseBudget(campaign, input));
  setHandler(takeUpUpdate, (input) => takeUp(campaign, input));
  setHandler(adoptRowUpdate, (input) => decide(campaign, 'adopt', input));
  setHandler(declareRowLostUpdate, (input) => decide(campaign, 'declareLost', input));
}

function setConcurrency(
  campaign: Campaign,
  { concurrency }: CampaignUpdates['setConcurrency'],
): CampaignUpdateResult {
  if (!Number.isInteger(concurrency) || concurrency < 1)
    return no('concurrency must be a whole number of at least 1.');
  campaign.concurrency = concurrency;
  campaign.addLanes();
  campaign.wake();
  return yes(`At most ${concurrency} in flight.`);
}

function raiseBudget(campaign: Campaign, { budget }: CampaignUpdates['raiseBudget']): CampaignUpdateResult {
  const had = campaign.budget;
  if (had === null) return no('The campaign has no budget.');
  if (budget?.currency !== had.currency) return no(`The budget is in ${had.currency}.`);
  if (!Number.isSafeInteger(budget.microUnits) || budget.microUnits <= had.microUnits)
    return no('The new budget must be larger than the old one.');
  campaign.budget = budget;
  if (campaign.stop === 'budget') campaign.stop = null;
  // Rows that were given up for want of money are taken up again.
  if ((campaign.results.counts.skipped_budget ?? 0) > 0)
    campaign.wishes.push({ rows: 'again', outcomes: ['skipped_budget'] });
  campaign.wake();
  return yes('The budget is raised.');
}

function takeUp(campaign: Campaign, { select }: CampaignUpdates['takeUp']): CampaignUpdateResult {
  if (campaign.stop === 'cancel') return no('It was cancelled. Run it again under the same id.');
  if (select?.rows !== 'retry' && select?.rows !== 'again')
    return no('Rows are taken up by {rows: "retry" | "again", outcomes}.');
  const outcomes: readonly RowOutcome[] = select.outcomes ?? [];
  if (!outcomes.every((outcome) => ROW_OUTCOMES.includes(outcome)))
    return no(`outcomes must be some of ${ROW_OUTCOMES.join(', ')}.`);
  const asked: readonly RowOutcome[] = outcomes.length === 0 ? ['failed'] : outcomes;
  const rows = asked.reduce((sum, outcome) => sum + (campaign.results.counts[outcome] ?? 0), 0);
  if (rows === 0) return { accepted: false, message: 'There are no such rows.', rows: 0 };
  campaign.wishes.push(select);
  campaign.wake();
  return { accepted: true, message: 'They are taken up again.', rows };
}

/** The decision counts once it is in the journal; then the row is taken up under the key that it has. */
async function decide(
  campaign: Campaign,
  decision: UnconfirmedDecision,
  input: CampaignUpdates['adopt'] | CampaignUpdates['declareLost'],
): Promise<CampaignUpdateResult> {
  const { workflowId, runId } = workflowInfo();
  const { key, creationKey, by, reason } = input;
  const taskId = 'taskId' in input ? input.taskId : undefined;
  const issue = decisionIssue({ decision, by, reason, ...(taskId !== undefined && { taskId }) });
  if (issue !== undefined) return no(issue);
  if (typeof creationKey !== 'string' || !creationKey.startsWith(`${workflowId}/`))
    return no('creationKey must be that of a row of this campaign.');
  const resolve = resolveUnconfirmedActivity({
    taskQueue: laneSettings(campaign.input).queues.create,
    summary: decision,
  });
  try {
    const result = await resolve({
      creationKey,
      decision,
      ...(taskId !== undefined && { taskId }),
      by,
      reason,
      decisionId: `${workflowId}/${runId}/${creationKey}/${decision}`,
    });
    // Decided before, or its fate is known by now: the row is looked at again all the same.
    const settled = result.resolved || result.answer !== null;
    if (!settled) return no(result.message);
    campaign.wishes.push({ rows: 'again', outcomes: ['unconfirmed', 'results_lost'], keys: [key] });
    campaign.wake();
    return result.resolved ? yes('Decided. The row is taken up again.') : no(result.message);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return no('No worker could carry the decision out in time. It may be in the journal: send it again.');
  }
}
