import { once } from 'node:events';
import { createReadStream, createWriteStream, type WriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { csvCell } from '@temporal-media/report/internal/tables';
import { stringify } from 'csv-stringify/sync';
import { type Money } from 'temporal-media';
import { formatMoney } from 'temporal-media/internal/domain/money';
import { systemCode } from 'temporal-media/internal/stores/files/system-errors';
import { CliError } from '../shared/errors';
import { textTable } from '../shared/progress-view';
import { type CheckFinding, FINDING_KINDS, FINDINGS, type FindingKind } from './check-judge';

/** How often something was found, and what those lines bill. */
export interface FoundTotals {
  readonly count: number;
  /** Micro-units. */
  readonly billed: number;
}

/**
 * Counts what a check finds, keeps the first findings of each kind for the screen, and writes all of them to a file.
 * The file lists those of lines without a call first: they are found last, so the others wait in a second file.
 */
export class FoundList {
  private readonly totals = new Map<FindingKind, { count: number; billed: number }>();
  private readonly kept = new Map<FindingKind, CheckFinding[]>();
  private readonly spool: CsvFile | undefined;
  private file: CsvFile | undefined;

  /** @param limit findings to keep of each kind */
  constructor(
    private readonly limit: number,
    private readonly out: string | undefined,
  ) {
    this.spool = out === undefined ? undefined : new CsvFile(`${out}.part`);
  }

  /** Adds what was found about a call of the log. */
  async add(finding: CheckFinding): Promise<void> {
    this.count(finding);
    await this.spool?.write(finding);
  }

  /** Adds what was found about lines, and completes the file. */
  async end(ofLines: Iterable<CheckFinding>): Promise<void> {
    const file = this.out === undefined ? undefined : new CsvFile(`${this.out}.new`);
    this.file = file;
    await file?.head();
    for (const finding of ofLines) {
      this.count(finding);
      await file?.write(finding);
    }
    await file?.take(this.spool);
    if (this.out !== undefined) await rename(`${this.out}.new`, this.out);
  }

  /** Removes what a failed check has written. */
  async drop(): Promise<void> {
    await this.spool?.remove();
    await this.file?.remove();
  }

  totalsOf(kind: FindingKind): FoundTotals {
    return this.totals.get(kind) ?? { count: 0, billed: 0 };
  }

  /** Totals of the kinds that were found, in order. */
  get found(): readonly (FoundTotals & { readonly finding: FindingKind })[] {
    return FINDING_KINDS.filter((kind) => this.totals.has(kind)).map((kind) => ({
      finding: kind,
      ...this.totalsOf(kind),
    }));
  }

  get differences(): number {
    return this.found.reduce((sum, { finding, count }) => sum + (FINDINGS[finding][0] ? count : 0), 0);
  }

  /** The kept findings, those that matter most first. */
  get shown(): readonly CheckFinding[] {
    return FINDING_KINDS.flatMap((kind) => this.kept.get(kind) ?? []).slice(0, this.limit);
  }

  private count(finding: CheckFinding): void {
    const kind = finding.finding;
    const totals = this.totals.get(kind) ?? { count: 0, billed: 0 };
    totals.count += 1;
    totals.billed += finding.billed?.microUnits ?? 0;
    this.totals.set(kind, totals);
    const kept = this.kept.get(kind) ?? [];
    if (kept.length < this.limit) kept.push(finding);
    this.kept.set(kind, kept);
  }
}

/** Returns the lines of a table for people. */
export function findingsTable(findings: readonly CheckFinding[]): readonly string[] {
  const head = ['FINDING', 'LINE', 'TASK', 'KEY', 'ACCOUNT', 'MODEL', 'AT', 'BILLED', 'EXPECTED', 'NOTE'];
  const rows = findings.map(
    ({ finding, line, taskId, creationKey, account, model, at, billed, expected, note }) => [
      finding,
      line === null ? '-' : String(line),
      ...[taskId, creationKey, account, model, at].map((text) => text ?? '-'),
      moneyText(billed),
      moneyText(expected),
      note,
    ],
  );
  return textTable([head, ...rows]);
}

const moneyText = (money: Money | null): string => (money === null ? '-' : formatMoney(money));

const HEAD = [
  ...['finding', 'line', 'task_id', 'creation_key', 'send_id', 'account', 'model', 'at'],
  ...['billed', 'billed_currency', 'expected', 'expected_currency', 'note'],
];

/** Texts are escaped so that they cannot be formulas; numbers need no escape. */
function cellsOf(finding: CheckFinding): readonly string[] {
  const { line, taskId, creationKey, sendId, account, model, at, billed, expected, note } = finding;
  const money = (one: Money | null): readonly string[] =>
    one === null ? ['', ''] : [formatMoney({ ...one, currency: null }), one.currency];
  return [
    finding.finding,
    line === null ? '' : String(line),
    ...[taskId, creationKey, sendId, account, model, at].map((text) => csvCell(text ?? '')),
    ...money(billed),
    ...money(expected),
    csvCell(note),
  ];
}

/** A CSV file that is written row by row. @throws CliError `cannot_write` */
class CsvFile {
  private readonly stream: WriteStream;
  private failure: unknown;

  constructor(private readonly path: string) {
    this.stream = createWriteStream(path).on('error', (error) => {
      this.failure = error;
    });
  }

  async head(): Promise<void> {
    await this.text(stringify([HEAD]));
  }

  async write(finding: CheckFinding): Promise<void> {
    await this.text(stringify([cellsOf(finding)]));
  }

  /** Appends another file, removes it, and closes this one. */
  async take(other: CsvFile | undefined): Promise<void> {
    await other?.close();
    if (other !== undefined)
      await pipeline(createReadStream(other.path), this.stream).catch((error: unknown) => this.refuse(error));
    await other?.remove();
  }

  async remove(): Promise<void> {
    this.stream.destroy();
    await rm(this.path, { force: true });
  }

  private async close(): Promise<void> {
    if (this.failure !== undefined) this.refuse(this.failure);
    const closed = once(this.stream, 'finish').catch((error: unknown) => this.refuse(error));
    this.stream.end();
    await closed;
  }

  private async text(text: string): Promise<void> {
    if (!this.stream.write(text) && this.failure === undefined)
      await once(this.stream, 'drain').catch((error: unknown) => this.refuse(error));
    if (this.failure !== undefined) this.refuse(this.failure);
  }

  private refuse(error: unknown): never {
    throw new CliError('cannot_write', `--out: ${this.path} is not writable (${systemCode(error)}).`, {
      hint: 'Pass another file name. Nothing was recorded.',
    });
  }
}
