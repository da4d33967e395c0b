import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { type MediaConfig } from '../../config';
import { type ClaimIntent } from '../../domain/journal';
import { pruneJournal } from '../../journal/prune-journal';
import { badInput, CliError } from '../errors';
import { type CommandContext } from '../context';
import { type Connected } from '../connect';
import { isGrpcNotFound } from '../grpc-not-found';
import { namespaceRetentionMs } from '../unconfirmed/orphans';

const DAY_MS = 24 * 60 * 60_000;

/** Removes old records from the journal of this machine. @throws CliError below the retention of the namespace */
export async function prune(
  { report }: CommandContext,
  connected: Connected,
  { journal: root }: MediaConfig,
  olderThanMs: number,
  dryRun: boolean,
): Promise<void> {
  await access(join(root, 'journal.json')).catch(() => {
    throw new CliError('journal_unusable', `There is no journal at ${root}.`, {
      hint: 'Run this where the worker runs, with its MEDIA_JOURNAL or --data-dir.',
    });
  });
  const retentionMs = await namespaceRetentionMs(connected.client);
  if (olderThanMs < retentionMs) {
    const days = Math.ceil(retentionMs / DAY_MS);
    const message = `must be at least ${days}d: the namespace ${connected.namespace} keeps closed workflows that long, and one that is reset would not find what it bought.`;
    throw badInput([{ field: '--older-than', message }], 'Nothing was removed.');
  }
  const pruned = await pruneJournal({
    root,
    before: new Date(Date.now() - olderThanMs),
    dryRun,
    inUse: (claim) => inUse(connected, claim),
  });
  const { keys, removed, keptOpen, keptRunning, keptYoung } = pruned;
  report.say(
    `${dryRun ? 'Would remove' : 'Removed'} ${removed} of ${keys} creation keys; kept ${keptYoung} that are younger, ${keptRunning} whose workflow runs or can still be reset, ${keptOpen} that wait for a decision.`,
  );
  report.reply({ ok: true, data: { dryRun, ...pruned } });
}

/**
 * A workflow that the server still has can be reset, and would then buy again: its key is kept, however long ago it
 * sent. A key of another or an unknown namespace cannot be checked here and is kept.
 */
async function inUse({ client, namespace }: Connected, claim: ClaimIntent): Promise<boolean> {
  if (claim.namespace !== namespace) return true;
  if (claim.workflowId === null) return false;
  try {
    // The raw call decodes no payloads, so it works without the codec.
    await client.workflowService.describeWorkflowExecution({
      namespace,
      execution: { workflowId: claim.workflowId },
    });
    return true;
  } catch (error) {
    if (isGrpcNotFound(error)) return false;
    throw error;
  }
}
