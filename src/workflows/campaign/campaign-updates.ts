import { ActivityFailure, defineUpdate, workflowInfo } from '@temporalio/workflow';
import {
  type CampaignUpdateResult,
  type CampaignUpdates,
  UPDATE_CHECKS,
} from '../../domain/campaign/campaign-state';
import { RETRIED_BY_DEFAULT } from '../../domain/campaign/plan';
import { campaignKeyPrefix } from '../../domain/creation-key';
import { given } from '../../domain/json';
import { ACTIVITY, UPDATE } from '../../domain/names';
import { type UnconfirmedDecision } from '../../domain/unconfirmed-decision';
import { fits, NO_INPUT, onUpdate, queuesOf } from '../handlers';
import { activity } from '../proxies';
import { type Campaign } from './campaign';

/** The `pause` Update: starts no new rows. Rows that were already sent continue. */
export const pauseUpdate = defineUpdate<CampaignUpdateResult, []>(UPDATE.pause);
/** The `resume` Update: ends a pause. */
export const resumeUpdate = defineUpdate<CampaignUpdateResult, []>(UPDATE.resume);
/** The `cancel` Update: ends the campaign gracefully. Rows that were not sent end with outcome `cancelled`. */
export const cancelUpdate = defineUpdate<CampaignUpdateResult, []>(UPDATE.cancel);
/** The `setConcurrency` Update: changes how many rows can be in progress at the same time. */
export const setConcurrencyUpdate = defineUpdate<CampaignUpdateResult, [CampaignUpdates['setConcurrency']]>(
  UPDATE.setConcurrency,
);
/** The `setPriority` Update: changes the priority of batches that have not started yet. */
export const setPriorityUpdate = defineUpdate<CampaignUpdateResult, [CampaignUpdates['setPriority']]>(
  UPDATE.setPriority,
);
/** The `raiseBudget` Update: raises the campaign's spending limit. */
export const raiseBudgetUpdate = defineUpdate<CampaignUpdateResult, [CampaignUpdates['raiseBudget']]>(
  UPDATE.raiseBudget,
);
/** The `resumeRows` Update: retries or resumes the rows of this run that ended without success. */
export const resumeRowsUpdate = defineUpdate<CampaignUpdateResult, [CampaignUpdates['resumeRows']]>(
  UPDATE.resumeRows,
);
/**
 * The `adopt` Update: assigns the given task to a row that was set aside. The row waits for the task and buys nothing.
 */
export const adoptRowUpdate = defineUpdate<CampaignUpdateResult, [CampaignUpdates['adopt']]>(UPDATE.adopt);
/**
 * The `declareLost` Update: records a finding by a person that the service accepted nothing for a row that was set
 * aside. Nothing will be sent again under its key.
 */
export const declareRowLostUpdate = defineUpdate<CampaignUpdateResult, [CampaignUpdates['declareLost']]>(
  UPDATE.declareLost,
);

const yes = (message: string): CampaignUpdateResult => ({ accepted: true, message });
const no = (message: string): CampaignUpdateResult => ({ accepted: false, message });

const CANCELLED = 'The campaign was canceled. Run it again under the same ID.';

/** Sets a running campaign's Update handlers. Must be called before the first await. */
export function acceptUpdates(campaign: Campaign): void {
  const simple = (update: typeof pauseUpdate, run: () => CampaignUpdateResult) =>
    onUpdate(update, NO_INPUT, () => {
      const result = run();
      campaign.wake();
      return result;
    });
  simple(pauseUpdate, () => {
    campaign.paused = true;
    campaign.readBookNow();
    return yes('Nothing more will be bought. Results in progress will be collected.');
  });
  simple(resumeUpdate, () => {
    if (campaign.stop === 'cancel') return no(CANCELLED);
    campaign.paused = false;
    return yes('The campaign has resumed.');
  });
  simple(cancelUpdate, () => {
    campaign.cancel();
    return yes(
      'Nothing more will be bought. Rows that were not bought end now. Rows in progress are already paid for, and their results will be collected.',
    );
  });
  const { setConcurrency: concurrency, setPriority, raiseBudget: budget, resumeRows: rows } = UPDATE_CHECKS;
  onUpdate(setConcurrencyUpdate, fits(concurrency), (input) => setConcurrency(campaign, input));
  onUpdate(setPriorityUpdate, fits(setPriority), ({ priority }) => {
    campaign.priority = priority;
    return yes(`Batches that start from now on have priority ${priority}.`);
  });
  onUpdate(raiseBudgetUpdate, fits(budget), (input) => raiseBudget(campaign, input));
  onUpdate(resumeRowsUpdate, fits(rows), (input) => resumeRows(campaign, input));
  onUpdate(adoptRowUpdate, fits(UPDATE_CHECKS.adopt), (input) => decide(campaign, 'adopt', input));
  onUpdate(declareRowLostUpdate, fits(UPDATE_CHECKS.declareLost), (input) =>
    decide(campaign, 'declareLost', input),
  );
}

function setConcurrency(
  campaign: Campaign,
  { concurrency }: CampaignUpdates['setConcurrency'],
): CampaignUpdateResult {
  campaign.concurrency = concurrency;
  campaign.wake();
  return yes(`At most ${concurrency} rows are in flight.`);
}

function raiseBudget(campaign: Campaign, { budget }: CampaignUpdates['raiseBudget']): CampaignUpdateResult {
  const had = campaign.budget;
  if (had === null) return no('The campaign has no budget.');
  if (budget.currency !== had.currency)
    return no(`The campaign's budget is in ${had.currency}. Specify the new budget in that currency.`);
  if (budget.microUnits <= had.microUnits) return no('The new budget must be larger than the current one.');
  campaign.budget = budget;
  // Resume rows that were skipped for lack of money, including skipped rows that batches have not reported yet.
  const counts = campaign.allResults().counts;
  const skipped = campaign.stop === 'budget' || (counts.skipped_budget ?? 0) > 0;
  if (campaign.stop === 'budget') campaign.stop = null;
  if (skipped) campaign.addSelection({ rows: 'again', outcomes: ['skipped_budget'] });
  campaign.countBillsNow();
  return yes('The budget was raised.');
}

function resumeRows(campaign: Campaign, { select }: CampaignUpdates['resumeRows']): CampaignUpdateResult {
  if (campaign.stop === 'cancel') return no(CANCELLED);
  const outcomes = ('outcomes' in select ? select.outcomes : undefined) ?? RETRIED_BY_DEFAULT;
  const { counts } = campaign.allResults();
  const rows = outcomes.reduce((sum, outcome) => sum + (counts[outcome] ?? 0), 0);
  if (rows === 0) return { ...no('No row ended with one of these outcomes, so no rows are resumed.'), rows };
  campaign.addSelection(select);
  return { ...yes('These rows are being resumed.'), rows };
}

/** Records a decision, which takes effect once it is in the journal. The row is then resumed under its existing key. */
async function decide(
  campaign: Campaign,
  decision: UnconfirmedDecision,
  input: CampaignUpdates['declareLost'] & Partial<CampaignUpdates['adopt']>,
): Promise<CampaignUpdateResult> {
  const { workflowId } = workflowInfo();
  const { key, creationKey, sendId, by, reason, taskId } = input;
  if (!creationKey.startsWith(campaignKeyPrefix(workflowId)))
    return no('creationKey must belong to a row in this campaign.');
  const resolve = activity(ACTIVITY.resolveUnconfirmed, {
    taskQueue: queuesOf(campaign.input.queues).create,
    summary: decision,
  });
  try {
    const result = await resolve({ creationKey, sendId, decision, ...given({ taskId }), by, reason });
    // If the call was already decided or its outcome is now known, the row is still resumed.
    const settled = result.resolved || result.answer !== null;
    if (!settled) return no(result.message);
    campaign.addSelection({ rows: 'again', outcomes: ['unconfirmed', 'results_lost'], keys: [key] });
    return result.resolved ? yes('The decision was recorded. The row is being resumed.') : no(result.message);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return no('No worker could apply the decision in time. It may already be in the journal. Send it again.');
  }
}
