import { type Orphan, orphansAmong } from '../../client/orphans';
import { type CommandContext } from '../command-context';
import { type Connected } from '../connect';
import { commandFor } from '../shell-word';
import { textTable } from '../text-table';
import { namespaceRetentionMs } from './namespace-retention';
import { readPages } from './read-pages';

/** Lists paid tasks whose workflow was closed from outside and that nobody has fetched since. */
export async function findOrphans(
  context: CommandContext,
  connected: Connected,
  sinceMs: number | undefined,
): Promise<void> {
  const { report } = context;
  const now = Date.now();
  const keptSince = new Date(now - (await namespaceRetentionMs(connected.client)));
  const since = sinceMs === undefined ? undefined : new Date(now - sinceMs).toISOString();
  const orphans: Orphan[] = [];
  let scanned = 0;
  for await (const page of readPages(connected, { list: 'created', ...(since !== undefined && { since }) })) {
    orphans.push(...(await orphansAmong(connected.client, page.created, keptSince)));
    scanned += page.scanned;
  }
  if (orphans.length > 0) {
    const rows = orphans.map(({ taskId, creationKey, endedAs, createdAt, account }) => [
      taskId,
      creationKey,
      endedAs,
      createdAt ?? '',
      account,
    ]);
    for (const line of textTable([['TASK', 'ID', 'WORKFLOW', 'CREATED', 'ACCOUNT'], ...rows]))
      report.result(line);
    report.say(`Each is paid. To fetch one: ${commandFor('resume', orphans[0]?.taskId ?? 'TASK')}`);
  } else {
    report.say(`No paid task is without a workflow: ${scanned} creation keys in the journal.`);
  }
  report.reply({ ok: true, data: { orphans, scanned } });
}
