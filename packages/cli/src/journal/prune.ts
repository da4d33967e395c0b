import { type Client } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { describeStandalone, isGrpcNotFound } from 'temporal-media/internal/client/workflow-service';
import {
  pruneJournal,
  type PruneOptions,
  pruneSpend,
} from 'temporal-media/internal/stores/journal/prune-journal';
import { existingRecords } from 'temporal-media/internal/stores/open-stores';
import { type MediaConfig } from 'temporal-media/worker';
import { type Connected } from '../shared/connect';
import { type CommandContext } from '../shared/context';
import { CliError } from '../shared/errors';
import { requireRetention } from '../shared/retention';
import { shownLocation } from '../shared/text';

/** Removes old records from the journal that MEDIA_JOURNAL names. @throws CliError below the retention of the namespace */
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
  const { keys, removed, keptOpen, keptRunning, keptYoung } = pruned;
  report.say(
    `${dryRun ? 'Would remove' : 'Removed'} ${removed} of ${keys} creation keys; kept ${keptYoung} that are younger, ${keptRunning} whose workflow is running or can still be reset, and ${keptOpen} that wait for a decision.`,
  );
  if (spend > 0)
    report.say(
      `${dryRun ? 'Would remove' : 'Removed'} ${spend} records of what accounts spent in months that have ended.`,
    );
  report.reply({ ok: true, data: { dryRun, ...pruned, removedSpend: spend } });
}

/**
 * A workflow that the server still has can be reset and would then look up its key again, so the key is kept, however
 * old the send is. The same is true of its parents, which may run for months after a child or batch has ended and was
 * removed. A key from another or an unknown namespace cannot be checked here and is kept.
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
    // Without a workflow, starting the same id again looks up the key.
    if (entry.workflowId === null)
      return (await describeStandalone(client, namespace, { ...entry, runId: '' })) !== undefined;
    for (const id of [entry.workflowId, ...(entry.ancestors ?? [])]) if (await has(id)) return true;
    return false;
  };
}

async function hasWorkflow(client: Client, namespace: string, workflowId: string): Promise<boolean> {
  try {
    // The raw call decodes no payloads, so it works without the codec.
    await client.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } });
    return true;
  } catch (error) {
    if (isGrpcNotFound(error)) return false;
    throw error;
  }
}
