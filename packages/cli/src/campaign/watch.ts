import { type ReportSummary } from '@temporal-media/report';
import { type CampaignResult, type CampaignState } from 'temporal-media';
import { type Started } from 'temporal-media/client';
import { throwBug } from 'temporal-media/internal/domain/bug';
import { openArtifactStore } from 'temporal-media/internal/stores/open-stores';
import { type Connected } from '../shared/connect';
import { type CommandContext, type CommonOptions, effectiveConfig, withServer } from '../shared/context';
import { CliError, failureOf } from '../shared/errors';
import { EXIT } from '../shared/exit-codes';
import { type Interruption, onInterruption } from '../shared/interruption';
import { prepareOut } from '../shared/output-files';
import { warnIfPaused, elapsed } from '../shared/progress-view';
import { type LiveView, type Report } from '../shared/report';
import { commandFor } from '../shared/text';
import { ReportRefresher } from './report-results';
import { answerCampaign } from './status';
import { activeText, budgetText, PHASE_TEXT, progressLine, rowProgress, standText } from './text';

/** Shows the progress of a campaign. */
interface CampaignView {
  update(state: CampaignState): void;
  stop(): void;
}

/** Maximum number of active rows shown below the totals. */
const ACTIVE_ROWS = 4;
const BAR_WIDTH = 24;
/** Minimum time between plain lines, in milliseconds. */
const PLAIN_EVERY_MS = 10_000;
const REDRAW_MS = 1_000;

/**
 * On a terminal, shows a progress bar and a few active rows, redrawn in place. Elsewhere, prints a plain line when the
 * state has changed, at most every ten seconds.
 */
export function campaignView(report: Report, stream: NodeJS.WriteStream = process.stderr): CampaignView {
  return stream.isTTY && process.env['TERM'] !== 'dumb'
    ? new Redrawn(report, stream)
    : new PlainLines(report);
}

class PlainLines implements CampaignView {
  private last = '';
  private lastAt = -Infinity;
  private phase: CampaignState['phase'] | undefined;

  constructor(private readonly report: Report) {}

  update(state: CampaignState): void {
    const line = progressLine(state);
    const soon = performance.now() - this.lastAt < PLAIN_EVERY_MS && state.phase === this.phase;
    if (line === this.last || soon) return;
    this.report.say(line);
    [this.last, this.lastAt, this.phase] = [line, performance.now(), state.phase];
  }

  stop(): void {}
}

class Redrawn implements CampaignView, LiveView {
  private state: CampaignState | undefined;
  /** Number of lines currently drawn. */
  private drawn = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly report: Report,
    private readonly stream: NodeJS.WriteStream,
  ) {
    report.attach(this);
    this.timer = setInterval(() => this.draw(), REDRAW_MS);
    this.timer.unref();
  }

  update(state: CampaignState): void {
    this.state = state;
    this.draw();
  }

  clear(): void {
    if (this.drawn === 0) return;
    this.stream.write(`\x1b[${this.drawn}A\r\x1b[J`);
    this.drawn = 0;
  }

  stop(): void {
    clearInterval(this.timer);
    this.clear();
    this.report.attach(undefined);
  }

  private draw(): void {
    if (this.state === undefined) return;
    const width = (this.stream.columns || 80) - 1;
    const lines = viewLines(this.state, Date.now()).map((line) => [...line].slice(0, width).join(''));
    this.clear();
    this.stream.write(`${lines.join('\n')}\n`);
    this.drawn = lines.length;
  }
}

/** Returns the lines to draw. */
export function viewLines(state: CampaignState, now: number): string[] {
  const { concurrency, phase, rowsPerMinute, etaAt, budget } = state;
  const time = elapsed(now - Date.parse(state.startedAt));
  if (phase === 'planning') return [`${PHASE_TEXT.planning}  ${time}`];
  const { done, all } = rowProgress(state);
  const full = all === 0 ? BAR_WIDTH : Math.floor((done / all) * BAR_WIDTH);
  const bar = '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full);
  const rate = rowsPerMinute === null ? '' : `  ${rowsPerMinute}/min`;
  const eta = etaAt === null ? '' : `  about ${elapsed(Date.parse(etaAt) - now)} to go`;
  return [
    `${bar} ${done}/${all} rows  ${time}${rate}${eta}`,
    [standText(state), `At most ${concurrency} at a time.`, PHASE_TEXT[phase]].filter(Boolean).join(' '),
    ...(budget === null ? [] : [`Budget: ${budgetText(budget)}.`]),
    ...state.active.slice(0, ACTIVE_ROWS).map((row) => `  ${activeText(row, now)}`),
  ];
}

interface Attachment {
  readonly connected: Connected;
  readonly interruption: Interruption;
  readonly started: Started<CampaignResult>;
  /** Absent if no report is written. */
  readonly refresher?: ReportRefresher | undefined;
}

/**
 * Shows a campaign until it ends, keeps its report up to date and prints its result. Ctrl-C detaches: the campaign
 * keeps running and is never canceled. @throws CliError with exit code 130 when interrupted
 */
export async function attachCampaign(context: CommandContext, attachment: Attachment): Promise<void> {
  const { interruption, refresher, started } = attachment;
  if (!started.isNew) await warnIfPaused(attachment.connected, context.report, started);
  const result = await waitForEnd(context, attachment);
  let summary: ReportSummary | null = null;
  try {
    if (refresher !== undefined && result.outcome !== 'refused') summary = await refresher.finish(result);
  } catch (problem) {
    // The rows are paid for, so the result is printed even if the report cannot be written.
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
    throw new CliError('interrupted', 'Detached. The campaign keeps running; nothing was canceled.', {
      hint: `To watch it, run: ${commandFor('campaign watch', workflowId)}`,
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
  const message = `Campaign ${workflowId} was closed externally (${detail}). The rows it bought are still on record.`;
  const hint = `Continue with: ${commandFor('campaign resume', workflowId)}`;
  return new CliError('workflow_ended', message, { hint, data: { workflowId } });
}

/** Shows every state until the signal aborts. Skips states that cannot be read because no worker is free. */
async function show(
  { report }: CommandContext,
  { connected, started, refresher }: Attachment,
  signal: AbortSignal,
): Promise<void> {
  const { workflowId } = started;
  const view = campaignView(report);
  // Remove the view immediately, even while a query is in progress.
  signal.addEventListener('abort', () => view.stop(), { once: true });
  try {
    for await (const state of connected.media.campaigns.watch(workflowId, { signal })) {
      if (signal.aborted) break;
      report.event('campaign', { workflowId, state });
      view.update(state);
      refresher?.offer(state);
    }
  } catch (error) {
    throwBug(error);
    // The wait for the result reports the error.
  } finally {
    if (!signal.aborted) view.stop();
  }
}

interface WatchOptions extends CommonOptions {
  readonly out?: string;
}

/** `campaign watch`: shows a campaign until it ends, without starting anything. @throws CliError */
export async function watchCampaign(
  context: CommandContext,
  id: string,
  options: WatchOptions,
): Promise<void> {
  await withServer(context, options, async (connected) => {
    const { runId } = await connected.media.campaigns.describe(id);
    context.report.event('watching', { as: 'workflow', workflowId: id, runId });
    const result = () => connected.media.campaigns.result(id);
    const started = { as: 'workflow', workflowId: id, runId, isNew: false, result } as const;
    await followCampaign(context, connected, started, options);
  });
}

/** Shows a campaign until it ends, and keeps its report in the `--out` folder, if any. @throws CliError */
export async function followCampaign(
  context: CommandContext,
  connected: Connected,
  started: Started<CampaignResult>,
  options: WatchOptions,
): Promise<void> {
  const store = await openArtifactStore(effectiveConfig(context, options));
  const directory = options.out === undefined ? undefined : await prepareOut(options.out);
  const refresher =
    directory === undefined ? undefined : new ReportRefresher(context.report, store, directory);
  const interruption = onInterruption();
  try {
    await attachCampaign(context, { connected, interruption, started, refresher });
  } finally {
    interruption.dispose();
  }
}
