import { type ReportFacts, type ReportSummary, writeReport, zipReport } from '@temporal-media/report';
import { safeName } from '@temporal-media/report/internal/report-folder';
import { type CampaignResult, type CampaignState } from 'temporal-media';
import { openArtifactStore } from 'temporal-media/internal/stores/open-stores';
import { type ArtifactStore } from 'temporal-media/stores';
import { type Connected } from '../shared/connect';
import { type CommandContext, type CommonOptions, effectiveConfig, withServer } from '../shared/context';
import { failureOf } from '../shared/errors';
import { prepareOut } from '../shared/output-files';
import { type Report } from '../shared/report';
import { reportFiles } from './status';
import { moneyTotalsText, resultsText } from './text';

/** Minimum time between the starts of two refreshes, in milliseconds. */
const EVERY_MS = 10_000;

/** Keeps a campaign's report up to date while a command follows the campaign. */
export class ReportRefresher {
  #running: Promise<void> | undefined;
  #startedAt = -Infinity;
  #warned = false;
  readonly #abort = new AbortController();

  constructor(
    private readonly report: Report,
    private readonly store: ArtifactStore,
    /** Absolute path. */
    private readonly out: string,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * Refreshes the report, unless a refresh is running or started less than 10 s ago. Only the first error is reported.
   */
  offer(state: CampaignState): void {
    if (this.#running !== undefined || this.now() - this.#startedAt < EVERY_MS || state.plan === null) return;
    this.#startedAt = this.now();
    this.#running = this.#write(factsOfState(state), state.results)
      .then(() => undefined)
      .catch((error: unknown) => this.#warn(error))
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Refreshes the report one last time, from the campaign's result. @throws ReportError, ArtifactError */
  async finish(result: CampaignResult): Promise<ReportSummary> {
    await this.#running;
    return this.#write(factsOfResult(result), result.results);
  }

  /** Stops a running refresh after the current page. A later refresh continues from there. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  #write(facts: ReportFacts, results: CampaignState['results']): Promise<ReportSummary> {
    const { store, out } = this;
    return writeReport({ store, out, facts, results, signal: this.#abort.signal });
  }

  #warn(error: unknown): void {
    if (this.#warned || this.#abort.signal.aborted) return;
    this.#warned = true;
    const { message } = failureOf(error).reply;
    this.report.say(`${this.report.paint('warn', 'warning:')} the report was not refreshed: ${message}`);
  }
}

/** Returns the facts that the report shows for a running campaign. */
function factsOfState(state: CampaignState): ReportFacts {
  const { campaign, phase, startedAt, counts, remaining, currency, money, budget, plan, notes } = state;
  return {
    campaign,
    state: phase === 'done' ? 'done' : 'running',
    asOf: new Date().toISOString(),
    startedAt,
    finishedAt: null,
    counts,
    remaining,
    currency,
    money,
    budget,
    plan,
    notes,
  };
}

/** Returns the facts that the report shows for an ended campaign. */
function factsOfResult(result: CampaignResult): ReportFacts {
  const { campaign, startedAt, finishedAt, counts, currency, money, budget, plan } = result;
  return {
    campaign,
    state: 'done',
    asOf: new Date().toISOString(),
    startedAt,
    finishedAt,
    counts,
    remaining: plan.left,
    currency,
    money,
    budget,
    plan,
    notes: [],
  };
}

interface ReportCommandOptions extends CommonOptions {
  readonly out?: string;
  readonly zip?: string;
  readonly force?: boolean;
}

/** `campaign report`: writes or refreshes a campaign's report, and zips it if requested. @throws CliError */
export async function reportCampaign(
  context: CommandContext,
  id: string,
  options: ReportCommandOptions,
): Promise<void> {
  const { report } = context;
  await withServer(context, options, async (connected, config) => {
    const facts = await factsOf(connected, id);
    const results = await connected.media.campaigns.results(id);
    const store = await openArtifactStore(effectiveConfig(context, options));
    const out = await prepareOut(options.out ?? safeName(id));
    const summary = await writeReport({ store, out, results, facts });
    const zipped =
      options.zip === undefined
        ? null
        : await zipReport(summary.directory, options.zip, { replace: options.force === true });
    report.say(resultsText(facts.counts, facts.plan?.rows ?? null));
    report.say(`Money: ${moneyTotalsText(facts.money, facts.currency)}.`);
    if (summary.filesMissing > 0)
      report.say(
        `${report.paint('warn', 'warning:')} ${summary.filesMissing} files are missing from this command's artifact store (${config.artifacts}).`,
      );
    for (const file of reportFiles(summary)) report.result(file);
    if (zipped !== null) report.result(zipped.file);
    report.reply({ ok: true, data: { workflowId: id, report: summary, zip: zipped } });
  });
}

async function factsOf({ media }: Connected, id: string): Promise<ReportFacts> {
  const { status } = await media.campaigns.describe(id);
  return status === 'COMPLETED'
    ? factsOfResult(await media.campaigns.result(id))
    : factsOfState(await media.campaigns.state(id));
}
