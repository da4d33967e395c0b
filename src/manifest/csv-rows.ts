import { finished } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { otherwise } from '../domain/bug';
import { type ManifestIssue } from '../domain/campaign/plan';
import { columnOf, isOwnColumn, type NamedColumn, type ManifestRow, type ManifestValue } from './columns';
import {
  ManifestHeaderError,
  ManifestUnreadableError,
  newlinesIn,
  MAX_ROW_CHARACTERS,
} from './manifest-text';

/** A header column. Null for a column without a name, `own` for an ignored column. */
type HeaderCell = (NamedColumn & { readonly written: string }) | 'own' | null;

/**
 * Reads the rows of a manifest in CSV.
 * @param text CSV with lines that end in `\n`
 */
export async function* csvRows(text: AsyncIterable<string>): AsyncGenerator<ManifestRow> {
  let header: readonly HeaderCell[] | undefined;
  for await (const { line, cells } of csvRecords(text)) {
    if (header === undefined) header = readHeader(cells, line);
    else yield rowOf(cells, header, line);
  }
}

/** A row of CSV, and the number of the line where it starts. */
interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

/**
 * Reads CSV in the format that spreadsheets save. The header determines whether the separator is a comma, a semicolon
 * or a tab. Skips empty rows. Stops at a row with invalid quoting, because the start of the next row is then unknown.
 * @param text CSV with lines that end in `\n`
 */
export async function* csvRecords(text: AsyncIterable<string>): AsyncGenerator<CsvRecord> {
  const { delimiter, rest, skippedLines } = await readDelimiter(text);
  let next = 1 + skippedLines;
  const parsed = parseCells(closedUp(rest, delimiter), delimiter);
  try {
    for await (const cells of parsed) {
      const line = next;
      next += 1 + cells.reduce((sum, cell) => sum + newlinesIn(cell), 0);
      if (!cells.every((cell) => cell.trim() === '')) yield { line, cells };
    }
  } catch (error) {
    throw error instanceof CsvError ? unreadable(error, next) : error;
  }
}

/**
 * Yields csv-parse records. Uses the parser's callback, because the output stream would drop the records that precede
 * an error, and the error's line number would be lost with them.
 */
async function* parseCells(text: AsyncIterable<string>, delimiter: string): AsyncGenerator<string[]> {
  let records: string[][] = [];
  const parser = parse({
    delimiter,
    relax_column_count: true,
    max_record_size: MAX_ROW_CHARACTERS,
    on_record: (record: string[]) => {
      records.push(record);
      return null;
    },
  });
  let failure: { readonly error: Error } | undefined;
  parser.on('error', (error) => {
    failure = { error };
  });
  const take = (): string[][] => {
    const taken = records;
    records = [];
    return taken;
  };
  try {
    for await (const piece of text) {
      await new Promise<void>((resolve) => parser.write(piece, () => resolve()));
      yield* take();
      if (failure !== undefined) throw failure.error;
    }
    // The output stream is empty, but must be read so that it finishes.
    parser.resume();
    parser.end();
    await finished(parser).catch(otherwise(undefined));
    yield* take();
    if (failure !== undefined) throw failure.error;
  } finally {
    parser.destroy();
  }
}

/** A first line such as `sep=;`, in which spreadsheets name the separator. */
const SEPARATOR_LINE = /^sep=([,;\t|])\n/i;

/** Determines the delimiter from a `sep=` line, or else from the unquoted part of the first non-empty line. */
async function readDelimiter(text: AsyncIterable<string>): Promise<{
  readonly delimiter: string;
  readonly rest: AsyncIterable<string>;
  readonly skippedLines: number;
}> {
  const pieces = text[Symbol.asyncIterator]();
  let begin = '';
  for (
    let ended = false;
    !ended && begin.length <= MAX_ROW_CHARACTERS && !begin.trimStart().includes('\n');
  ) {
    const next = await pieces.next();
    ended = next.done === true;
    if (next.done !== true) begin += next.value;
  }
  const named = SEPARATOR_LINE.exec(begin);
  if (named !== null) begin = begin.slice(named[0].length);
  const header = (/\S[^\n]*/.exec(begin)?.[0] ?? '').replace(/"[^"]*"/g, '');
  const counts = [',', ';', '\t'].map((mark) => ({ mark, count: header.split(mark).length }));
  const delimiter = named?.[1] ?? counts.reduce((best, one) => (one.count > best.count ? one : best)).mark;
  const rest = async function* () {
    yield begin;
    yield* { [Symbol.asyncIterator]: () => pieces };
  };
  return { delimiter, rest: rest(), skippedLines: named === null ? 0 : 1 };
}

function readHeader(cells: readonly string[], line: number): readonly HeaderCell[] {
  const issues: ManifestIssue[] = [];
  const seen = new Set<string>();
  let known = 0;
  const header = cells.map((written, index): HeaderCell => {
    if (written.trim() === '') return null;
    if (isOwnColumn(written)) return 'own';
    const column = columnOf(written, 'csv', line, index + 1);
    if ('message' in column) {
      issues.push(column);
      return null;
    }
    known += 1;
    if (seen.has(column.key))
      issues.push({ line, column: column.key, message: `Column ${column.key} occurs twice.` });
    seen.add(column.key);
    return { ...column, written: written.trim() };
  });
  if (known === 0)
    throw new ManifestUnreadableError(
      `Line ${line} does not contain any known column. The first CSV line must name the columns, such as id,model,prompt,duration.`,
    );
  if (issues.length > 0) throw new ManifestHeaderError(issues);
  return header;
}

function rowOf(cells: readonly string[], header: readonly HeaderCell[], line: number): ManifestRow {
  const values = new Map<string, ManifestValue>();
  const issues: ManifestIssue[] = [];
  cells.forEach((value, index) => {
    if (value.trim() === '') return;
    const column = header[index];
    if (column === 'own') return;
    if (column === undefined || column === null) {
      const message = `Cell ${index + 1} has a value, but the header has no column name for it.`;
      issues.push({ line, column: null, message });
    } else values.set(column.key, { ...column, value });
  });
  return { line, values, issues };
}

/** Converts a csv-parse error to an error that contains no text from the manifest. */
function unreadable({ code }: CsvError, line: number): ManifestUnreadableError {
  const row = `row at line ${line}`;
  if (code === 'CSV_QUOTE_NOT_CLOSED')
    return new ManifestUnreadableError(`A quote that opens in or after the ${row} is not closed.`);
  const fault =
    code === 'CSV_MAX_RECORD_SIZE'
      ? `more than ${MAX_ROW_CHARACTERS} characters. A quote in it might not be closed.`
      : 'a misplaced quote. Enclose a cell that contains quotes in quotes, and double the quotes inside.';
  return new ManifestUnreadableError(`The ${row} has ${fault}`);
}

/** A position in CSV: before a cell, in an unquoted or quoted cell, or after a quote that may close the cell. */
type Place = 'before' | 'plain' | 'quoted' | 'quote';

/**
 * Removes spaces between a separator and a cell's quotes, as in `a, "b, c"`, because the parser would treat such a cell
 * as unquoted. Spaces in unquoted cells are part of their text.
 */
async function* closedUp(text: AsyncIterable<string>, delimiter: string): AsyncGenerator<string> {
  let place: Place = 'before';
  let blanks = '';
  for await (const piece of text) {
    let kept = '';
    for (const sign of piece) {
      const isEnd = sign === delimiter || sign === '\n';
      if (place === 'quoted') {
        if (sign === '"') place = 'quote';
        kept += sign;
      } else if (!isEnd && (sign === ' ' || sign === '\t') && place !== 'plain') blanks += sign;
      else if (sign === '"' && (place === 'before' || blanks === '') && place !== 'plain') {
        place = 'quoted';
        [kept, blanks] = [kept + sign, ''];
      } else {
        kept += place === 'quote' && isEnd ? sign : blanks + sign;
        blanks = '';
        place = isEnd ? 'before' : 'plain';
      }
    }
    yield kept;
  }
  if (place !== 'quote') yield blanks;
}
