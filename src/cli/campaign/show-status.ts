import { type CommandContext, type CommonOptions } from '../command-context';
import { withServer } from '../with-server';
import { campaignStatus } from './campaign-status';
import { campaignStatusLines } from './status-lines';

/** `campaign status`. Reads only. @throws CliError */
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
