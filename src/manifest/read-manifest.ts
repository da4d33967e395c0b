import { throwBug } from '../domain/bug';
import { type ManifestIssue } from '../domain/campaign/plan';
import { type JsonValue, repeatedNames } from '../domain/json';
import { columnOf, isOwnColumn } from './columns';
import { csvRows } from './csv-rows';
import { elementsOf } from './json-list';
import { ManifestUnreadableError } from './manifest-errors';
import { type ManifestRow, type ManifestValue, MAX_ROW_CHARACTERS } from './manifest-row';
import { manifestText } from './manifest-text';
import { linesOf, type Line } from './text-lines';

/** Most leading blanks of a manifest, in characters. */
const MOST_BLANKS = 1024 * 1024;

/**
 * Rows of a manifest of any size, one at a time: CSV, JSON lines or a JSON list, detected from the first character.
 * A format that is given decides between CSV and JSON.
 * @throws ManifestUnreadableError, ManifestHeaderError
 */
export async function* readManifest(
  bytes: AsyncIterable<Uint8Array>,
  format?: 'csv' | 'jsonl',
): AsyncGenerator<ManifestRow> {
  const text = manifestText(bytes);
  try {
    let begin = '';
    while (begin.trim() === '') {
      const next = await text.next();
      if (next.done === true) break;
      // Leading blanks are kept for the line numbers, so their length is limited.
      begin += next.value;
      if (begin.length > MOST_BLANKS)
        throw new ManifestUnreadableError('The manifest begins with blanks only.');
    }
    const rest = async function* () {
      yield begin;
      yield* text;
    };
    const first = begin.trim()[0] ?? '';
    if ((format ?? ('{['.includes(first) ? 'jsonl' : 'csv')) === 'csv') yield* csvRows(rest());
    else yield* jsonRows(first === '[' ? elementsOf(rest()) : linesOf(rest()));
  } finally {
    // Closes the file or connection when the consumer stops early.
    await text.return(undefined);
  }
}

/** Rows of JSON: one object in each text, which is a line or an element of a list. Empty lines are skipped. */
export async function* jsonRows(texts: AsyncIterable<Line>): AsyncGenerator<ManifestRow> {
  for await (const { line, content } of texts) {
    if (content === null) yield invalid(line, `The row has more than ${MAX_ROW_CHARACTERS} characters.`);
    else if (content.trim() !== '') yield rowOf(line, content);
  }
}

const invalid = (line: number, message: string, column: string | null = null): ManifestRow => ({
  line,
  values: new Map(),
  issues: [{ line, column, message }],
});

function rowOf(line: number, content: string): ManifestRow {
  let object: unknown;
  try {
    object = JSON.parse(content);
  } catch (error) {
    throwBug(error);
    object = undefined;
  }
  if (typeof object !== 'object' || object === null || Array.isArray(object))
    return invalid(
      line,
      'This is not a JSON object. In JSON lines each line is one object, and no object spans lines; in a JSON list each element is one.',
    );
  const values = new Map<string, ManifestValue>();
  const issues: ManifestIssue[] = [];
  for (const [written, value] of Object.entries(object as { [name: string]: JsonValue })) {
    if (isOwnColumn(written)) continue;
    const column = columnOf(written, 'jsonl', line);
    if ('message' in column) issues.push(column);
    else if (values.has(column.key)) {
      issues.push({ line, column: column.key, message: `${column.key} is given twice.` });
    } else if (value !== null && value !== '') values.set(column.key, { ...column, written, value });
  }
  return { line, values, issues: [...issues, ...repeated(line, content)] };
}

/** Names that are given twice: `JSON.parse` takes the last value, and the other one may be what was meant. */
function repeated(line: number, content: string): ManifestIssue[] {
  return [...repeatedNames(content)]
    .filter(([written = '']) => !isOwnColumn(written))
    .map((path) => {
      const named = columnOf(path[0] ?? '', 'jsonl', line);
      const what = path.length === 1 ? 'This name' : 'A name inside this value';
      const message = `${what} is given twice, and only one of its values would be used.`;
      return { line, column: 'message' in named ? named.column : named.key, message };
    });
}
