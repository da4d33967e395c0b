import { type ReportSummary } from '@temporal-media/report';
import { type BatchView, type CampaignResult, type CampaignState } from 'temporal-media';
import { CAMPAIGN_ADVICE } from 'temporal-media/internal/domain/advice';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { endedRows } from 'temporal-media/internal/domain/campaign/results';
import { isOpen, PAUSED, ROWS_WAIT } from 'temporal-media/internal/domain/names';
import { filled } from 'temporal-media/internal/domain/terminal-text';
import { adviceOf } from '../shared/case-advice';
import { type Connected } from '../shared/connect';
import { type CommandContext, type CommonOptions, withServer } from '../shared/context';
import { errorType } from '../shared/exit-codes';
import { gatherCase, type GatheredCase } from '../shared/gather-case';
import { textTable } from '../shared/progress-view';
import { type Paint, type LineStyle } from '../shared/report';
import { commandFor, shellWord } from '../shared/text';
import { issueLine, issueLines } from './local-plan';
import { countOf } from './options';
import {
  budgetText,
  campaignEnd,
  countsText,
  endAdvice,
  moneyTotalsText,
  resultsText,
  rowProgress,
  standText,
} from './text';

/** The output of `campaign status`. */
interface CampaignStatus {
  readonly workflowId: string;
  readonly runId: string;
  /** The newest run's status in Temporal. */
  readonly status: string;
  readonly startedAt: string;
  readonly closedAt: string | null;
  /** Web UI link. Null when unknown. */
  readonly url: string | null;
  /** The last state. Null when the campaign has a result or no worker responds. */
  readonly state: CampaignState | null;
  /** The result. Null while the campaign runs, and when it was terminated or canceled in Temporal. */
  readonly result: CampaignResult | null;
  /** One sentence that says what is safe to do. */
  readonly safe: string;
  /** Facts that could not be read, with the reasons. */
  readonly notes: readonly string[];
}

/** Collects a campaign's status. Read-only. @throws CampaignNotFoundError */
async function campaignStatus(connected: Connected, id: string): Promise<CampaignStatus> {
  const { media } = connected;
  const { status, runId, startedAt, closedAt } = await media.campaigns.describe(id);
  const found = (await gatherCase({ ...connected, askService: false }, id)) as GatheredCase;
  const { hasWorker, workflow } = found;
  const notes = [...found.notes];
  const result = status === 'COMPLETED' ? await media.campaigns.result(id) : null;
  const isAsked = result === null && hasWorker !== false && status !== PAUSED;
  const state = isAsked ? await media.campaigns.state(id).catch(otherwise(null)) : null;
  if (isAsked && state === null) notes.push('The state could not be read: no worker responded in time.');
  const { step, text } = adviceOf(found, shellWord);
  return {
    workflowId: id,
    ...{ runId, status, startedAt, closedAt },
    url: workflow?.url ?? null,
    ...{ state, result, notes },
    safe: step === 'see_campaign' ? safeToDo(id, status, state, result) : text,
  };
}

function safeToDo(
  id: string,
  status: string,
  state: CampaignState | null,
  result: CampaignResult | null,
): string {
  if (result !== null) return endAdvice(campaignEnd(result).type, result.plan, id);
  const isHeld = state?.notes.some((note) => note.startsWith(ROWS_WAIT));
  const phase = state?.phase === 'paused' ? 'paused' : isHeld === true ? 'rows_wait' : 'running';
  return filled(CAMPAIGN_ADVICE[isOpen(status) ? phase : 'closed'], { ID: id }, shellWord);
}

/** `campaign status`. Read-only. @throws CliError */
export async function showCampaignStatus(
  context: CommandContext,
  id: string,
  options: CommonOptions & { readonly batches?: boolean },
): Promise<void> {
  const { report } = context;
  await withServer(context, options, async (connected) => {
    const status = await campaignStatus(connected, id);
    const batches = options.batches === true;
    for (const line of campaignStatusLines(status, report.paintResult, { batches })) report.result(line);
    report.reply({ ok: true, data: status });
  });
}

/** Maximum number of issues in a status. The report and --dry-run list all of them. */
const SHOWN_ISSUES = 5;

/** Returns the text of `campaign status`, one fact per line. The last line says what is safe to do. */
function campaignStatusLines(
  status: CampaignStatus,
  paint: Paint,
  { batches }: { readonly batches: boolean },
): string[] {
  const { workflowId, runId, state, result, startedAt, closedAt } = status;
  const lines: string[] = [];
  const add = (name: string, text: string | null | undefined, tone?: LineStyle): void => {
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
      const invalid = plan.invalid > 0 ? `, ${plan.invalid} invalid` : '';
      const going = state === null ? '' : `, ${state.remaining} to go (${state.inFlight} in flight)`;
      add(
        'Rows',
        `${plan.rows} in the manifest, ${state === null ? endedRows(counts) : rowProgress(state).done} with a result${going}${left}${invalid}`,
      );
    }
    add('Results', countsText(counts) || (state === null ? resultsText(counts, null) : standText(state)));
    add('Money', moneyTotalsText(money, currency));
    add('Budget', facts.budget === null ? null : budgetText(facts.budget));
    if (state !== null) addRunning(add, state);
    for (const issue of plan?.issues.slice(0, SHOWN_ISSUES) ?? []) add('Manifest', issueLine(issue), 'warn');
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
  add('Rate', rowsPerMinute === null ? null : `${rowsPerMinute} rows per minute`);
  add('Ends about', etaAt);
}

function batchText({ workflowId, rows, ended, inFlight, lastReportAt }: BatchView): string {
  const reported = lastReportAt === null ? 'not reported yet' : `last report ${lastReportAt}`;
  return `${workflowId}: ${ended} of ${rows} rows have a result, ${inFlight} in flight, ${reported}`;
}

interface ListOptions extends CommonOptions {
  readonly limit?: string;
}

/** `campaign list`: lists the namespace's campaigns, running ones first, then in the server's order. */
export async function showCampaigns(context: CommandContext, options: ListOptions): Promise<void> {
  const { report } = context;
  const most = countOf('--limit', options.limit) ?? 20;
  await withServer(context, options, async ({ media }) => {
    const found = await media.campaigns.list(most);
    const rows = found.map(({ campaign, status, outcome, startedAt, closedAt }) => [
      campaign,
      outcome ?? status.toLowerCase().replaceAll('_', ' '),
      startedAt,
      closedAt ?? '',
    ]);
    if (rows.length === 0) report.say('This namespace has no campaigns.');
    else for (const line of textTable([['ID', 'STATUS', 'STARTED', 'ENDED'], ...rows])) report.result(line);
    const campaigns = found.map(({ campaign, runId, status, outcome, startedAt, closedAt }) => ({
      workflowId: campaign,
      runId,
      status,
      outcome,
      startedAt,
      closedAt,
    }));
    report.reply({ ok: true, data: { campaigns } });
  });
}

/** Prints a campaign's result as text, the paths of its report and the JSON object, and sets the exit code. */
export function answerCampaign(
  context: CommandContext,
  result: CampaignResult,
  summary: ReportSummary | null,
): void {
  const { report } = context;
  const { campaign, plan, counts } = result;
  const end = campaignEnd(result);
  for (const line of endLines(result)) report.say(line);
  if (summary !== null) for (const file of reportFiles(summary)) report.result(file);
  context.exitCode = end.exitCode;
  const data = { workflowId: campaign, ...result, report: summary };
  if (end.ok) {
    if (end.type === 'still_running') report.say(`Continue with: ${commandFor('campaign resume', campaign)}`);
    report.reply({ ok: true, data });
    return;
  }
  const { meaning } = errorType(end.type);
  const message =
    plan.refused === undefined
      ? `${meaning} ${resultsText(counts, plan.rows)}`
      : `${plan.refused.message} Nothing was sent.`;
  const hint = endAdvice(end.type, plan, campaign);
  report.fail({ type: end.type, message, hint }, data);
}

function endLines({ plan, counts, money, budget, currency, outcome }: CampaignResult): string[] {
  const issues = plan.refused === undefined ? [] : issueLines(plan);
  if (outcome === 'refused') return issues;
  const lines = [...issues, resultsText(counts, plan.rows), `Money: ${moneyTotalsText(money, currency)}.`];
  if (budget !== null) lines.push(`Budget: ${budgetText(budget)}.`);
  if (plan.left > 0) lines.push(`--limit or --sample left ${plan.left} rows for later.`);
  if (plan.invalid > 0 && issues.length === 0)
    lines.push(
      `${plan.invalid} of the rows ${plan.invalid === 1 ? 'is' : 'are'} invalid. Invalid rows are not sent.`,
    );
  return lines;
}

/** Returns the paths of a report's main files. */
export function reportFiles({ directory, index }: ReportSummary): string[] {
  return [index, `${directory}/results.csv`, `${directory}/results.jsonl`];
}
