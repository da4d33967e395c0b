import { type CampaignResult } from '../../domain/campaign/state';
import { type ReportSummary } from '../../report/report-options';
import { type FailureReply } from '../cli-error';
import { type CommandContext } from '../command-context';
import { errorType } from '../error-types';
import { commandFor, idArgument } from '../shell-word';
import { campaignEnd } from './campaign-end';
import { budgetText, moneyText, resultsText } from './campaign-text';
import { issueLines } from './issue-lines';
import { refusalHint } from './refusal-hint';

/** Ends a command with what a campaign came to: words for people, paths of its report, the envelope, the exit code. */
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
    if (end.type === 'still_running') report.say(`Go on with: ${commandFor('campaign resume', campaign)}`);
    report.reply({ ok: true, data });
    return;
  }
  const { meaning, hint: usual } = errorType(end.type);
  const hint = plan.refused === undefined ? usual : refusalHint(plan);
  const message =
    plan.refused === undefined
      ? `${meaning} ${resultsText(counts, plan.rows)}`
      : `${plan.refused.message} Nothing was sent.`;
  report.fail(failure(end.type, message, hint, campaign), data);
}

/** The hint of the registry, with the id in its commands. */
function failure(type: string, message: string, hint: string, campaign: string): FailureReply {
  const named = hint.replace(/(campaign [a-z-]+) ID\b/g, (_all, command: string) => {
    return `${command} ${idArgument(campaign)}`;
  });
  return { type, message, hint: named };
}

function endLines({ plan, counts, money, budget, currency, outcome }: CampaignResult): string[] {
  const issues = plan.refused === undefined ? [] : issueLines(plan);
  if (outcome === 'refused') return issues;
  const lines = [...issues, resultsText(counts, plan.rows), `Money: ${moneyText(money, currency)}.`];
  if (budget !== null) lines.push(`Budget: ${budgetText(budget)}.`);
  if (plan.left > 0) lines.push(`--limit or --sample left ${plan.left} of the rows for later.`);
  if (plan.invalid > 0 && issues.length === 0)
    lines.push(
      `${plan.invalid} of the rows ${plan.invalid === 1 ? 'is' : 'are'} not valid; nothing was sent for them.`,
    );
  return lines;
}

/** What a report holds for people and scripts. */
export function reportFiles({ directory, index }: ReportSummary): string[] {
  return [index, `${directory}/results.csv`, `${directory}/results.jsonl`];
}
