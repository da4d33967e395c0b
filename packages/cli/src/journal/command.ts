import { type Command } from 'commander';
import {
  type CommandContext,
  type CommonOptions,
  effectiveConfig,
  withCommonOptions,
  withServer,
} from '../shared/context';
import { olderThanOf } from '../shared/retention';

interface PruneOptions extends CommonOptions {
  readonly olderThan: string;
  readonly dryRun?: boolean;
}

interface MigrateOptions extends CommonOptions {
  readonly dryRun?: boolean;
}

/** Adds `journal`, which maintains the record of paid sends. */
export function addJournalCommand(program: Command, context: CommandContext): void {
  const journal = program.command('journal').description('maintain the record of paid sends');
  withCommonOptions(
    journal
      .command('prune')
      .description('remove old records, except calls that need a decision')
      .requiredOption('--older-than <duration>', "minimum age, at least the namespace's retention: 90d")
      .option('--dry-run', 'only count what would be removed'),
  )
    .addHelpText('after', HELP)
    .action(async (options: PruneOptions) => prune(context, options));
  withCommonOptions(
    journal
      .command('migrate')
      .description("create or upgrade a PostgreSQL journal's table")
      .option('--dry-run', 'only print the SQL for a new table'),
  )
    .addHelpText('after', MIGRATE_HELP)
    .action(async (options: MigrateOptions) => migrate(context, options));
}

const HELP = `
Run it where the worker runs, with the same MEDIA_JOURNAL. Once the record of a creation key is removed, starting the same
id buys again. A record is kept if it is newer than the duration, if its workflow still exists on the server, if it belongs
to another namespace, or if its call is unconfirmed. The command checks the workflow that sent the call, not the workflow's
callers. If your callers pass their own creation keys, choose a duration longer than they run.

Example:
  $ temporal-media journal prune --older-than 90d --dry-run
`;

const MIGRATE_HELP = `
MEDIA_JOURNAL must have the same value as on the worker: postgres://USER@HOST:PORT/DATABASE, with ?schema=NAME if the schema
is not the first in the search path. Pass the password in PGPASSWORD or in the file PGPASSFILE points to. This command's
user must be allowed to create tables; the worker's user needs SELECT, INSERT, UPDATE and DELETE. It is safe to repeat.

Example:
  $ temporal-media journal migrate --dry-run
`;

async function prune(context: CommandContext, options: PruneOptions): Promise<void> {
  const olderThanMs = olderThanOf(options.olderThan);
  await withServer(context, options, async (connected, config) => {
    const journal = await import('./prune.js');
    await journal.pruneCreateJournal(context, connected, config, olderThanMs, options.dryRun === true);
  });
}

async function migrate(context: CommandContext, options: MigrateOptions): Promise<void> {
  const journal = await import('./migrate.js');
  await journal.migrate(context, effectiveConfig(context, options), options.dryRun === true);
}
