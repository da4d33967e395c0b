import { type Started } from '../../client';
import { type CampaignResult } from '../../domain/campaign/state';
import { type CommandContext, type CommonOptions, effectiveConfig } from '../command-context';
import { type Connected } from '../connect';
import { onInterruption } from '../interruption';
import { openStore } from '../paid-options';
import { prepareOut } from '../result-files';
import { withServer } from '../with-server';
import { attachCampaign } from './attach-campaign';
import { ReportRefresher } from './report-refresher';

interface WatchOptions extends CommonOptions {
  readonly out?: string;
}

/** `campaign watch`: shows a campaign until it ends; starts nothing. @throws CliError */
export async function watchCampaign(
  context: CommandContext,
  id: string,
  options: WatchOptions,
): Promise<void> {
  await withServer(context, options, async (connected) => {
    const { runId } = await connected.media.findCampaign(id);
    context.report.event('watching', { workflowId: id, runId });
    const result = () => connected.media.campaignResult(id);
    await followCampaign(context, connected, { workflowId: id, runId, isNew: false, result }, options);
  });
}

/** Shows a campaign until it ends, and keeps its report where `--out` names a folder. @throws CliError */
export async function followCampaign(
  context: CommandContext,
  connected: Connected,
  started: Started<CampaignResult>,
  options: WatchOptions,
): Promise<void> {
  const store = openStore(effectiveConfig(context, options));
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
