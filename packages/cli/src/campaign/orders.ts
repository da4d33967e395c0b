import {
  type CampaignInput,
  type CampaignRowResult,
  type LedgerLine,
  type CampaignUpdateResult,
} from 'temporal-media';
import { type CampaignExecution, type RetriedOutcome, type ResumedCampaign } from 'temporal-media/client';
import { sendToDecide } from 'temporal-media/internal/client/ask-worker';
import { requireUnpaused } from 'temporal-media/internal/client/workflow-handle';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { RETRIED_OUTCOMES } from 'temporal-media/internal/domain/campaign/plan';
import { given } from 'temporal-media/internal/domain/json';
import { isOpen } from 'temporal-media/internal/domain/names';
import { latestResults } from 'temporal-media/internal/manifest/result-lines';
import { openArtifactStore } from 'temporal-media/internal/stores/open-stores';
import { type MediaConfig } from 'temporal-media/worker';
import { spendLimitOf } from '../shared/confirm';
import { type Connected } from '../shared/connect';
import {
  type CommandContext,
  type CommonOptions,
  effectiveConfig,
  effectiveEnvironment,
  withServer,
} from '../shared/context';
import { badInput, CliError } from '../shared/errors';
import { modelsInForce } from '../shared/models-in-force';
import { type DecideOptions, priorityOf } from '../shared/paid-options';
import { commandFor } from '../shared/text';
import { decideUnconfirmed, userName } from '../unconfirmed/run';
import { planHere } from './local-plan';
import {
  amountOf,
  changesOf,
  type ConsentOptions,
  countOf,
  moneyOption,
  type ResumeRowsCommandOptions,
} from './options';
import { confirmMore, confirmPlan, confirmUnvalidated, showPlan } from './run';
import { plainKey } from './text';
import { followCampaign } from './watch';

/** `campaign resume` and `campaign retry`: resume or retry rows, then follow the campaign. @throws CliError */
export async function resumeRowsOf(
  context: CommandContext,
  id: string,
  how: 'resume' | 'retry',
  options: ResumeRowsCommandOptions,
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
    const state = await media.campaigns.state(id).catch(otherwise(undefined));
    const budget = moneyOption('--budget', amount, state?.budget?.total.currency ?? state?.currency);
    const confirm = async (input: CampaignInput): Promise<void> => {
      const consent = { limit, yes: options.yes === true, budget: budget ?? input.budget };
      const raised = running && budget !== undefined;
      if (raised) await confirmMore(report, consent, state?.budget?.total);
      // When a running campaign resumes rows, it stays within a budget that was already confirmed. A retry buys new
      // attempts, so it needs a confirmation.
      if (!raised || how === 'retry') await confirmResume(context, { id, config, env }, input, consent);
    };
    const all = { ...changes, ...given({ budget }), confirm };
    const taken =
      how === 'resume'
        ? await media.campaigns.resume(id, all)
        : await media.campaigns.retry(id, outcomes, all);
    for (const message of taken.messages) report.say(message);
    if (running && (changes.waitFor !== undefined || changes.maxAttempts !== undefined)) report.say(NOT_NOW);
    report.say(takenText(taken, id));
    const { workflowId, runId, isNew } = taken.started;
    const url = connected.workflowUrl(workflowId);
    const facts = { as: 'workflow' as const, workflowId, runId, isNew, ...given({ url }) };
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
  '--wait-for and --max-attempts have no effect on a running campaign. Pass them again after it has ended.';

function takenText({ by, rows }: ResumedCampaign, id: string): string {
  if (by === 'start') return `Restarted ${id} to resume the remaining rows.`;
  return rows === null || rows === 0
    ? `${id} is running, and none of its rows needed to be resumed.`
    : `${rows} ${rows === 1 ? 'row' : 'rows'} of ${id} ${rows === 1 ? 'is' : 'are'} being resumed.`;
}

/** @throws CliError */
async function confirmResume(
  { report }: CommandContext,
  { id, config, env }: { readonly id: string; readonly config: MediaConfig; readonly env: NodeJS.ProcessEnv },
  input: CampaignInput,
  consent: Parameters<typeof confirmPlan>[2],
): Promise<void> {
  const models = await modelsInForce(config, env, input.account);
  const { source, format } = input.manifest;
  // Only the worker can validate a manifest that this command cannot read.
  if (models.origin.origin === 'none' || !('artifact' in source)) return confirmUnvalidated(report, consent);
  const store = await openArtifactStore(config);
  const open = async () => (await store.read(source.artifact)) as AsyncIterable<Uint8Array>;
  const plan = await planHere(report, models, { campaign: id, input, format, open, store });
  const bounds = { ...consent, maxAttempts: input.maxAttempts };
  showPlan(report, plan, bounds);
  await confirmPlan(report, plan, bounds);
}

/** @throws CliError for an outcome that cannot be retried */
function retriedOutcomes(names: readonly string[] | undefined): readonly RetriedOutcome[] | undefined {
  if (names === undefined) return undefined;
  const known: readonly string[] = RETRIED_OUTCOMES;
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return names as readonly RetriedOutcome[];
  const decided = unknown.includes('unconfirmed')
    ? ` Settle unconfirmed rows first: ${commandFor('campaign adopt', 'ID')} or declare-lost.`
    : '';
  throw badInput([
    { field: '--outcome', message: `cannot be ${unknown.join(', ')}.${decided}`, allowed: known },
  ]);
}

interface SetOptions extends CommonOptions, ConsentOptions {
  readonly concurrency?: string;
  readonly priority?: string;
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
    answerOrders(context, id, [await connected.media.campaigns.order(id, order)]);
  });
}

/** `campaign set`: changes a running campaign's concurrency, priority or budget. @throws CliError */
export async function setCampaign(context: CommandContext, id: string, options: SetOptions): Promise<void> {
  const { report } = context;
  const concurrency = countOf('--concurrency', options.concurrency);
  const amount = amountOf('--budget', options.budget);
  const { priority } = priorityOf(options, undefined);
  if (concurrency === undefined && priority === undefined && amount === undefined)
    throw badInput([
      { field: '--concurrency', message: 'is required, unless --budget or --priority is set.' },
    ]);
  const limit = spendLimitOf(options.maxSpend, effectiveEnvironment(context, options));
  await withServer(context, options, async (connected) => {
    await needWorker(connected, id);
    const { media } = connected;
    const results: CampaignUpdateResult[] = [];
    if (amount !== undefined) {
      const state = await media.campaigns.state(id);
      const before = state.budget?.total;
      const budget = moneyOption('--budget', amount, before?.currency ?? state.currency);
      if (budget !== undefined) {
        await confirmMore(report, { limit, yes: options.yes === true, budget }, before);
        results.push(await media.campaigns.order(id, 'raiseBudget', { budget }));
      }
    }
    if (concurrency !== undefined)
      results.push(await media.campaigns.order(id, 'setConcurrency', { concurrency }));
    if (priority !== undefined) results.push(await media.campaigns.order(id, 'setPriority', { priority }));
    answerOrders(context, id, results);
  });
}

/**
 * Fails immediately when no worker is running, because an Update would block until a worker applies it. @throws
 * CliError
 */
async function needWorker(connected: Connected, id: string): Promise<CampaignExecution> {
  const found = await connected.media.campaigns.describe(id);
  requireUnpaused(id, found.status);
  if ((await connected.hasWorker()) !== false) return found;
  const message = `No worker is polling task queue ${connected.taskQueue}, so the campaign cannot be changed.`;
  throw new CliError('no_worker', message);
}

/**
 * Prints the results of changes. @throws CliError `campaign_order_refused` for the first change that was not applied
 */
function answerOrders(
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

interface RowDecision {
  readonly key: string;
  /** Absent if the service accepted nothing. */
  readonly taskId?: string;
}

/**
 * `campaign adopt` and `campaign declare-lost`: settle an unconfirmed row. A running campaign applies the decision
 * immediately. For an ended campaign, the decision is written to the journal and takes effect with `campaign resume`.
 * @throws CliError
 */
export async function decideRow(
  context: CommandContext,
  id: string,
  { key, taskId }: RowDecision,
  options: DecideOptions,
): Promise<void> {
  const { by = userName(), reason } = options;
  if (reason.trim() === '') throw badInput([{ field: '--reason', message: 'must not be empty.' }]);
  await withServer(context, options, async (connected) => {
    await needWorker(connected, id);
    const row = await findRow(context, connected, id, key, options);
    const { creationKey } = openAttempt(row, id);
    const sendId =
      options.send ?? (await sendToDecide((input) => connected.media.reviewJournal(input), creationKey));
    const { status } = await connected.media.campaigns.describe(id);
    if (isOpen(status)) {
      const facts = { key, creationKey, sendId, by, reason };
      const reported =
        taskId === undefined
          ? await connected.media.campaigns.order(id, 'declareLost', facts)
          : await connected.media.campaigns.order(id, 'adopt', { ...facts, taskId });
      return answerOrders(context, id, [reported]);
    }
    const decision = taskId === undefined ? 'declareLost' : 'adopt';
    await decideUnconfirmed(context, connected, {
      creationKey,
      sendId,
      decision,
      by,
      reason,
      yes: false,
      ...given({ taskId }),
    });
    context.report.say(`To resume the row, run: ${commandFor('campaign resume', id)}`);
  });
}

async function findRow(
  context: CommandContext,
  { media }: Connected,
  id: string,
  key: string,
  options: CommonOptions,
): Promise<CampaignRowResult> {
  const store = await openArtifactStore(effectiveConfig(context, options));
  for await (const row of latestResults(store, await media.campaigns.results(id)))
    if (row.key === key) return row;
  const message = `Campaign ${id} has no result for row ${plainKey(key)}.`;
  throw new CliError('not_found', message, {
    hint: "Pass the row's id, or the key shown in the results.",
  });
}

/** Returns the row's last attempt, whose outcome is unknown. @throws CliError when the row is not unconfirmed */
function openAttempt({ outcome, ledger, key }: CampaignRowResult, id: string): LedgerLine {
  const last = ledger.reduce<LedgerLine | undefined>(
    (before, line) => (before === undefined || line.attempt >= before.attempt ? line : before),
    undefined,
  );
  if (outcome === 'unconfirmed' && last !== undefined) return last;
  const message = `Row ${plainKey(key)} is ${outcome.replaceAll('_', ' ')}, so it does not need a decision.`;
  throw new CliError('decision_refused', message, {
    hint: `To show the state of the rows, run: ${commandFor('campaign status', id)}`,
  });
}
