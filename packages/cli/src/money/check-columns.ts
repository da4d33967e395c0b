import { type CliError } from '../shared/errors';

/** What an invoice's columns can be, with the names that are recognized, without case and punctuation. */
const NAMES = {
  task: ['taskid', 'task', 'videoid'],
  key: ['idempotencykey', 'requestid'],
  amount: ['amount', 'cost', 'price', 'charge'],
  currency: ['currency'],
  time: ['time', 'timestamp', 'date', 'createdat'],
  model: ['model', 'modelid'],
  status: ['status'],
} as const satisfies { readonly [column: string]: readonly string[] };

type ColumnKind = keyof typeof NAMES;

export const COLUMN_KINDS = Object.keys(NAMES) as readonly ColumnKind[];

/** Names of columns, as the header writes them. */
export type ColumnNames = { readonly [kind in ColumnKind]?: string };

/** Positions of columns, from 0. */
export interface Columns extends Readonly<Partial<Record<ColumnKind, number>>> {
  readonly names: ColumnNames;
}

/** Finds the columns that the user named, and others by their names. @throws `failure` for a missing or unclear column */
export function columnsIn(
  header: readonly string[],
  wanted: ColumnNames,
  failure: (message: string) => CliError,
): Columns {
  const positions: Partial<Record<ColumnKind, number>> = {};
  const names: { [kind in ColumnKind]?: string } = {};
  const listed = `Its columns: ${header.map((name) => name.trim()).join(', ')}.`;
  for (const kind of COLUMN_KINDS) {
    const name = wanted[kind];
    const found = header.flatMap((text, at) => (isMeant(text, kind, name) ? [at] : []));
    const [at] = found;
    if (found.length > 1)
      throw failure(`Several columns can be the ${kind} column. Pass --${kind}-column. ${listed}`);
    if (at === undefined && name !== undefined)
      throw failure(`It has no column "${name}" (--${kind}-column). ${listed}`);
    if (at === undefined) continue;
    positions[kind] = at;
    names[kind] = header[at]?.trim() ?? '';
  }
  if (positions.task === undefined && positions.key === undefined)
    throw failure(`Its task column is unknown. Pass --task-column. ${listed}`);
  if (positions.amount === undefined)
    throw failure(`Its amount column is unknown. Pass --amount-column. ${listed}`);
  return { ...positions, names };
}

function isMeant(text: string, kind: ColumnKind, wanted: string | undefined): boolean {
  if (wanted !== undefined) return text.trim() === wanted;
  const known: readonly string[] = NAMES[kind];
  return known.includes(text.toLowerCase().replace(/[^a-z0-9]/g, ''));
}
