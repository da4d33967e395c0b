import { type JsonValue } from '../domain/json';
import { type ManifestIssue } from '../domain/campaign/plan';
import { type NamedColumn } from './columns';

/** Characters of one row: a cell that is larger holds no prompt. */
export const MAX_ROW_CHARACTERS = 256 * 1024;

export interface ManifestValue extends NamedColumn {
  /** As the manifest names it. */
  readonly written: string;
  /** A text out of CSV, any JSON out of JSON lines; never empty. */
  readonly value: JsonValue;
}

/** One row as it stands in the manifest, not validated yet. */
export interface ManifestRow {
  /** From 1. */
  readonly line: number;
  /** By {@link NamedColumn.key}. */
  readonly values: ReadonlyMap<string, ManifestValue>;
  /** What is wrong with its form. */
  readonly issues: readonly ManifestIssue[];
}

export function unknownColumnMessage(near: readonly string[]): string {
  return near.length === 1 ? `There is no such column; perhaps ${near[0]}.` : 'There is no such column.';
}
