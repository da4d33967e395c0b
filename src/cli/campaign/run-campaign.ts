import { type ArtifactStore } from '../../artifacts/artifact-store';
import { type CampaignStart, type Started } from '../../client';
import { type MediaConfig } from '../../config';
import { type CampaignResult } from '../../domain/campaign/state';
import { type CommandContext, effectiveConfig, effectiveEnvironment } from '../command-context';
import { connect, type Connected } from '../connect';
import { given } from '../given';
import { onInterruption } from '../interruption';
import { type ModelsInForce } from '../models/models-in-force';
import { idOf, openStore } from '../paid-options';
import { prepareOut } from '../result-files';
import { unlessInterrupted, warnWithoutWorker } from '../run-paid';
import { commandFor } from '../shell-word';
import { measuringStore } from '../spend/measuring-store';
import { spendLimitOf } from '../spend/spend-limit';
import { attachCampaign } from './attach-campaign';
import { amountOf, changesOf, countOf, moneyOf, type RunOptions } from './campaign-options';
import { type CampaignConsent, confirmPlan, confirmUnjudged, showPlan } from './confirm-campaign';
import { showCampaignDryRun } from './dry-run';
import { LocalFiles } from './local-files';
import { type ManifestInput, openManifest } from './manifest-input';
import { currencyOf, modelsKnownHere, planHere } from './plan-here';
import { asManifest, rowsSource } from './prompt-manifest';
import { ReportRefresher } from './report-refresher';
import { runsOtherwise } from './runs-otherwise';
import { storeManifest } from './store-manifest';

/** One `campaign run`, read from its options. */
interface Run {
  readonly id: string;
  readonly config: MediaConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly store: ArtifactStore;
  readonly models: ModelsInForce | undefined;
  readonly settings: Omit<CampaignStart, 'manifest'>;
  readonly consent: CampaignConsent;
  /** Absolute path; undefined without a report. */
  readonly directory: string | undefined;
  readonly detach: boolean;
}

/** `campaign run`: judges a manifest, starts it or attaches to it, waits, keeps the report. @throws CliError */
export async function runCampaign(
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
      const { id: campaign, settings, store, config, env } = run;
      const plan = { campaign, input: settings, format, open: input.open, store, files };
      return await showCampaignDryRun(context, plan, config, env);
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
  const store = openStore(config);
  const isReported = options.out !== undefined && options.detach !== true && options.dryRun !== true;
  const directory = isReported ? await prepareOut(options.out) : undefined;
  const models = await modelsKnownHere(config, env);
  const budget = moneyOf('--budget', amount, models === undefined ? null : currencyOf(models));
  const { onInvalid, rebuyChanged, account } = options;
  return {
    id,
    config,
    env,
    store,
    models,
    settings: { ...changes, ...given({ limit, sample, budget, onInvalid, rebuyChanged, account }) },
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
  let connected: Connected | undefined;
  try {
    const hint = commandFor('campaign watch', id);
    connected = await unlessInterrupted(connect(run.config, run.env), interruption, hint);
    await warnWithoutWorker(context, connected);
    const starting = begin(context, run, connected, await storeManifest(store, input, format));
    const started = await unlessInterrupted(starting, interruption, hint);
    const { workflowId, runId, isNew } = started;
    const url = connected.workflowUrl(workflowId);
    report.say(`${isNew ? 'Started' : 'Attached to'} ${workflowId}${url === undefined ? '' : ` (${url})`}.`);
    if (!isNew) await tellThatItRuns(context, run, connected);
    const facts = { workflowId, runId, isNew, ...given({ url }) };
    report.event('started', facts);
    if (run.detach) {
      report.result(workflowId);
      report.say(`Watch it with: ${hint}`);
      report.reply({ ok: true, data: facts });
      return;
    }
    const refresher = directory === undefined ? undefined : new ReportRefresher(report, store, directory);
    await attachCampaign(context, { connected, interruption, started, refresher });
  } finally {
    interruption.dispose();
    await connected?.close().catch(() => undefined);
  }
}

/** Whoever started it has chosen its settings: money is at stake where they are others than those asked for here. */
async function tellThatItRuns(
  { report }: CommandContext,
  { id, settings }: Run,
  { media }: Connected,
): Promise<void> {
  const set = commandFor('campaign set', id);
  report.say(
    `It runs already: nothing new is ordered. \`${set}\` changes its concurrency and raises its budget.`,
  );
  if (settings.budget === undefined && settings.concurrency === undefined) return;
  const state = await media.campaignState(id).catch(() => undefined);
  const differing = state === undefined ? undefined : runsOtherwise(state, settings);
  if (differing !== undefined) report.say(`${report.paint('warn', 'warning:')} ${differing}`);
}

/** Attaches to the same campaign while it runs; else judges what is missing, asks, and starts. */
async function begin(
  { report }: CommandContext,
  run: Run,
  { media }: Connected,
  stored: Awaited<ReturnType<typeof storeManifest>>,
): Promise<Started<CampaignResult>> {
  const { id, settings, models, consent, store } = run;
  const manifest = { source: { artifact: stored.artifact }, ...given({ format: stored.format }) };
  const start: CampaignStart = { ...settings, manifest };
  const running = await media.joinCampaign(id, start);
  if (running !== undefined) return running;
  if (models === undefined) {
    await confirmUnjudged(report, consent);
    return media.startCampaign(start, { id });
  }
  const previous = await media.campaignResults(id).catch((error: unknown) => {
    if ((error as Error).name === 'CampaignNotFoundError') return undefined;
    throw error;
  });
  const open = async () => (await store.read(stored.artifact)) as AsyncIterable<Uint8Array>;
  const input = { ...settings, ...given({ previous }) };
  const plan = await planHere(report, models, { campaign: id, input, format: stored.format, open, store });
  showPlan(report, plan, consent);
  await confirmPlan(report, plan, consent);
  return media.startCampaign(start, { id });
}
