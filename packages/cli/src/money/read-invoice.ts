import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { csvRecords } from 'temporal-media/internal/manifest/csv-rows';
import { manifestText, ManifestUnreadableError } from 'temporal-media/internal/manifest/manifest-text';
import { phaseOf, statusValue } from 'temporal-media/internal/service/video-record';
import { systemCode } from 'temporal-media/internal/stores/files/system-errors';
import { CliError } from '../shared/errors';
import { currenciesOf, type DecimalMark, type InvoiceAmount, readInvoiceAmount } from './check-amounts';
import { type Columns, type ColumnNames, columnsIn } from './check-columns';

/** How a file is read. */
export interface InvoiceFormat {
  /** Columns that the user named. */
  readonly columns: ColumnNames;
  readonly decimal?: DecimalMark;
  /** ISO 4217 code of every amount. */
  readonly currency?: string;
  /** What all lines must add up to. */
  readonly total?: Pick<InvoiceAmount, 'microUnits' | 'unit'>;
  /** Called after every {@link LINES_PER_REPORT} lines. */
  readonly progress: (lines: number) => void;
}

export const LINES_PER_REPORT = 100_000;

/** What an invoice says about one call: the lines with the same task id, or else with the same key. */
export interface BilledCall {
  /** The first line. */
  readonly line: number;
  taskId: string | null;
  /** The idempotency key or request id. */
  readonly key: string | null;
  readonly model: string | null;
  /** Start of the first line's time, in milliseconds since the Unix epoch. */
  readonly at: number | null;
  lines: number;
  /** Lines with a positive amount. */
  charges: number;
  /** Micro-units of all lines. */
  sum: number;
  /** The largest charge. */
  largest: number;
  /** Whether the invoice itself says that a charged call failed. */
  hasFailed: boolean;
  /** Calls of this namespace and account that the lines are about. If there is more than one, the lines are unclear. */
  owners: number;
  /** Where else in the journal the call is known. */
  elsewhere: string | null;
}

/** A line that names no call. */
export type LooseLine = Pick<BilledCall, 'line' | 'model' | 'at' | 'sum'>;

/**
 * An invoice in memory: one small object for each call, not for each line. 1,000,000 calls take 234 MiB of heap
 * (bench/figures/money.js).
 */
export interface Invoice {
  readonly byTask: ReadonlyMap<string, BilledCall>;
  /** By idempotency key or request id. A call with a task id is in both maps. */
  readonly byKey: ReadonlyMap<string, BilledCall>;
  readonly loose: readonly LooseLine[];
  /** Line of the last row's total, which is not part of `sum`. */
  readonly totalLine: number | null;
  readonly lines: number;
  readonly currency: string;
  readonly sum: number;
  /** Times of the first and last line, including the last one; null without times. */
  readonly period: { readonly since: number; readonly until: number } | null;
  readonly columns: ColumnNames;
  /** First 16 hexadecimal digits of the file's SHA-256. */
  readonly digest: string;
  /** Whether the last line ends with a line break. Without one, the file may have been cut off inside an amount. */
  readonly endsWithBreak: boolean;
  /** Amounts with more than six decimals. */
  readonly rounded: number;
}

/** Reads an invoice of any length. Never guesses: the first line that is not certain ends the read. @throws CliError */
export async function readInvoice(file: string, format: InvoiceFormat): Promise<Invoice> {
  const hash = createHash('sha256');
  let lastSign = '\n';
  const bytes = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      yield chunk;
    }
  };
  const text = async function* (): AsyncGenerator<string> {
    for await (const piece of manifestText(bytes(), 'invoice')) {
      lastSign = piece.at(-1) ?? lastSign;
      yield piece;
    }
  };
  const reader = new InvoiceReader(format);
  try {
    for await (const { line, cells } of csvRecords(text())) reader.read(line, cells);
  } catch (error) {
    throw unreadable(error);
  }
  return { ...reader.end(), digest: hash.digest('hex').slice(0, 16), endsWithBreak: lastSign === '\n' };
}

function unreadable(error: unknown): unknown {
  if (error instanceof ManifestUnreadableError) return invoiceError(error.message);
  const code = systemCode(error);
  return /^E[A-Z]+$/.test(code) ? invoiceError(`The file cannot be read (${code}).`) : error;
}

/** An invoice that cannot be used. */
export function invoiceError(message: string): CliError {
  return new CliError('bad_input', `The invoice: ${message}`, {
    hint: 'Nothing was written. `temporal-media money check --help` explains the options and shows examples.',
  });
}

/** Longest cell of an id or an amount, in characters. */
const LONGEST_CELL = 512;
const DAY_MS = 86_400_000;

class InvoiceReader {
  private columns: Columns | undefined;
  private width = 0;
  private readonly byTask = new Map<string, BilledCall>();
  private readonly byKey = new Map<string, BilledCall>();
  private readonly loose: LooseLine[] = [];
  /** One string for each model, because a line's own would be kept as often as there are lines. */
  private readonly models = new Map<string, string>();
  private currency: { readonly code: string; readonly line: number } | undefined;
  private mark: { readonly mark: DecimalMark; readonly line: number } | undefined;
  private first = Infinity;
  private last = -Infinity;
  private lines = 0;
  private sum = 0;
  private rounded = 0;
  private lastMayBeTotal = false;

  constructor(private readonly format: InvoiceFormat) {}

  read(line: number, cells: readonly string[]): void {
    if (this.columns === undefined) {
      this.columns = columnsIn(cells, this.format.columns, invoiceError);
      this.width = cells.length;
      return;
    }
    if (cells.length !== this.width)
      throw invoiceError(
        `Line ${line} has ${cells.length} fields, but the header has ${this.width}. The file may be cut off, or the line may need quotes.`,
      );
    const cell = (name: keyof ColumnNames): string => cells[this.columns?.[name] ?? -1]?.trim() ?? '';
    const amount = this.amountIn(line, cell('amount'));
    this.checkCurrency(line, cell('currency'), amount.unit);
    const [taskId, key] = [idIn(line, 'task', cell('task')), idIn(line, 'key', cell('key'))];
    const isLoose = taskId === null && key === null;
    const facts = { line, model: this.modelOf(cell('model')), at: this.timeIn(line, cell('time'), isLoose) };
    this.lines += 1;
    this.sum = safeSum(line, this.sum, amount.microUnits);
    const isEmpty =
      facts.model === null && facts.at === null && (this.columns.model ?? this.columns.time) !== undefined;
    this.lastMayBeTotal = isLoose && (isEmpty || cells.some((text) => TOTAL.test(text.trim())));
    if (isLoose) this.loose.push({ ...facts, sum: amount.microUnits });
    else
      this.add(
        { ...facts, taskId, key },
        amount.microUnits,
        phaseOf(statusValue(cell('status'))) === 'failed',
      );
    if (this.lines % LINES_PER_REPORT === 0) this.format.progress(this.lines);
  }

  private add(
    facts: Pick<BilledCall, 'line' | 'model' | 'at' | 'taskId' | 'key'>,
    microUnits: number,
    saysFailed: boolean,
  ): void {
    const { line, taskId, key } = facts;
    const keyed = this.byKey.get(key ?? '');
    // Lines with the same key and several tasks are several calls, although only one of them is found by the key.
    const isSame = taskId === null || keyed?.taskId === null;
    const found = this.byTask.get(taskId ?? '') ?? (isSame ? keyed : undefined);
    const call = found ?? { ...facts, ...NOTHING_BILLED };
    call.lines += 1;
    call.sum = safeSum(line, call.sum, microUnits);
    if (microUnits > 0) {
      call.charges += 1;
      call.largest = Math.max(call.largest, microUnits);
      call.hasFailed ||= saysFailed;
    }
    call.taskId ??= taskId;
    if (taskId !== null) this.byTask.set(taskId, call);
    if (key !== null && keyed === undefined) this.byKey.set(key, call);
  }

  end(): Omit<Invoice, 'digest' | 'endsWithBreak'> {
    if (this.columns === undefined || this.lines === 0) throw invoiceError('The file has no lines.');
    const totalLine = this.takeTotalLine();
    const { total } = this.format;
    if (total !== undefined && !isSameTotal(total.microUnits, this.sum))
      throw invoiceError(
        `Its lines add up to ${this.sum / 1_000_000}, but --total is ${total.microUnits / 1_000_000}. The file may be incomplete.`,
      );
    if (this.currency === undefined) throw invoiceError(NO_CURRENCY);
    const { code } = this.currency;
    if (total?.unit != null && !currenciesOf(total.unit).includes(code))
      throw invoiceError(`Its lines are in ${code}, but --total is in ${total.unit}.`);
    const { byTask, byKey, loose, lines, sum, rounded, first, last } = this;
    return {
      ...{ byTask, byKey, loose, totalLine, lines, sum, rounded },
      currency: code,
      period: first <= last ? { since: first, until: last } : null,
      columns: this.columns.names,
    };
  }

  /**
   * Takes out the last line if it is the total of all others. The amount alone does not show that: it may be the last of
   * two lines with the same price.
   */
  private takeTotalLine(): number | null {
    const last = this.lastMayBeTotal && this.lines > 1 ? this.loose.at(-1) : undefined;
    if (last === undefined || !isSameTotal(last.sum, this.sum - last.sum)) return null;
    this.loose.pop();
    this.lines -= 1;
    this.sum -= last.sum;
    return last.line;
  }

  private amountIn(line: number, text: string): InvoiceAmount {
    if (text === '') throw invoiceError(`Line ${line} has no amount.`);
    const { decimal } = this.format;
    const read = text.length > LONGEST_CELL ? { problem: 'is too long.' } : readInvoiceAmount(text, decimal);
    if ('problem' in read) throw invoiceError(`Line ${line}: ${shownAmount(text)} ${read.problem}`);
    if (read.isRounded) this.rounded += 1;
    if (decimal === undefined && read.mark !== null) {
      this.mark ??= { mark: read.mark, line };
      if (this.mark.mark !== read.mark)
        throw invoiceError(
          `Line ${line} writes decimals with "${read.mark}", but line ${this.mark.line} with "${this.mark.mark}". Pass --decimal, or correct the file.`,
        );
    }
    return read;
  }

  private checkCurrency(line: number, cell: string, unit: string | null): void {
    const named = [cell, unit ?? ''].filter((text) => text !== '').map((text) => currenciesOf(text));
    const wanted = this.format.currency;
    this.currency ??= wanted === undefined ? undefined : { code: wanted, line: 0 };
    const common = named.flat().filter((code) => named.every((codes) => codes.includes(code)));
    const [only, ...others] = new Set(common);
    if (named.length > 0 && only === undefined)
      throw invoiceError(`Line ${line}: The currency is unclear, or not a code such as USD.`);
    if (this.currency === undefined) {
      if (only === undefined || others.length > 0) throw invoiceError(`Line ${line}: ${NO_CURRENCY}`);
      this.currency = { code: only, line };
    }
    const { code, line: firstLine } = this.currency;
    if (only === undefined || [only, ...others].includes(code)) return;
    const other = firstLine === 0 ? `--currency is ${code}` : `line ${firstLine} in ${code}`;
    throw invoiceError(
      `Line ${line} is in ${only}, but ${other}. Check the lines of each currency in a separate file.`,
    );
  }

  private modelOf(text: string): string | null {
    if (text === '') return null;
    const model = text.slice(0, LONGEST_CELL);
    const known = this.models.get(model);
    if (known === undefined) this.models.set(model, model);
    return known ?? model;
  }

  private timeIn(line: number, text: string, isLoose: boolean): number | null {
    if (text === '') return null;
    const at = timeOf(text);
    // The line of a total may say so where others have a time.
    if (at === undefined && isLoose) return null;
    if (at === undefined)
      throw invoiceError(
        `Line ${line}: The time cannot be read. Allowed: 2026-11-30T12:00:00Z, 2026-11-30 12:00:00 (UTC), 2026-11-30, or Unix time.`,
      );
    this.first = Math.min(this.first, at);
    this.last = Math.max(this.last, DATE.test(text) ? at + DAY_MS - 1 : at);
    return at;
  }
}

const NOTHING_BILLED = {
  ...{ lines: 0, charges: 0, sum: 0, largest: 0 },
  ...{ hasFailed: false, owners: 0, elsewhere: null },
};

const NO_CURRENCY = 'The currency is unknown. Pass --currency, or the column in --currency-column.';

/** Totals are often rounded to cents. */
const isSameTotal = (total: number, sum: number): boolean => Math.abs(total - sum) <= 5_000;

function safeSum(line: number, sum: number, microUnits: number): number {
  if (Number.isSafeInteger(sum + microUnits)) return sum + microUnits;
  throw invoiceError(`Line ${line}: The amounts add up to more than can be counted exactly.`);
}

/** An id of a task or a key. Prompts have spaces: a column of them must not be printed. */
function idIn(line: number, column: 'task' | 'key', text: string): string | null {
  if (text === '' || TOTAL.test(text)) return null;
  if (text.length <= LONGEST_CELL && !/[\s\p{Cc}\p{Cs}]/u.test(text)) return text;
  throw invoiceError(
    `Line ${line}: The cell in the ${column} column is not an id. Name the right column with --${column}-column.`,
  );
}

/** Only what looks like a number is repeated, because a wrong column may contain prompts. */
const shownAmount = (text: string): string =>
  /^[-+()\d.,'\s\p{Sc}]{1,40}$/u.test(text) ? text : 'The cell in the amount column';

const TOTAL = /^(?:grand |sub-?)?(?:total|sum):?$/i;

const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?(?:Z|UTC|[-+]\d\d:?\d\d))?$/;

/** Returns milliseconds since the Unix epoch. A time without a zone is in UTC. */
function timeOf(text: string): number | undefined {
  if (/^\d{10}(?:\.\d{1,9})?$/.test(text)) return Math.floor(Number(text) * 1000);
  if (/^\d{13}$/.test(text)) return Number(text);
  if (!DATE.test(text) && !TIME.test(text)) return undefined;
  const [, day = '', clock = '', zone = ''] = /^(\S{10})[T ]?([\d:.,]*) ?(.*)$/.exec(text) ?? [];
  const offset = ['', 'Z', 'UTC'].includes(zone) ? 'Z' : zone.replace(/^(.\d\d):?(\d\d)$/, '$1:$2');
  const time = Date.parse(clock === '' ? day : `${day}T${clock.replace(',', '.')}${offset}`);
  return Number.isNaN(time) ? undefined : time;
}
