import { type Command } from 'commander';
import { badInput } from '../errors';
import { type CommandContext, type CommonOptions, withCommonOptions } from '../context';
import { durationOf } from '../paid-options';
import { withServer } from '../with-server';

interface PruneOptions extends CommonOptions {
  readonly olderThan: string;
  readonly dryRun?: boolean;
}

/** `journal`: maintains the record of paid sends of this machine's workers. */
export function addJournalCommand(program: Command, context: CommandContext): void {
  const journal = program.command('journal').description('maintain the record of paid sends');
  withCommonOptions(
    journal
      .command('prune')
      .description('remove old records, but none that waits for a decision')
      .requiredOption('--older-than <duration>', 'least age, not below the retention of the namespace: 90d')
      .option('--dry-run', 'only count what would be removed'),
  )
    .addHelpText('after', HELP)
    .action(async (options: PruneOptions) => prune(context, options));
}

const HELP = `
Run it where the worker runs: it reads the folder MEDIA_JOURNAL. After the record of a creation key is removed, starting
the same id again buys again. Records are kept when they are younger than the retention of the namespace, or belong to a
workflow that the server still has, to another namespace or to a call of unknown fate. The server is asked about the
workflow that sent, not about its callers: choose a time longer than callers run that pass a creation key of their own.

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
