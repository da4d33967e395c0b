import { throwBug } from '../domain/bug';
import { type ManifestIssue } from '../domain/campaign/plan';
import { type JsonValue, repeatedNames } from '../domain/json';
import { columnOf, isOwnColumn, type ManifestRow, type ManifestValue } from './columns';
import { csvRows } from './csv-rows';
import {
  joined,
  type Line,
  linesOf,
  manifestText,
  ManifestUnreadableError,
  MAX_ROW_CHARACTERS,
} from './manifest-text';

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
async function* jsonRows(texts: AsyncIterable<Line>): AsyncGenerator<ManifestRow> {
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

/**
 * The elements of one JSON list as text, each with the line that it begins in. They are not parsed, so that a broken
 * element costs its row only.
 * @throws ManifestUnreadableError when the list does not end, or text follows it
 */
async function* elementsOf(text: AsyncIterable<string>): AsyncGenerator<Line> {
  const list = new ListReader();
  for await (const piece of text) yield* list.take(piece);
  list.end();
}

class ListReader {
  #line = 1;
  /** Open brackets and braces: 0 before the list, 1 between its elements. */
  #depth = 0;
  #hasEnded = false;
  #isText = false;
  #isEscaped = false;
  /** The element so far; null when it is too long. */
  #content: string | null = '';
  /** Line of its first sign; 0 before it. */
  #startsAt = 0;

  *take(piece: string): Generator<Line> {
    let from = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const sign = piece[at] as string;
      if (sign === '\n') this.#line += 1;
      if (this.#isText) this.#readText(sign);
      else if (this.#depth === 1 && (sign === ',' || sign === ']')) {
        this.#content = joined(this.#content, piece.slice(from, at));
        from = at + 1;
        yield* this.#element(sign);
      } else if (this.#depth > 0) this.#readSign(sign);
      else if (sign === '[' && !this.#hasEnded) {
        this.#depth = 1;
        from = at + 1;
      } else if (sign.trim() !== '')
        throw new ManifestUnreadableError(`Line ${this.#line} has text behind the end of the JSON list.`);
    }
    if (this.#depth > 0) this.#content = joined(this.#content, piece.slice(from));
  }

  end(): void {
    if (this.#hasEnded) return;
    const line = this.#startsAt || this.#line;
    throw new ManifestUnreadableError(
      `The JSON list does not end: a bracket, a brace or a quote that opens in line ${line} is not closed.`,
    );
  }

  #readText(sign: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (sign === '\\') this.#isEscaped = true;
    else if (sign === '"') this.#isText = false;
  }

  #readSign(sign: string): void {
    if (this.#startsAt === 0 && sign.trim() !== '') this.#startsAt = this.#line;
    if (sign === '"') this.#isText = true;
    else if (sign === '[' || sign === '{') this.#depth += 1;
    else if ((sign === ']' || sign === '}') && this.#depth > 1) this.#depth -= 1;
  }

  /** The element before a comma or the end of the list. A comma before the end adds no element. */
  *#element(sign: string): Generator<Line> {
    const content = this.#content;
    if (sign === ',' || content === null || content.trim() !== '')
      yield { line: this.#startsAt || this.#line, content };
    [this.#content, this.#startsAt] = ['', 0];
    if (sign === ']') [this.#depth, this.#hasEnded] = [0, true];
  }
}
