import { migratePostgres, migrationSql } from '@temporal-media/store-postgres';
import { ConfigurationError } from 'temporal-media/internal/settings/config';
import { type MediaConfig } from 'temporal-media/worker';
import { type CommandContext } from '../shared/context';

/**
 * Creates or upgrades a journal's table in PostgreSQL. A dry run makes no connection.
 * @throws ConfigurationError for a journal that has no table; PostgresError
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
      'must be postgres://USER@HOST:PORT/DATABASE for this command. Other journals have no table.',
    );
  const { from, version } = await migratePostgres(url);
  const was =
    from === version ? 'It already existed.' : from === 0 ? 'It is new.' : `It had version ${from}.`;
  report.say(`The table media_journal in ${shownAddress(url)} has version ${version}. ${was}`);
  report.reply({ ok: true, data: { dryRun, from, version } });
}

/** `database at host`, from the address in use. Only for people at this machine, never for a history. */
function shownAddress(url: string): string {
  const { hostname, pathname, searchParams } = new URL(url);
  const host = searchParams.get('host') ?? (hostname === '' ? 'this machine' : hostname);
  return `${pathname.slice(1) || 'the database of the user'} at ${host}`;
}
