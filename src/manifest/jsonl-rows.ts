import { type ManifestIssue } from '../domain/campaign/plan';
import { type JsonValue } from '../domain/json';
import { columnOf } from './columns';
import { type ManifestRow, type ManifestValue, MAX_ROW_CHARACTERS } from './manifest-row';
import { linesOf } from './text-lines';

/** Rows of JSON lines: one object in each line; empty lines are skipped. */
export async function* jsonlRows(text: AsyncIterable<string>): AsyncGenerator<ManifestRow> {
  for await (const { line, content } of linesOf(text)) {
    if (content === null) {
      const message = `The line has more than ${MAX_ROW_CHARACTERS} characters.`;
      yield { line, values: new Map(), issues: [{ line, column: null, message }] };
    } else if (content.trim() !== '') yield rowOf(line, content);
  }
}

function rowOf(line: number, content: string): ManifestRow {
  const values = new Map<string, ManifestValue>();
  const issues: ManifestIssue[] = [];
  let object: unknown;
  try {
    object = JSON.parse(content);
  } catch {
    object = undefined;
  }
  if (typeof object !== 'object' || object === null || Array.isArray(object)) {
    const message =
      'The line is not a JSON object. Each line is one object, and no object spans several lines.';
    return { line, values, issues: [{ line, column: null, message }] };
  }
  for (const [written, value] of Object.entries(object as { [name: string]: JsonValue })) {
    const column = columnOf(written, 'jsonl', line);
    if ('message' in column) issues.push(column);
    else if (values.has(column.key)) {
      issues.push({ line, column: column.key, message: `${column.key} is given twice.` });
    } else if (value !== null && value !== '') values.set(column.key, { ...column, written, value });
  }
  return { line, values, issues };
}
