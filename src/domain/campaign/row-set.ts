import { type Check, arrayOf, must, name, number, messageOf, optional, whole } from '../shape';
import { PAGE_ROWS } from './plan';

/** Rows of one page of a plan: all of them, or those in `rows`. */
export interface RowSet {
  /** SHA-256 of the plan's index artifact, and the page's number in it. */
  readonly index: string;
  readonly page: number;
  readonly generation: number;
  /** Number of rows in the set. */
  readonly size: number;
  /** Row numbers, packed by {@link packRows}. @default all of the page */
  readonly rows?: string;
  /**
   * Set when a batch had started the rows and handed them back, so that the journal has what was bought: when that
   * batch may have polled them last, in milliseconds of workflow time.
   */
  readonly started?: number;
}

/** Longest list of row sets in a message: a batch of many runs may have one row of each page. */
const MAX_SETS = 10_000;

const rowSetCheck: Check<RowSet> = messageOf({
  index: name(),
  page: whole(0),
  generation: whole(0),
  size: whole(0, PAGE_ROWS),
  rows: optional(must('row numbers as hexadecimal digits', isPacked)),
  started: optional(number),
});

export const rowSetsCheck: Check<readonly RowSet[]> = arrayOf(rowSetCheck, MAX_SETS);

function isPacked(value: unknown): boolean {
  return typeof value === 'string' && value.length <= PAGE_ROWS / 4 && /^[0-9a-f]*$/.test(value);
}

/** Whether the rows may have earlier results: only those of the first plan (generation 0) have none. */
export function replacesResults({ generation }: Pick<RowSet, 'generation'>): boolean {
  return generation > 0;
}

/** Encodes row numbers of one page as hexadecimal digits, four rows each. */
export function packRows(rows: Iterable<number>): string {
  const nibbles: number[] = [];
  for (const row of rows) {
    const place = row >> 2;
    while (nibbles.length <= place) nibbles.push(0);
    nibbles[place] = (nibbles[place] ?? 0) | (1 << (row & 3));
  }
  return nibbles.map((nibble) => nibble.toString(16)).join('');
}

export function unpackRows(packed: string): Set<number> {
  const rows = new Set<number>();
  [...packed].forEach((digit, place) => {
    const nibble = parseInt(digit, 16);
    for (let bit = 0; bit < 4; bit += 1) if ((nibble & (1 << bit)) !== 0) rows.add(place * 4 + bit);
  });
  return rows;
}

/** The rows of a page that belong to a set. */
export function rowsOf<Row>({ rows }: Pick<RowSet, 'rows'>, page: readonly Row[]): readonly Row[] {
  if (rows === undefined) return page;
  const places = unpackRows(rows);
  return page.filter((_, place) => places.has(place));
}

export function sizeOf(sets: readonly Pick<RowSet, 'size'>[]): number {
  return sets.reduce((sum, { size }) => sum + size, 0);
}

/** Row numbers of a set within its page. */
export function rowNumbers({ rows, size }: RowSet): readonly number[] {
  return rows === undefined ? Array.from({ length: size }, (_, row) => row) : [...unpackRows(rows)];
}

/** The subset of a set with these row numbers; undefined for none. @param started as in {@link RowSet} */
export function partOf(set: RowSet, rows: readonly number[], started?: number): RowSet | undefined {
  const { index, page, generation } = set;
  if (rows.length === 0) return undefined;
  return {
    index,
    page,
    generation,
    size: rows.length,
    rows: packRows(rows),
    ...(started !== undefined && { started }),
  };
}

/** The sets without the rows of `others`. */
export function without(sets: readonly RowSet[], others: readonly RowSet[]): RowSet[] {
  return sets.flatMap((set) => {
    const gone = new Set(others.filter((other) => isSamePage(set, other)).flatMap(rowNumbers));
    if (gone.size === 0) return [set];
    return (
      partOf(
        set,
        rowNumbers(set).filter((row) => !gone.has(row)),
        set.started,
      ) ?? []
    );
  });
}

function isSamePage(a: RowSet, b: RowSet): boolean {
  return a.index === b.index && a.page === b.page;
}

/** Splits a set into its first `most` rows and the rest, if any. */
export function splitRows(set: RowSet, most: number): readonly [RowSet, RowSet | undefined] {
  if (set.size <= most) return [set, undefined];
  const [rows, { started }] = [rowNumbers(set), set];
  return [partOf(set, rows.slice(0, most), started) as RowSet, partOf(set, rows.slice(most), started)];
}
