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

/** The maximum leading white space in a manifest, in characters. */
const MOST_BLANKS = 1024 * 1024;

/**
 * Reads the rows of a manifest of any size, one at a time. The first character shows whether it is CSV, JSON Lines or a
 * JSON list. `format` overrides the choice between CSV and JSON.
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
      // Leading white space is kept for the line numbers, so its length is limited.
      begin += next.value;
      if (begin.length > MOST_BLANKS)
        throw new ManifestUnreadableError('The manifest starts with too much white space.');
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

/** Reads JSON rows: one object per text, which is a line or a list element. Skips empty lines. */
async function* jsonRows(texts: AsyncIterable<Line>): AsyncGenerator<ManifestRow> {
  for await (const { line, content } of texts) {
    if (content === null)
      yield invalid(line, `The row is longer than the allowed ${MAX_ROW_CHARACTERS} characters.`);
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
      'This is not a JSON object. In JSON Lines, each line must be one complete object. In a JSON list, each element must be an object.',
    );
  const values = new Map<string, ManifestValue>();
  const issues: ManifestIssue[] = [];
  for (const [written, value] of Object.entries(object as { [name: string]: JsonValue })) {
    if (isOwnColumn(written)) continue;
    const column = columnOf(written, 'jsonl', line);
    if ('message' in column) issues.push(column);
    else if (values.has(column.key)) {
      issues.push({ line, column: column.key, message: `Field ${column.key} occurs twice.` });
    } else if (value !== null && value !== '') values.set(column.key, { ...column, written, value });
  }
  return { line, values, issues: [...issues, ...repeated(line, content)] };
}

/** Reports repeated names: `JSON.parse` keeps only the last value, although another one might be intended. */
function repeated(line: number, content: string): ManifestIssue[] {
  return [...repeatedNames(content)]
    .filter(([written = '']) => !isOwnColumn(written))
    .map((path) => {
      const named = columnOf(path[0] ?? '', 'jsonl', line);
      const what = path.length === 1 ? 'This name' : 'A name inside this value';
      const message = `${what} occurs twice, and only one of its values would be used.`;
      return { line, column: 'message' in named ? named.column : named.key, message };
    });
}

/**
 * Yields the elements of a JSON list as text, each with the line where it starts. Does not parse them, so a broken
 * element affects only its own row.
 * @throws ManifestUnreadableError if the list does not end, or if text follows it
 */
async function* elementsOf(text: AsyncIterable<string>): AsyncGenerator<Line> {
  const list = new ListReader();
  for await (const piece of text) yield* list.take(piece);
  list.end();
}

class ListReader {
  #line = 1;
  /** Number of open brackets and braces: 0 before the list, 1 between its elements. */
  #depth = 0;
  #hasEnded = false;
  #isText = false;
  #isEscaped = false;
  /** The element so far; null if it is too long. */
  #content: string | null = '';
  /** The line of its first character; 0 before that. */
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
        throw new ManifestUnreadableError(`Line ${this.#line} has text after the end of the JSON list.`);
    }
    if (this.#depth > 0) this.#content = joined(this.#content, piece.slice(from));
  }

  end(): void {
    if (this.#hasEnded) return;
    const line = this.#startsAt || this.#line;
    throw new ManifestUnreadableError(
      `The JSON list does not end: a bracket, brace or quote that opens on line ${line} is not closed.`,
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

  /** Yields the element before a comma or the end of the list. A trailing comma does not add an element. */
  *#element(sign: string): Generator<Line> {
    const content = this.#content;
    if (sign === ',' || content === null || content.trim() !== '')
      yield { line: this.#startsAt || this.#line, content };
    [this.#content, this.#startsAt] = ['', 0];
    if (sign === ']') [this.#depth, this.#hasEnded] = [0, true];
  }
}
