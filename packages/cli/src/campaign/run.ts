import {
  type CampaignPlan,
  type CampaignResult,
  type CampaignState,
  type ResultsRef,
  type Money,
  type ArtifactRef,
} from 'temporal-media';
import { type CampaignStart, type Started } from 'temporal-media/client';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { given } from 'temporal-media/internal/domain/json';
import { type Amount, formatMoney } from 'temporal-media/internal/domain/money';
import { openArtifactStore } from 'temporal-media/internal/stores/open-stores';
import { type ArtifactStore } from 'temporal-media/stores';
import { type MediaConfig } from 'temporal-media/worker';
import { confirmSpend, spendLimitOf } from '../shared/confirm';
import { connect, type Connected } from '../shared/connect';
import { type CommandContext, effectiveConfig, effectiveEnvironment } from '../shared/context';
import { measuringStore } from '../shared/dry-run';
import { CliError } from '../shared/errors';
import { onInterruption } from '../shared/interruption';
import { type CampaignEstimate } from '../shared/json-output';
import { type ModelsInForce, modelsInForce } from '../shared/models-in-force';
import { prepareOut } from '../shared/output-files';
import { idOf, labelsOf, priorityOf } from '../shared/paid-options';
import { requireReadableResults } from '../shared/readable-results';
import { type Report } from '../shared/report';
import { unlessInterrupted, warnWithoutWorker } from '../shared/run-paid';
import { commandFor } from '../shared/text';
import {
  bookedText,
  currencyOf,
  issueLines,
  mayCost,
  mostOf,
  mostSpent,
  planHere,
  type PlanHere,
  planLines,
  shownPlan,
  type SpendBounds,
} from './local-plan';
import { LocalFiles, type ManifestInput, openManifest, canonicalManifest, namesFiles } from './manifest';
import { amountOf, changesOf, countOf, moneyOption, type RunOptions } from './options';
import { asManifest, rowsSource } from './prompt-manifest';
import { ReportRefresher } from './report-results';
import { endAdvice, refusalType } from './text';
import { attachCampaign } from './watch';

/** A `campaign run`, as read from its options. */
interface Run {
  readonly id: string;
  readonly config: MediaConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly store: ArtifactStore;
  readonly models: ModelsInForce;
  readonly settings: Omit<CampaignStart, 'manifest'>;
  readonly consent: CampaignConsent;
  /** The report's absolute path. Undefined if no report is written. */
  readonly directory: string | undefined;
  readonly detach: boolean;
}

/**
 * `campaign run`: validates a manifest, starts it or attaches to it, waits, and keeps the report up to date. @throws
 * CliError
 */
export async function runCampaignCommand(
  context: CommandContext,
  argument: string | undefined,
  options: RunOptions,
): Promise<void> {
  const { from, columns, format } = rowsSource(argument, options);
  const run = await readRun(context, options);
  const opened = await openManifest(from, run.store);
  const input = columns === undefined ? opened : asManifest(opened, columns);
  try {
    if (options.dryRun === true) {
      const files = new LocalFiles(input.folder, measuringStore);
      const { id: campaign, settings, store } = run;
      const plan = { campaign, input: settings, format, open: input.open, store, files };
      return await showCampaignDryRun(context, plan, run.models);
    }
    await startAndAttach(context, run, input, format);
  } finally {
    await input.dispose();
  }
}

async function readRun(context: CommandContext, options: RunOptions): Promise<Run> {
  const id = idOf(options.id, 'campaign');
  const changes = changesOf(options);
  const limit = countOf('--limit', options.limit);
  const sample = countOf('--sample', options.sample);
  const amount = amountOf('--budget', options.budget);
  const config = effectiveConfig(context, options);
  const env = effectiveEnvironment(context, options);
  const spendLimit = spendLimitOf(options.maxSpend, env);
  const store = await openArtifactStore(config);
  const isReported = options.out !== undefined && options.detach !== true && options.dryRun !== true;
  const directory = isReported ? await prepareOut(options.out) : undefined;
  const models = await modelsInForce(config, env, options.account);
  const budget = moneyOption('--budget', amount, currencyOf(models));
  const { onInvalid, rebuyChanged, account } = options;
  const labels = labelsOf(options);
  const order = priorityOf(options, labels);
  return {
    id,
    config,
    env,
    store,
    models,
    settings: {
      ...changes,
      ...order,
      ...given({ limit, sample, budget, onInvalid, rebuyChanged, account, labels }),
    },
    consent: { limit: spendLimit, yes: options.yes === true, budget, maxAttempts: changes.maxAttempts },
    directory,
    detach: options.detach === true,
  };
}

async function startAndAttach(
  context: CommandContext,
  run: Run,
  input: ManifestInput,
  format: RunOptions['format'],
): Promise<void> {
  const { report } = context;
  const { id, store, directory } = run;
  report.say(`id ${id}`);
  const interruption = onInterruption();
  try {
    const hint = commandFor('campaign watch', id);
    const connected = await unlessInterrupted(connect(run.config, run.env), interruption, hint);
    const hasWorker = await warnWithoutWorker(context, connected, ['create', 'poll', 'download']);
    await unlessInterrupted(requireReadableResults(connected, hasWorker), interruption, hint);
    const starting = begin(context, run, connected, await storeManifest(store, input, format));
    const started = await unlessInterrupted(starting, interruption, hint);
    const { workflowId, runId, isNew } = started;
    const url = connected.workflowUrl(workflowId);
    report.say(`${isNew ? 'Started' : 'Attached to'} ${workflowId}${url === undefined ? '' : ` (${url})`}.`);
    if (!isNew) await reportRunning(context, run, connected);
    const facts = { as: 'workflow' as const, workflowId, runId, isNew, ...given({ url }) };
    report.event('started', facts);
    if (run.detach) {
      report.result(workflowId);
      report.say(`To watch it, run: ${hint}`);
      report.reply({ ok: true, data: facts });
      return;
    }
    const refresher = directory === undefined ? undefined : new ReportRefresher(report, store, directory);
    await attachCampaign(context, { connected, interruption, started, refresher });
  } finally {
    interruption.dispose();
  }
}

/** Reports that a running campaign keeps its settings. Warns if its budget or concurrency differs from the options. */
async function reportRunning(
  { report }: CommandContext,
  { id, settings }: Run,
  { media }: Connected,
): Promise<void> {
  const set = commandFor('campaign set', id);
  report.say(
    `It is already running and keeps its settings. To change its concurrency or raise its budget, use \`${set}\`.`,
  );
  if (settings.budget === undefined && settings.concurrency === undefined) return;
  const state = await media.campaigns.state(id).catch(otherwise(undefined));
  const differing = state === undefined ? undefined : runsOtherwise(state, settings);
  if (differing !== undefined) report.say(`${report.paint('warn', 'warning:')} ${differing}`);
}

/** Attaches to the campaign if it is running. If not, plans the missing rows, confirms the cost and starts it. */
async function begin(
  { report }: CommandContext,
  run: Run,
  { media }: Connected,
  stored: Awaited<ReturnType<typeof storeManifest>>,
): Promise<Started<CampaignResult>> {
  const { id, settings, models, consent, store } = run;
  const manifest = { source: { artifact: stored.artifact }, ...given({ format: stored.format }) };
  const start: CampaignStart = { ...settings, manifest };
  const running = await media.campaigns.attach(id, start);
  if (running !== undefined) return running;
  const isKnown = models.origin.origin !== 'none';
  const previous = isKnown ? await resultsOf(media, id) : undefined;
  const open = async () => (await store.read(stored.artifact)) as AsyncIterable<Uint8Array>;
  const input = { ...settings, ...given({ previous }) };
  const plan = await planHere(report, models, { campaign: id, input, format: stored.format, open, store });
  // Without models, a plan shows only malformed rows.
  if (isKnown || plan.refused !== undefined) showPlan(report, plan, consent);
  await (isKnown ? confirmPlan(report, plan, consent) : confirmUnvalidated(report, consent));
  return media.campaigns.start(start, { id });
}

async function resultsOf(media: Connected['media'], id: string): Promise<ResultsRef | undefined> {
  return media.campaigns.results(id).catch((error: unknown) => {
    if ((error as Error).name === 'CampaignNotFoundError') return undefined;
    throw error;
  });
}

interface CampaignConsent extends SpendBounds {
  readonly limit: Amount | undefined;
  readonly yes: boolean;
}

/** Shows a plan and its first issues. @throws CliError for a refused plan */
export function showPlan(report: Report, plan: CampaignPlan, bounds: SpendBounds): void {
  for (const line of [...planLines(plan, bounds), ...issueLines(plan)]) report.say(line);
  if (plan.refused !== undefined) throw refused(plan);
}

/** Confirms a plan's cost if it might buy anything and a limit is set. @throws CliError `spend_not_confirmed` */
export async function confirmPlan(
  report: Report,
  plan: CampaignPlan,
  { limit, yes, ...bounds }: CampaignConsent,
): Promise<void> {
  if (limit === undefined || yes || !mayCost(plan, bounds.maxAttempts)) return;
  const estimate = mostOf(plan, bounds);
  const { unpriced, started, booked, currency } = plan;
  await confirmSpend(report, {
    limit,
    estimate,
    upTo: true,
    ...given({ before: bookedText(booked, currency) ?? undefined }),
    ...(estimate === null && { unknownBecause: `${unpriced + started.unpriced} rows have no known price.` }),
  });
}

/** Confirms a start whose price only the worker can determine. @throws CliError `spend_not_confirmed` */
export async function confirmUnvalidated(
  report: Report,
  { limit, yes, budget }: CampaignConsent,
): Promise<void> {
  report.say('No model configuration is available here (MEDIA_MODELS): the worker validates the rows.');
  if (limit === undefined || yes) return;
  const unknownBecause = 'No model configuration with prices is available here (MEDIA_MODELS).';
  await confirmSpend(report, { limit, estimate: mostSpent(null, budget), upTo: true, unknownBecause });
}

/** Confirms the increase of a running campaign's budget. @throws CliError `spend_not_confirmed` */
export async function confirmMore(
  report: Report,
  { limit, yes, budget }: CampaignConsent,
  before: Money | undefined,
): Promise<void> {
  if (budget === undefined || limit === undefined || yes) return;
  const more = budget.microUnits - (before?.microUnits ?? 0);
  if (more > 0) await confirmSpend(report, { limit, estimate: { ...budget, microUnits: more }, upTo: true });
}

export function refused(plan: CampaignPlan): CliError {
  const { refused: refusal } = plan;
  if (refusal === undefined) throw new Error('The plan was not refused.');
  const type = refusalType(refusal);
  const message = refusal.message.replace(' with onInvalid "skip"', ' with --on-invalid skip');
  return new CliError(type, `${message} Nothing was sent.`, {
    hint: endAdvice(type, plan),
    data: { plan: shownPlan(plan) },
  });
}

/**
 * `campaign run --dry-run`: shows the rows, their models, their price and every invalid row. Sends, stores and starts
 * nothing. Earlier results are unknown, because a dry run does not connect to a server. @throws CliError
 */
async function showCampaignDryRun(
  { report }: CommandContext,
  manifest: PlanHere,
  models: ModelsInForce,
): Promise<void> {
  const plan = await planHere(report, models, manifest);
  for (const line of planLines(plan, manifest.input)) report.result(line);
  if (models.origin.origin === 'none')
    report.result('models: no model configuration, so values were not checked');
  for (const line of issueLines(plan)) report.say(line);
  report.say('Dry run: nothing was sent and nothing was started.');
  if (plan.refused !== undefined) throw refused(plan);
  const most = mostOf(plan, manifest.input);
  const data: CampaignEstimate = { dryRun: true, plan: shownPlan(plan), most, source: models.origin };
  report.reply({ ok: true, data: { ...data } });
}

/** Describes how a running campaign's settings differ from the requested ones. Undefined when they are the same. */
export function runsOtherwise(
  { budget, concurrency }: Pick<CampaignState, 'budget' | 'concurrency'>,
  asked: Pick<CampaignStart, 'budget' | 'concurrency'>,
): string | undefined {
  const differing: string[] = [];
  if (asked.budget !== undefined) {
    const wanted = formatMoney(asked.budget);
    const had = budget === null ? undefined : formatMoney(budget.total);
    if (had === undefined) differing.push(`It has no budget and is not limited to ${wanted}`);
    else if (had !== wanted) differing.push(`Its budget is ${had}, not ${wanted}`);
  }
  if (asked.concurrency !== undefined && asked.concurrency !== concurrency)
    differing.push(`Its concurrency is ${concurrency}, not ${asked.concurrency}`);
  return differing.length === 0 ? undefined : `${differing.join('. ')}.`;
}

/** A manifest in the artifact store, for the worker to read. */
export interface StoredManifest {
  readonly artifact: ArtifactRef;
  /** Undefined if the format is detected from the content. */
  readonly format: 'csv' | 'jsonl' | undefined;
}

/**
 * Stores a manifest where the worker can read it: unchanged or, if rows refer to local files, as a JSON list that
 * points to the stored files. The same manifest with the same files produces the same bytes. @throws ArtifactError
 */
export async function storeManifest(
  store: ArtifactStore,
  input: ManifestInput,
  format: 'csv' | 'jsonl' | undefined,
): Promise<StoredManifest> {
  if (input.artifact !== null) return { artifact: input.artifact, format };
  if (input.folder !== null && (await namesFiles(await input.open(), format))) {
    const files = new LocalFiles(input.folder, store);
    const lines = canonicalManifest(await input.open(), (path) => files.find(path), format);
    return { artifact: await store.putStream(lines, { mediaType: 'application/json' }), format: 'jsonl' };
  }
  const mediaType = 'application/octet-stream';
  return { artifact: await store.putStream(await input.open(), { mediaType }), format };
}
