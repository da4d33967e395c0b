/**
 * A PostgreSQL request failed. The message contains no address, user, password or record, because it ends up in
 * histories and logs. `code` is the server's SQLSTATE or the socket's code.
 */
export class PostgresError extends Error {
  override readonly name = 'PostgresError';
  constructor(
    message: string,
    /** Absent if neither the server nor the socket gave one. */
    readonly code?: string,
  ) {
    super(message);
  }
}

/** What a failed statement means for the next attempt. */
export interface StatementFailure {
  /** One sentence for people, without the server's text, which may contain host and user names. */
  readonly text: string;
  readonly code?: string;
  /** Whether the same statement may succeed when retried. */
  readonly temporary: boolean;
  /** Whether the statement may have been committed even though it failed. */
  readonly maybeWritten: boolean;
}

/** A failed attempt. Internal to this folder. */
export class FailedStatement extends Error {
  constructor(readonly failure: StatementFailure) {
    super(failure.text);
  }
}

const REFUSED = { temporary: false, maybeWritten: false };
const LATER = { temporary: true, maybeWritten: false };
const UNKNOWN = { temporary: true, maybeWritten: true };

export const READ_ONLY: StatementFailure = {
  ...LATER,
  code: '25006',
  text: 'The PostgreSQL server is read-only: it is a replica, or the database sets default_transaction_read_only. The journal needs the primary server.',
};

export const NOT_MIGRATED =
  'The PostgreSQL database has no table media_journal in the expected schema. Run `temporal-media journal migrate` once, with the same MEDIA_JOURNAL.';

export const NOT_GRANTED =
  'The PostgreSQL user is not allowed to use the table media_journal. Grant SELECT, INSERT, UPDATE and DELETE on it.';

/** Errors that prove that the transaction was rolled back, by SQLSTATE or its class. The longest match applies. */
const ROLLED_BACK: { readonly [state: string]: Pick<StatementFailure, 'text' | 'temporary'> } = {
  '0A': { ...REFUSED, text: "The PostgreSQL server does not support one of the journal's statements." },
  '22': { ...REFUSED, text: "The PostgreSQL server cannot store a record's text." },
  '23': { ...REFUSED, text: 'The table media_journal has a constraint that the journal did not create.' },
  '25006': READ_ONLY,
  '28': {
    ...REFUSED,
    text: "The PostgreSQL server rejected the login. Fix the user and password (in MEDIA_JOURNAL, PGPASSWORD or PGPASSFILE), or the server's pg_hba.conf.",
  },
  '3D': { ...REFUSED, text: 'The database in MEDIA_JOURNAL does not exist on the PostgreSQL server.' },
  '3F': { ...REFUSED, text: 'The schema in MEDIA_JOURNAL does not exist in the PostgreSQL database.' },
  '40001': { ...LATER, text: 'The PostgreSQL server could not serialize a statement.' },
  '40P01': { ...LATER, text: 'The PostgreSQL server rolled back a statement to end a deadlock.' },
  '42': { ...REFUSED, text: "The PostgreSQL server rejected one of the journal's statements." },
  '42501': { ...REFUSED, text: NOT_GRANTED },
  '42P01': { ...REFUSED, text: NOT_MIGRATED },
  '53': { ...LATER, text: 'The PostgreSQL server is out of connections, memory or disk space.' },
  '55P03': { ...LATER, text: 'A lock on the PostgreSQL server was not released in time.' },
  '57014': { ...LATER, text: 'A statement on the PostgreSQL server took too long and was canceled.' },
};

/**
 * Converts the error of a statement that was sent. Unless the error proves that the statement was rolled back, it may
 * have been committed.
 */
export function statementFailure(error: unknown): StatementFailure {
  const code = codeOf(error);
  const row = code === undefined ? undefined : (ROLLED_BACK[code] ?? ROLLED_BACK[code.slice(0, 2)]);
  if (row !== undefined) return { ...row, ...(code && { code }), maybeWritten: false };
  const text = 'The connection to the PostgreSQL server was lost, or the server did not answer in time.';
  return { ...UNKNOWN, ...(code && { code }), text };
}

/** Converts the error of a failed attempt to connect, in which no statement was sent. */
export function connectFailure(error: unknown): StatementFailure {
  const code = codeOf(error);
  const named = code !== undefined && /^(28|3D|53)/.test(code) ? ROLLED_BACK[code.slice(0, 2)] : undefined;
  if (named !== undefined) return { ...named, ...(code && { code }), maybeWritten: false };
  if ((error as { syscall?: unknown }).syscall === 'open') {
    const text = 'A file MEDIA_JOURNAL points to (sslrootcert, sslcert, sslkey) cannot be read.';
    return { ...REFUSED, ...(code && { code }), text };
  }
  const why = error instanceof Error ? OWN_WORDS.exec(error.message)?.[0] : undefined;
  const text = `The PostgreSQL server cannot be reached${why === undefined ? '' : ` (${why})`}. Check that it is running, and check the host, port and sslmode in MEDIA_JOURNAL.`;
  return { ...LATER, ...(code && { code }), text };
}

/** Matches only messages from the `pg` package itself, because other messages may repeat the address. */
const OWN_WORDS = /^(The server does not support SSL connections|SASL: [ \w-]+|timeout exceeded[ \w]*)/;

/** @param maybeWritten whether a write may have taken effect; null for a statement that writes nothing */
export function postgresError({ text, code }: StatementFailure, maybeWritten: boolean | null): PostgresError {
  const effect = maybeWritten ? 'It is unknown whether the database was changed.' : 'Nothing was changed.';
  const words = [text, ...(maybeWritten === null ? [] : [effect]), ...(code ? [`(${code})`] : [])];
  return new PostgresError(words.join(' '), code);
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}
