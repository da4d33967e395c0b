import { type Client } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { describeStandalone, isGrpcNotFound } from 'temporal-media/internal/client/workflow-service';
import { existingRecords } from 'temporal-media/internal/stores/open-stores';
import { type MediaConfig } from 'temporal-media/worker';
import { type Connected } from '../shared/connect';
import { type CommandContext } from '../shared/context';
import { CliError } from '../shared/errors';
import { requireRetention } from '../shared/retention';
import { shownLocation } from '../shared/text';
import { pruneJournal, type PruneOptions, pruneSpend } from './prune-journal';

/** Removes old records from the journal. @throws CliError for a duration below the namespace's retention */
export async function pruneCreateJournal(
  { report }: CommandContext,
  connected: Connected,
  config: MediaConfig,
  olderThanMs: number,
  dryRun: boolean,
): Promise<void> {
  const records = await existingRecords(config);
  if (records === undefined)
    throw new CliError('journal_unusable', `There is no journal at ${shownLocation(config.journal)}.`, {
      hint: 'Run this where the worker runs, with its MEDIA_JOURNAL or --data-dir.',
    });
  await requireRetention(connected, olderThanMs, 'and a reset workflow would not find what it bought.');
  const pruned = await pruneJournal({
    records,
    before: new Date(Date.now() - olderThanMs),
    dryRun,
    inUse: usedBy(connected),
  });
  const spend = await pruneSpend({ records, before: new Date(Date.now() - olderThanMs), dryRun });
  const { keys, removed, keptOpen, keptRunning, keptYoung, keptBilled } = pruned;
  report.say(
    `${dryRun ? 'Would remove' : 'Removed'} ${removed} of ${keys} creation keys; kept ${keptYoung} that are too recent, ${keptRunning} whose workflow is running or can still be reset, ${keptBilled} that a campaign's budget counts with a bill beyond the estimate, and ${keptOpen} that need a decision.`,
  );
  if (spend > 0)
    report.say(`${dryRun ? 'Would remove' : 'Removed'} ${spend} records of account spending in past months.`);
  report.reply({ ok: true, data: { dryRun, ...pruned, removedSpend: spend } });
}

/**
 * Returns a function that checks whether a key is in use. A workflow that still exists on the server can be reset and
 * would then look up its key again, so the key is kept no matter how old the send is. The same applies to its parents,
 * which may run for months after a child or batch was removed. Keys from other or unknown namespaces cannot be checked
 * and are kept.
 */
export function usedBy({ client, namespace }: Connected): PruneOptions['inUse'] {
  const known = new LRUCache<string, Promise<boolean>>({ max: 10_000 });
  const has = (workflowId: string): Promise<boolean> => {
    const asked = known.get(workflowId) ?? hasWorkflow(client, namespace, workflowId);
    known.set(workflowId, asked);
    return asked;
  };
  return async (entry) => {
    if (entry.namespace !== namespace) return true;
    // If a standalone activity is started again with the same id, it looks up the key.
    if (entry.workflowId === null)
      return (await describeStandalone(client, namespace, { ...entry, runId: '' })) !== undefined;
    for (const id of [entry.workflowId, ...(entry.ancestors ?? [])]) if (await has(id)) return true;
    return false;
  };
}

async function hasWorkflow(client: Client, namespace: string, workflowId: string): Promise<boolean> {
  try {
    // The raw call does not decode payloads, so it works without the codec.
    await client.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } });
    return true;
  } catch (error) {
    if (isGrpcNotFound(error)) return false;
    throw error;
  }
}
