import { warnIfPaused } from '../paused';
import { type Started } from '../../client';
import { type CampaignResult } from '../../domain/campaign/state';
import { type ReportSummary } from '../../report/report-options';
import { CliError } from '../cli-error';
import { type CommandContext } from '../command-context';
import { type Connected } from '../connect';
import { EXIT } from '../exit-codes';
import { failureOf } from '../failure-of';
import { type Interruption } from '../interruption';
import { commandFor } from '../shell-word';
import { answerCampaign } from './answer-campaign';
import { campaignView } from './campaign-view';
import { type ReportRefresher } from './report-refresher';

export interface Attachment {
  readonly connected: Connected;
  readonly interruption: Interruption;
  readonly started: Started<CampaignResult>;
  /** Absent: no report is kept. */
  readonly refresher?: ReportRefresher | undefined;
}

/**
 * Shows a campaign until it ends, keeps its report, and answers with what it came to. Ctrl-C detaches: the campaign goes
 * on and is never cancelled by it. @throws CliError with exit code 130 when interrupted
 */
export async function attachCampaign(context: CommandContext, attachment: Attachment): Promise<void> {
  const { interruption, refresher, started } = attachment;
  if (!started.isNew) await warnIfPaused(attachment.connected, context.report, started.workflowId);
  const result = await waitForEnd(context, attachment);
  let summary: ReportSummary | null = null;
  try {
    if (refresher !== undefined && result.outcome !== 'refused') summary = await refresher.finish(result);
  } catch (problem) {
    // Whatever could not be written: what the rows came to is paid for, and the answer must not hide it.
    throw CliError.from(failureOf(problem).reply, { ...result, workflowId: result.campaign, report: null });
  }
  interruption.dispose();
  answerCampaign(context, result, summary);
}

async function waitForEnd(context: CommandContext, attachment: Attachment): Promise<CampaignResult> {
  const { interruption, started, refresher } = attachment;
  const { workflowId } = started;
  const over = new AbortController();
  void show(context, attachment, over.signal);
  try {
    const ended = started.result().then((result) => ({ result }));
    const first = await Promise.race([ended, interruption.happened]);
    if (first !== undefined) return first.result;
    ended.catch(() => undefined);
    await refresher?.stop();
    throw new CliError('interrupted', 'Detached. The campaign goes on; nothing was cancelled.', {
      hint: `Watch it with: ${commandFor('campaign watch', workflowId)}`,
      data: { workflowId },
    });
  } catch (error) {
    throw withHint(error, workflowId);
  } finally {
    over.abort();
  }
}

function withHint(error: unknown, workflowId: string): unknown {
  if (error instanceof CliError && error.reply.type === 'interrupted') return error;
  const watch = commandFor('campaign watch', workflowId);
  const { exitCode, reply } = failureOf(error);
  if (exitCode === EXIT.unreachable)
    return CliError.from({ ...reply, hint: `${reply.hint} Then: ${watch}` }, { workflowId });
  if ((error as Error).name !== 'WorkflowFailedError') return error;
  const cause = (error as Error).cause;
  const detail = cause instanceof Error ? `${cause.name}: ${cause.message}` : 'it ended without a result';
  const message = `The campaign ${workflowId} was closed from outside (${detail}). What was bought stays recorded.`;
  const hint = `Go on with: ${commandFor('campaign resume', workflowId)}`;
  return new CliError('workflow_ended', message, { hint, data: { workflowId } });
}

/** Shows every state until it is over. A state that cannot be had (no worker, a busy one) is no reason to stop. */
async function show(
  { report }: CommandContext,
  { connected, started, refresher }: Attachment,
  signal: AbortSignal,
): Promise<void> {
  const { workflowId } = started;
  const view = campaignView(report);
  // The view goes at once; a question that is under way may take its time.
  signal.addEventListener('abort', () => view.stop(), { once: true });
  try {
    for await (const state of connected.media.watchCampaign(workflowId, { signal })) {
      if (signal.aborted) break;
      report.event('campaign', { workflowId, state });
      view.update(state);
      refresher?.offer(state);
    }
  } catch {
    // The wait itself says what is wrong.
  } finally {
    if (!signal.aborted) view.stop();
  }
}
