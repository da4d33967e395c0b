import { type Command } from 'commander';
import { badInput } from '../errors';
import { type CommandContext, type CommonOptions, withCommonOptions } from '../context';
import { durationOf } from '../paid-options';
import { withServer } from '../with-server';

interface PruneOptions extends CommonOptions {
  readonly olderThan: string;
  readonly dryRun?: boolean;
}

/** `journal`: the record of paid sends of this machine's workers. */
export function addJournalCommand(program: Command, context: CommandContext): void {
  const journal = program.command('journal').description('look after the record of paid sends');
  withCommonOptions(
    journal
      .command('prune')
      .description('remove old records; never what waits for a decision')
      .requiredOption('--older-than <duration>', 'at least what the namespace keeps closed workflows: 90d')
      .option('--dry-run', 'only count'),
  )
    .addHelpText('after', HELP)
    .action(async (options: PruneOptions) => prune(context, options));
}

const HELP = `
Runs where the worker runs: it reads the folder MEDIA_JOURNAL. A creation key that was removed is forgotten: whoever
starts the same id again buys again. Records younger than the namespace keeps closed workflows, of workflows that the
server still has, of other namespaces, and of calls of unknown fate stay. It asks about the workflow that sent, not about
its callers: choose a time longer than those run that started it under a key of theirs.

Example:
  $ temporal-media journal prune --older-than 90d --dry-run
`;

async function prune(context: CommandContext, options: PruneOptions): Promise<void> {
  const olderThanMs = durationOf(options.olderThan);
  if (olderThanMs === undefined)
    throw badInput([{ field: '--older-than', message: 'must be a duration with its unit, such as 90d.' }]);
  await withServer(context, options, async (connected, config) => {
    const journal = await import('../journal/prune.js');
    await journal.prune(context, connected, config, olderThanMs, options.dryRun === true);
  });
}
