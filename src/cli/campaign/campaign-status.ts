import { isOpen, PAUSED } from '../../domain/execution-status';
import { unpauseText } from '../paused';
import { type CampaignExecution } from '../../client';
import { type CampaignResult, type CampaignState } from '../../domain/campaign/state';
import { type Connected } from '../connect';
import { commandFor } from '../shell-word';
import { campaignEnd } from './campaign-end';

/** Everything that is known of a campaign. */
export interface CampaignStatus {
  readonly workflowId: string;
  readonly runId: string;
  /** Temporal's word for the newest run. */
  readonly status: string;
  readonly startedAt: string;
  readonly closedAt: string | null;
  /** Link into the web UI; null when none is known. */
  readonly url: string | null;
  /** What it does, or did last; null when it has a result, or nobody answers. */
  readonly state: CampaignState | null;
  /** What it came to; null while it runs, and when it was closed from outside. */
  readonly result: CampaignResult | null;
  /** One sentence: what is safe to do. */
  readonly safe: string;
  /** What could not be asked, and why. */
  readonly notes: readonly string[];
}

/** Reads only. @throws CampaignNotFoundError */
export async function campaignStatus(connected: Connected, id: string): Promise<CampaignStatus> {
  const { media } = connected;
  const found = await media.findCampaign(id);
  const { runId, status, startedAt, closedAt } = found;
  const notes: string[] = [];
  const hasWorker = await connected.hasWorker();
  if (hasWorker === false)
    notes.push(`No worker serves the task queue ${connected.taskQueue}: nothing goes on until one does.`);
  const result = status === 'COMPLETED' ? await media.campaignResult(id) : null;
  const state =
    result !== null || hasWorker === false || status === PAUSED
      ? null
      : await media.campaignState(id).catch(() => null);
  if (state === null && result === null && hasWorker !== false && status !== PAUSED)
    notes.push('The state could not be asked: no worker answered in time.');
  return {
    workflowId: id,
    runId,
    status,
    startedAt,
    closedAt,
    url: connected.workflowUrl(id) ?? null,
    state,
    result,
    safe: safeToDo(found, state, result),
    notes,
  };
}

function safeToDo(
  { campaign, status }: CampaignExecution,
  state: CampaignState | null,
  result: CampaignResult | null,
): string {
  const resume = `\`${commandFor('campaign resume', campaign)}\``;
  if (status === PAUSED)
    return `${unpauseText(campaign)} Nothing is lost, and nothing needs to be started again.`;
  if (isOpen(status))
    return state?.phase === 'paused'
      ? `It is paused: ${resume} lets it go on. What runs is collected all the same.`
      : 'Wait: it goes on by itself. The same manifest under this id attaches and orders nothing new.';
  if (result === null)
    return `It was closed from outside: ${resume} goes on. What was bought is adopted, not bought again.`;
  const { type } = campaignEnd(result);
  switch (type) {
    case 'done':
      return 'It is done. The same manifest under this id buys nothing again.';
    case 'campaign_unconfirmed':
      return `Settle the rows that were set aside (\`temporal-media campaign adopt\` or \`declare-lost\`), then ${resume}.`;
    case 'campaign_failed_rows':
      return `\`${commandFor('campaign report', campaign)}\` shows why rows failed; \`${commandFor('campaign retry', campaign)}\` buys a new attempt of each.`;
    case 'still_running':
    case 'campaign_cancelled':
    case 'campaign_budget_spent':
    case 'campaign_changed_rows':
      return `${resume} takes up what is left.`;
    default:
      return 'Nothing was sent. Correct the manifest or the configuration, and start it again under this id.';
  }
}
