import { type Command } from 'commander';
import { type CommandContext, type CommonOptions, withCommonOptions, withServer } from '../shared/context';
import { olderThanOf } from '../shared/retention';

interface PruneOptions extends CommonOptions {
  readonly olderThan: string;
  readonly dryRun?: boolean;
}

/** `artifacts`: maintains the store for results and input files. */
export function addArtifactsCommand(program: Command, context: CommandContext): void {
  const artifacts = program.command('artifacts').description('maintain the store of results and input files');
  withCommonOptions(
    artifacts
      .command('prune')
      .description('remove old results and input files that nothing references any more')
      .requiredOption('--older-than <duration>', 'minimum age, at least the retention of the namespace: 90d')
      .option('--dry-run', 'only count what would be removed'),
  )
    .addHelpText('after', HELP)
    .action(async (options: PruneOptions) => prune(context, options));
}

const HELP = `
Run it with the MEDIA_ARTIFACTS and MEDIA_JOURNAL of the workers. A file is kept when it was stored in this time or in the
day before it, or when its hash is in an open workflow of any type, in a campaign that the server still has, in a
schedule, in the journal, or in a file that is kept for one of these reasons. All other results are gone then: save them first.
It reads the namespace of TEMPORAL_NAMESPACE and those that the journal names. What other namespaces, another Temporal server
or your own database name is not seen: choose a time longer than they need it.

Example:
  $ temporal-media artifacts prune --older-than 90d --dry-run
`;

async function prune(context: CommandContext, options: PruneOptions): Promise<void> {
  const olderThanMs = olderThanOf(options.olderThan);
  await withServer(context, options, async (connected, config) => {
    const artifacts = await import('./prune.js');
    await artifacts.pruneArtifacts(context, connected, config, olderThanMs, options.dryRun === true);
  });
}
