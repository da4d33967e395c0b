import { stringify } from 'csv-stringify/sync';
import { type JsonValue } from 'temporal-media';
import { formatMoney, labelTexts } from 'temporal-media/internal/domain/money';
import { inOrder, readPage, type ResultRecord, resultRecord } from './page-rows';
import { type ReportFolder } from './report-folder';
import { type ReportFacts } from './report-options';
import { type GroupMoney } from './report-state';

type Cell = string | number | null | undefined;

/** Columns of `results.csv` in order. Money is in currency units, with all decimals. */
const COLUMNS: { readonly [column: string]: (row: ResultRecord) => Cell } = {
  key: ({ key }) => key,
  line: ({ line }) => line,
  outcome: ({ outcome }) => outcome,
  reason: ({ reason }) => reason,
  error_kind: ({ errorKind }) => errorKind,
  http_status: ({ httpStatus }) => httpStatus,
  operation: ({ operation }) => operation,
  model: ({ model }) => model,
  account: ({ account }) => account,
  labels: ({ labels }) => labelTexts(labels).join(' | '),
  requested_duration_seconds: ({ requested }) => requested.durationSeconds,
  requested_resolution: ({ requested }) => requested.resolution,
  requested_reference_mode: ({ requested }) => requested.referenceMode,
  reported_model: ({ reported }) => reported?.model,
  reported_duration_seconds: ({ reported }) => reported?.durationSeconds,
  reported_resolution: ({ reported }) => reported?.resolution,
  reported_fps: ({ reported }) => reported?.fps,
  task_id: ({ taskId }) => taskId,
  files: ({ files }) => files.map(({ path }) => path ?? '').join(' '),
  sha256: ({ files }) => files.map(({ sha256 }) => sha256).join(' '),
  bytes: ({ files }) => (files.length === 0 ? null : files.reduce((sum, { bytes }) => sum + bytes, 0)),
  media_type: ({ files }) => [...new Set(files.map(({ mediaType }) => mediaType))].join(' '),
  started_at: ({ startedAt }) => startedAt,
  created_at: ({ createdAt }) => createdAt,
  finished_at: ({ finishedAt }) => finishedAt,
  polls: ({ polls }) => polls,
  usage: ({ usage }) => usageText(usage),
  currency: ({ money }) => money.currency,
  estimate: ({ money }) => decimal(money.estimate),
  actual: ({ money }) => (money.billed === 0 ? null : decimal(money.actual)),
  money_settled: ({ money }) => decimal(money.settled),
  money_estimated: ({ money }) => decimal(money.estimated),
  money_reserved: ({ money }) => decimal(money.reserved),
  money_needs_review: ({ money }) => decimal(money.needsReview),
  attempts_of_unknown_price: ({ money }) => money.unknown,
  attempt: ({ attempt }) => attempt,
  attempts: ({ attempts }) => attempts,
  generation: ({ generation }) => generation,
  warnings: ({ warnings }) => warnings.join(' | '),
};

export const CSV_HEADER: readonly string[] = Object.keys(COLUMNS);

/** Returns a row's cells in the order of {@link CSV_HEADER}. Text is escaped so that it cannot be a formula. */
export function csvCells(row: ResultRecord): string[] {
  return Object.values(COLUMNS).map((cell) => {
    const value = cell(row);
    if (value === null || value === undefined) return '';
    return typeof value === 'number' ? String(value) : csvCell(value);
  });
}

function usageText(usage: JsonValue | undefined): string | null {
  return usage === undefined ? null : JSON.stringify(usage);
}

const decimal = (microUnits: number): string => formatMoney({ microUnits, currency: null });

/**
 * Escapes a cell so that no spreadsheet evaluates it as a formula. Spreadsheets evaluate cells that begin with `=`,
 * `+`, `-`, `@` (also in their full-width forms), a tab or a line break. Spreadsheets that split at `;` or tabs instead
 * of commas also evaluate the text after a separator. A leading apostrophe marks text. Numbers are written without one.
 */
export function csvCell(value: string): string {
  const inside = value.replace(SEPARATOR, (run, at: number) =>
    FORMULA.test(value.charAt(at + run.length)) ? `${run}'` : run,
  );
  return FORMULA.test(inside) ? `'${inside}` : inside;
}

const FORMULA = /^[\s"']*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;
const SEPARATOR = /[;|\t\r\n]["'\s]*/g;

/** A report's tables, each with its header and its format for a page's rows. */
const TABLES: { readonly [name: string]: Table } = {
  'results.jsonl': {
    head: '',
    rows: (records) => records.map((record) => `${JSON.stringify(record)}\n`).join(''),
  },
  'results.csv': {
    head: stringify([CSV_HEADER]),
    rows: (records) => stringify(records.map(csvCells)),
  },
};

interface Table {
  readonly head: string;
  readonly rows: (records: readonly ResultRecord[]) => string;
}

interface TablesOptions {
  readonly folder: ReportFolder;
  /** All pages, in order. */
  readonly pages: readonly number[];
  readonly currency: string | null;
}

/** Writes whole tables, page by page in manifest order. A file is complete or absent. */
export async function writeTables({ folder, pages, currency }: TablesOptions): Promise<void> {
  for (const [name, { head, rows }] of Object.entries(TABLES))
    await folder.stream(
      name,
      (async function* () {
        yield head;
        for (const page of pages)
          yield rows(inOrder(await readPage(folder, page)).map((row) => resultRecord(row, currency)));
      })(),
    );
}

/** Whether all tables are in the folder. */
export async function hasTables(folder: ReportFolder): Promise<boolean> {
  const names = await folder.list('.');
  return Object.keys(TABLES).every((name) => names.includes(name));
}

const moneyBy = (by: GroupMoney['by'], groups: readonly GroupMoney[]) =>
  groups.flatMap(({ by: own, group, ...money }) => (own === by ? [{ [by]: group, ...money }] : []));

/**
 * Returns the content of `summary.json`: the campaign's totals, for programs. Money is in micro-units of its currency.
 */
export function summaryJson(
  generation: number,
  facts: ReportFacts,
  files: { readonly rows: number; readonly missing: number },
  groups: readonly GroupMoney[],
): string {
  const { campaign, state, asOf, startedAt, finishedAt, counts, remaining, notes, plan } = facts;
  const summary = {
    v: 1,
    campaign,
    state,
    asOf,
    startedAt,
    finishedAt,
    generation,
    /** Rows in the tables; the campaign may have counted more. */
    rows: files.rows,
    counts,
    remaining,
    money: { currency: facts.currency, ...facts.money },
    moneyByDay: moneyBy('day', groups),
    moneyByLabel: moneyBy('label', groups),
    budget: facts.budget,
    plan:
      plan === null
        ? null
        : {
            generation: plan.generation,
            manifest: plan.manifest,
            rows: plan.rows,
            planned: plan.planned,
            done: plan.done,
            left: plan.left,
            invalid: plan.invalid,
            changed: plan.changed.rows,
            currency: plan.currency,
            estimate: plan.estimate,
            unpriced: plan.unpriced,
            models: plan.models,
            refused: plan.refused ?? null,
          },
    issues: plan?.invalid ?? 0,
    filesMissing: files.missing,
    notes,
    files: { gallery: 'index.html', jsonl: 'results.jsonl', csv: 'results.csv', media: 'media/' },
  };
  return `${JSON.stringify(summary, null, 2)}\n`;
}
