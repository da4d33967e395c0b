import { type CommandContext, type CommonOptions } from '../command-context';
import { textTable } from '../text-table';
import { withServer } from '../with-server';
import { countOf } from './campaign-options';

export interface ListOptions extends CommonOptions {
  readonly limit?: string;
}

/** `campaign list`: campaigns of the namespace, those that run first, as the server lists them. */
export async function listCampaigns(context: CommandContext, options: ListOptions): Promise<void> {
  const { report } = context;
  const most = countOf('--limit', options.limit) ?? 20;
  await withServer(context, options, async ({ media }) => {
    const found = await media.listCampaigns(most);
    const rows = found.map(({ campaign, status, startedAt, closedAt }) => [
      campaign,
      status.toLowerCase().replaceAll('_', ' '),
      startedAt,
      closedAt ?? '',
    ]);
    if (rows.length === 0) report.say('This namespace has no campaigns.');
    else for (const line of textTable([['ID', 'STATUS', 'STARTED', 'ENDED'], ...rows])) report.result(line);
    const campaigns = found.map(({ campaign, runId, status, startedAt, closedAt }) => ({
      workflowId: campaign,
      runId,
      status,
      startedAt,
      closedAt,
    }));
    report.reply({ ok: true, data: { campaigns } });
  });
}
