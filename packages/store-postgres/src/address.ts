import { escapeIdentifier } from 'pg';
import { PostgresError } from './errors';

/**
 * The table that an address `postgres://user@host:5432/database?schema=media` means, as it stands in a statement.
 * @throws PostgresError for something else
 */
export function tableOf(url: string): string {
  return tableIn(parse(url).searchParams.get('schema') ?? undefined);
}

/** `database at host`, for a person at this machine: never for a history. @throws PostgresError */
export function shownAddress(url: string): string {
  const { hostname, pathname, searchParams } = parse(url);
  const host = searchParams.get('host') ?? (hostname === '' ? 'this machine' : hostname);
  return `${pathname.slice(1) || 'the database of the user'} at ${host}`;
}

/** Its error repeats nothing: the address may hold a password. */
function parse(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && /^postgres(ql)?:$/.test(parsed.protocol)) return parsed;
  throw new PostgresError(
    'The address of the journal must be postgres://USER@HOST:PORT/DATABASE; special characters of a password are written as %40.',
  );
}

/** The one table of the journal, quoted for a statement. */
export function tableIn(schema: string | undefined): string {
  return schema === undefined ? TABLE : `${escapeIdentifier(schema)}.${TABLE}`;
}

const TABLE = 'media_journal';
