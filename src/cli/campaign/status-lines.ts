import { endedRows } from '../../domain/campaign/results';
import { type CampaignState, type BatchView } from '../../domain/campaign/state';
import { type Paint, type Tone } from '../paint';
import { budgetText, countsText, moneyText, resultsText, rowsOf, standText } from './campaign-text';
import { type CampaignStatus } from './campaign-status';
import { issueLine } from './issue-lines';

/** Issues that a status shows: the report and --dry-run have all of them. */
const SHOWN_ISSUES = 5;

/** The answer of `campaign status` for people: one fact a line, the safe step last. */
export function campaignStatusLines(
  status: CampaignStatus,
  paint: Paint,
  { batches }: { readonly batches: boolean },
): string[] {
  const { workflowId, runId, state, result, startedAt, closedAt } = status;
  const lines: string[] = [];
  const add = (name: string, text: string | null | undefined, tone?: Tone): void => {
    if (text === null || text === undefined || text === '') return;
    const label = `${name}:`.padEnd(12);
    lines.push(`${tone === undefined ? label : paint(tone, label)} ${text}`);
  };
  const word = status.status.toLowerCase().replaceAll('_', ' ');
  const until = closedAt === null ? `since ${startedAt}` : `${startedAt} to ${closedAt}`;
  add('Campaign', `${workflowId} (run ${runId}), ${word}, ${until}`);
  add('UI', status.url);
  const facts = result ?? state;
  if (facts !== null) {
    const { plan, counts, money, currency } = facts;
    if (result !== null) add('Outcome', result.outcome);
    if (state !== null) add('Phase', state.phase);
    if (plan !== null) {
      const left = plan.left > 0 ? `, ${plan.left} left for later` : '';
      const invalid = plan.invalid > 0 ? `, ${plan.invalid} not valid` : '';
      const going = state === null ? '' : `, ${state.remaining} to go (${state.inFlight} in flight)`;
      add(
        'Rows',
        `${plan.rows} in the manifest, ${state === null ? endedRows(counts) : rowsOf(state).done} with a result${going}${left}${invalid}`,
      );
    }
    add('Results', countsText(counts) || (state === null ? resultsText(counts, null) : standText(state)));
    add('Money', moneyText(money, currency));
    add('Budget', facts.budget === null ? null : budgetText(facts.budget));
    if (state !== null) addRunning(add, state);
    for (const issue of plan?.issues.slice(0, SHOWN_ISSUES) ?? []) add('Not valid', issueLine(issue), 'warn');
    if (plan?.refused !== undefined) add('Refused', plan.refused.message, 'bad');
    for (const note of state?.notes ?? []) add('Note', note, 'warn');
    if (batches) for (const batch of state?.batches ?? []) add(`Batch ${batch.batch}`, batchText(batch));
  }
  for (const note of status.notes) add('Note', note, 'warn');
  add('Safe to do', status.safe, 'good');
  return lines;
}

function addRunning(add: (name: string, text: string | null) => void, state: CampaignState): void {
  const { concurrency, rowsPerMinute, etaAt } = state;
  add('Concurrency', String(concurrency));
  add('Rate', rowsPerMinute === null ? null : `${rowsPerMinute} rows a minute`);
  add('Ends about', etaAt);
}

function batchText({ workflowId, rows, ended, inFlight, lastReportAt }: BatchView): string {
  const told = lastReportAt === null ? 'it has not reported yet' : `last report ${lastReportAt}`;
  return `${workflowId}: ${ended} of ${rows} rows have a result, ${inFlight} in flight, ${told}`;
}
