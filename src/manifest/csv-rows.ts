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

/** One column of the header; null for a column without a name, `own` for one that is not read. */
type HeaderCell = (NamedColumn & { readonly written: string }) | 'own' | null;

/**
 * Rows of CSV as spreadsheets save it; the header determines comma, semicolon or tab. Skips rows without any value. A
 * row with invalid quoting ends the reading, because the start of the next row is then unknown.
 * @param text with lines that end in `\n`
 */
export async function* csvRows(text: AsyncIterable<string>): AsyncGenerator<ManifestRow> {
  const { delimiter, rest, skippedLines } = await readDelimiter(text);
  let header: readonly HeaderCell[] | undefined;
  let next = 1 + skippedLines;
  const parsed = parseCells(closedUp(rest, delimiter), delimiter);
  try {
    for await (const cells of parsed) {
      const line = next;
      next += 1 + cells.reduce((sum, cell) => sum + newlinesIn(cell), 0);
      if (cells.every((cell) => cell.trim() === '')) continue;
      if (header === undefined) header = readHeader(cells, line);
      else yield rowOf(cells, header, line);
    }
  } catch (error) {
    throw error instanceof CsvError ? unreadable(error, next) : error;
  }
}

/**
 * Records of csv-parse. Uses its callback instead of its output stream, which would drop the records before an error
 * and with them the line number of the error.
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
    // The output stream is empty; it is read so that the stream finishes.
    parser.resume();
    parser.end();
    await finished(parser).catch(otherwise(undefined));
    yield* take();
    if (failure !== undefined) throw failure.error;
  } finally {
    parser.destroy();
  }
}

/** `sep=;` in the first line: spreadsheets use it to name the separator. */
const SEPARATOR_LINE = /^sep=([,;\t|])\n/i;

/** Determines the delimiter from a `sep=` line, else from the first line that is not empty, outside quotes. */
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
      issues.push({ line, column: column.key, message: `${column.key} is given twice.` });
    seen.add(column.key);
    return { ...column, written: written.trim() };
  });
  if (known === 0)
    throw new ManifestUnreadableError(
      `Line ${line} names no column of a manifest: the first line of CSV names the columns, such as id,model,prompt,duration.`,
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
      const message = `Cell ${index + 1} has a value, and the header names no column for it.`;
      issues.push({ line, column: null, message });
    } else values.set(column.key, { ...column, value });
  });
  return { line, values, issues };
}

/** The error of csv-parse, without text of the manifest. */
function unreadable({ code }: CsvError, line: number): ManifestUnreadableError {
  const row = `row of line ${line}`;
  if (code === 'CSV_QUOTE_NOT_CLOSED')
    return new ManifestUnreadableError(`A quote that opens in the ${row} or after it is not closed.`);
  const fault =
    code === 'CSV_MAX_RECORD_SIZE'
      ? `more than ${MAX_ROW_CHARACTERS} characters, or a quote in it is not closed.`
      : 'a quote in the wrong place: enclose a cell with quotes in quotes, and double those inside.';
  return new ManifestUnreadableError(`The ${row} has ${fault}`);
}

/** Where a character of CSV is: before a cell, in one without or with quotes, behind a quote in it that may be its last. */
type Place = 'before' | 'plain' | 'quoted' | 'quote';

/**
 * CSV without the blanks between a separator and the quotes of a cell, which people write: `a, "b, c"`. The parser
 * would take such a cell for one without quotes. Blanks of cells without quotes are part of their text.
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
