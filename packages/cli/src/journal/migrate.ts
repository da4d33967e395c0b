import { migratePostgres, migrationSql } from '@temporal-media/store-postgres';
import { ConfigurationError } from 'temporal-media/internal/settings/config';
import { type MediaConfig } from 'temporal-media/worker';
import { type CommandContext } from '../shared/context';

/**
 * Creates or upgrades a PostgreSQL journal's table. A dry run does not connect.
 * @throws ConfigurationError if the journal is not in PostgreSQL, PostgresError
 */
export async function migrate(
  { report }: CommandContext,
  { journal: address }: MediaConfig,
  dryRun: boolean,
): Promise<void> {
  const url = /^postgres(ql)?:/.test(address) ? address : undefined;
  if (dryRun) {
    const sql = migrationSql(url);
    for (const line of sql.trimEnd().split('\n')) report.result(line);
    report.reply({ ok: true, data: { dryRun, sql } });
    return;
  }
  if (url === undefined)
    throw new ConfigurationError(
      'MEDIA_JOURNAL',
      'must be postgres://USER@HOST:PORT/DATABASE. Other kinds of journal do not have a table.',
    );
  const { from, version } = await migratePostgres(url);
  const was =
    from === version ? 'It was already up to date.' : from === 0 ? 'It is new.' : `It had version ${from}.`;
  report.say(`Table media_journal in ${shownAddress(url)} has version ${version}. ${was}`);
  report.reply({ ok: true, data: { dryRun, from, version } });
}

/** Formats a connection URL as `database at host`. Only for output on this machine, never for a history. */
function shownAddress(url: string): string {
  const { hostname, pathname, searchParams } = new URL(url);
  const host = searchParams.get('host') ?? (hostname === '' ? 'this machine' : hostname);
  return `${pathname.slice(1) || "the user's database"} at ${host}`;
}
