import { type ManifestIssue } from '../domain/campaign/plan';
import { MAX_ROW_ID_LENGTH } from '../domain/campaign/row';
import { type JsonValue, parseWrittenJson, RepeatedNameError } from '../domain/json';
import { type ManifestRow, type ManifestValue, severalOf } from './columns';

const MOST_ISSUES = 20;
const MOST_ALLOWED = 30;
const LONGEST_ALLOWED = 80;
/** The maximum length of a value other than a prompt, in characters. */
export const LONGEST_WORD = MAX_ROW_ID_LENGTH;

/** A whole number as spreadsheets and JSON write it: 4 or 4.0. */
const WHOLE = /^\s*\d{1,9}(?:\.0*)?\s*$/;

/** Reads typed values from a row and collects issues. Messages never include a value from the row. */
export class RowValues {
  readonly issues: ManifestIssue[];

  constructor(private readonly row: ManifestRow) {
    this.issues = [...row.issues];
  }

  get(key: string): ManifestValue | undefined {
    return this.row.values.get(key);
  }

  all(): IterableIterator<ManifestValue> {
    return this.row.values.values();
  }

  /** Returns the column name as written in the manifest, or the key. */
  nameOf(key: string): string {
    return this.row.values.get(key)?.written ?? key;
  }

  issue(key: string | null, message: string, allowed?: readonly string[]): void {
    if (this.issues.length >= MOST_ISSUES) return;
    this.issues.push({
      line: this.row.line,
      column: key === null ? null : this.nameOf(key),
      message,
      ...(allowed !== undefined && {
        allowed: allowed.slice(0, MOST_ALLOWED).map((value) => value.slice(0, LONGEST_ALLOWED)),
      }),
    });
  }

  /** Returns short, trimmed text. Longer text is refused, because the value is stored in histories. */
  text(key: string): string | undefined {
    const text = this.exactText(key)?.trim();
    if (text === undefined || text.length <= LONGEST_WORD) return text;
    this.issue(key, `The value can be at most ${LONGEST_WORD} characters long.`);
    return undefined;
  }

  /** Returns untrimmed text, because model IDs and prompts are sent exactly as written. */
  exactText(key: string): string | undefined {
    const found = this.get(key);
    if (found === undefined) return undefined;
    if (typeof found.value === 'string') return found.value;
    this.issue(key, 'The value must be a string.');
    return undefined;
  }

  whole(key: string): number | undefined {
    const found = this.get(key);
    if (found === undefined) return undefined;
    const { value } = found;
    const number = typeof value === 'string' && WHOLE.test(value) ? Number(value) : value;
    if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 1) return number;
    this.issue(key, 'The value must be a whole number of at least 1.');
    return undefined;
  }

  several(key: string): readonly JsonValue[] {
    const found = this.get(key);
    return found === undefined ? [] : severalOf(found.value);
  }
}

/**
 * Reads the value of a `field:*` cell: the JSON value of the text, or else the text itself. Undefined for invalid JSON
 * and for JSON with a repeated name.
 */
export function jsonOrText(value: JsonValue): JsonValue | undefined {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  try {
    return parseWrittenJson(text);
  } catch (error) {
    if (error instanceof RepeatedNameError) return undefined;
    return /^(\{.*\}|\[.*\]|".*")$/s.test(text) ? undefined : text;
  }
}
