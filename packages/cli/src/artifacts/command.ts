import { type Command } from 'commander';
import { type CommandContext, type CommonOptions, withCommonOptions, withServer } from '../shared/context';
import { olderThanOf } from '../shared/retention';

interface PruneOptions extends CommonOptions {
  readonly olderThan: string;
  readonly dryRun?: boolean;
}

/** Adds `artifacts`, which maintains the store of results and input files. */
export function addArtifactsCommand(program: Command, context: CommandContext): void {
  const artifacts = program.command('artifacts').description('maintain the store of results and input files');
  withCommonOptions(
    artifacts
      .command('prune')
      .description('remove old results and input files that are no longer referenced')
      .requiredOption('--older-than <duration>', "minimum age, at least the namespace's retention: 90d")
      .option('--dry-run', 'only count what would be removed'),
  )
    .addHelpText('after', HELP)
    .action(async (options: PruneOptions) => prune(context, options));
}

const HELP = `
Run it with the same MEDIA_ARTIFACTS and MEDIA_JOURNAL as the workers. A file is kept if it is at most one day older than
DURATION, or if its hash appears in an open workflow of any type, a campaign that the server still stores, a schedule, the
journal, or a file that is kept for one of these reasons. All other files are deleted, so save any results you need first.
The command reads TEMPORAL_NAMESPACE and every namespace that the journal mentions. It cannot see references from other
namespaces, another Temporal server or your own database: choose a duration that outlasts all of these.

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
