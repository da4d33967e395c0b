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

/** `journal`: maintains the record of paid sends. */
export function addJournalCommand(program: Command, context: CommandContext): void {
  const journal = program.command('journal').description('maintain the record of paid sends');
  withCommonOptions(
    journal
      .command('prune')
      .description('remove old records, except those that wait for a decision')
      .requiredOption('--older-than <duration>', 'minimum age, at least the retention of the namespace: 90d')
      .option('--dry-run', 'only count what would be removed'),
  )
    .addHelpText('after', HELP)
    .action(async (options: PruneOptions) => prune(context, options));
  withCommonOptions(
    journal
      .command('migrate')
      .description('create the table of a journal in PostgreSQL, or bring it up to date')
      .option('--dry-run', 'only print the SQL of a new table'),
  )
    .addHelpText('after', MIGRATE_HELP)
    .action(async (options: MigrateOptions) => migrate(context, options));
}

const HELP = `
Run it where the worker runs: it reads the folder MEDIA_JOURNAL. After the record of a creation key is removed, starting
the same id again buys again. Records are kept when they are younger than the retention of the namespace, or belong to a
workflow that the server still has, to another namespace or to a call of unknown fate. The server is asked about the
workflow that sent, not about its callers: choose a time longer than callers run that pass a creation key of their own.

Example:
  $ temporal-media journal prune --older-than 90d --dry-run
`;

const MIGRATE_HELP = `
MEDIA_JOURNAL names the database, as the worker has it: postgres://USER@HOST:PORT/DATABASE, with ?schema=NAME for a
schema that is not the first of the search path. The password may be in PGPASSWORD, or in the file PGPASSFILE. The user
must be allowed to create tables; that of the worker needs SELECT, INSERT, UPDATE and DELETE. Repeating it is safe.

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
