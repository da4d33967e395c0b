import { type JsonValue } from '../domain/json';
import { type ManifestIssue } from '../domain/campaign/plan';
import { type NamedColumn } from './columns';

/** Most characters of one row; a larger cell cannot be a prompt. */
export const MAX_ROW_CHARACTERS = 256 * 1024;

export interface ManifestValue extends NamedColumn {
  /** The column name as written in the manifest. */
  readonly written: string;
  /** Text from CSV, any JSON from JSON lines; never empty. */
  readonly value: JsonValue;
}

/** One row of the manifest, not yet validated. */
export interface ManifestRow {
  /** From 1. */
  readonly line: number;
  /** By {@link NamedColumn.key}. */
  readonly values: ReadonlyMap<string, ManifestValue>;
  /** Issues of its form. */
  readonly issues: readonly ManifestIssue[];
}
