/** One line of docs/contract-rules.md. */
export interface Rule {
  readonly id: string;
  readonly rule: string;
  readonly section: string;
}

/** One test that a run found. `status` is jest's, or `not run` for a title that is only in a source. */
export interface RanTest {
  readonly title: string;
  readonly status: string;
}

export interface RanFiles {
  readonly [file: string]: readonly RanTest[];
}

export interface RuleRow extends Rule {
  readonly tests: readonly (RanTest & { readonly file: string })[];
}

export interface RulesReport {
  readonly rows: readonly RuleRow[];
  /** Rules without a passing test, or with a failing one. */
  readonly gaps: readonly RuleRow[];
  /** Titles that name a rule that does not exist. */
  readonly unknown: readonly { readonly id: string; readonly file: string; readonly title: string }[];
}

export function parseRules(markdown: string): Rule[];
export function idsIn(title: string): string[];
export function makeReport(rules: readonly Rule[], files: RanFiles): RulesReport;
export function mergeResults(
  older: RanFiles,
  ran: RanFiles,
  run: { readonly full: boolean; readonly filtered: boolean },
): RanFiles;
export function problemLines(report: RulesReport): string[];
export function titlesIn(source: string): string[];
export function withNotRun(files: RanFiles, sources: { readonly [file: string]: string }): RanFiles;
export function namesRule(text: string, id: string): boolean;
export function nearIds(wrong: string, ids: readonly string[]): string[];
