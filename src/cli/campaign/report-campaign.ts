import { zipReport } from '../../report/zip-report';
import { writeReport } from '../../report/write-report';
import { type ReportFacts } from '../../report/report-options';
import { type CommandContext, type CommonOptions, effectiveConfig } from '../command-context';
import { type Connected } from '../connect';
import { openStore } from '../paid-options';
import { prepareOut } from '../result-files';
import { safeName } from '../safe-name';
import { withServer } from '../with-server';
import { reportFiles } from './answer-campaign';
import { factsOfResult, factsOfState } from './report-refresher';
import { moneyText, resultsText } from './campaign-text';

export interface ReportCommandOptions extends CommonOptions {
  readonly out?: string;
  readonly zip?: string;
  readonly force?: boolean;
}

/** `campaign report`: writes or refreshes the report of a campaign, and packs it. Starts nothing. @throws CliError */
export async function reportCampaign(
  context: CommandContext,
  id: string,
  options: ReportCommandOptions,
): Promise<void> {
  const { report } = context;
  await withServer(context, options, async (connected, config) => {
    const facts = await factsOf(connected, id);
    const results = await connected.media.campaignResults(id);
    const store = openStore(effectiveConfig(context, options));
    const out = await prepareOut(options.out ?? safeName(id));
    const summary = await writeReport({ store, out, results, facts });
    const zipped =
      options.zip === undefined
        ? null
        : await zipReport(summary.directory, options.zip, { replace: options.force === true });
    report.say(resultsText(facts.counts, facts.plan?.rows ?? null));
    report.say(`Money: ${moneyText(facts.money, facts.currency)}.`);
    if (summary.filesMissing > 0)
      report.say(
        `${report.paint('warn', 'warning:')} ${summary.filesMissing} files are not in the artifact store that this command sees (${config.artifacts}).`,
      );
    for (const file of reportFiles(summary)) report.result(file);
    if (zipped !== null) report.result(zipped.file);
    report.reply({ ok: true, data: { workflowId: id, report: summary, zip: zipped } });
  });
}

async function factsOf({ media }: Connected, id: string): Promise<ReportFacts> {
  const { status } = await media.findCampaign(id);
  return status === 'COMPLETED'
    ? factsOfResult(await media.campaignResult(id))
    : factsOfState(await media.campaignState(id));
}
