import { type JsonValue } from '../domain/json';
import { csvCell } from './csv-cell';
import { type ResultRecord } from './result-record';

type Cell = string | number | null | undefined;

/** Columns of `results.csv` in their order. Money is in units of the currency, with all its decimals. */
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
  money_settled: ({ money }) => decimal(money.settled),
  money_reserved: ({ money }) => decimal(money.reserved),
  money_needs_review: ({ money }) => decimal(money.needsReview),
  attempts_of_unknown_price: ({ money }) => money.unknown,
  attempt: ({ attempt }) => attempt,
  attempts: ({ attempts }) => attempts,
  generation: ({ generation }) => generation,
  warnings: ({ warnings }) => warnings.join(' | '),
};

export const CSV_HEADER: readonly string[] = Object.keys(COLUMNS);

/** Cells of a row in the order of {@link CSV_HEADER}; texts cannot be formulas. */
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

/** Micro-units as a decimal number: exact, where a division is not. */
function decimal(microUnits: number): string {
  const digits = String(Math.abs(microUnits)).padStart(7, '0');
  const decimals = digits.slice(-6).replace(/0{1,4}$/, '');
  return `${microUnits < 0 ? '-' : ''}${digits.slice(0, -6)}.${decimals}`;
}
