import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type BillEntry } from '../../../src/domain/log-entries';
import { type CompletedImages } from '../../../src/domain/paid-call';
import { createFileJournal } from '../../../src/stores/journal/file-journal';
import { runJson } from '../support/run-cli';
import { type MadeCall, writeCalls } from './money-journal';

/** When the call with this number was sent. */
export const at = (minute: number): string => new Date(Date.UTC(2026, 10, 2, 12, minute)).toISOString();

/** The reply of an image call. */
export const images: CompletedImages = {
  ...{ outcome: 'completed', account: 'default@00000000', estimate: null, sendAttempt: 0, sent: true },
  ...{ images: [], created: null, warnings: [] },
};

export interface FindingLine {
  readonly finding: string;
  readonly line: number | null;
  readonly taskId: string | null;
  readonly creationKey: string | null;
  readonly note: string;
  readonly candidates?: readonly { readonly creationKey: string }[];
}

export interface CheckedInvoice {
  readonly reference: string;
  readonly lines: number;
  readonly sum: number;
  readonly totalLine: number | null;
  readonly agreed: number;
  readonly unrecorded: number;
  readonly keys: number;
  readonly findings: readonly FindingLine[];
  readonly found: readonly { readonly finding: string; readonly count: number; readonly billed: number }[];
  readonly applied: { readonly recorded: number; readonly amount: number } | null;
}

const HEAD = 'time,task_id,model,amount,currency';

/** A journal in files, and invoices that are checked against it. There is no server at the address of its commands. */
export class CheckBench {
  private constructor(readonly dir: string) {}

  static async open(): Promise<CheckBench> {
    return new CheckBench(await mkdtemp(path.join(tmpdir(), 'temporal-media-check-')));
  }

  get root(): string {
    return path.join(this.dir, 'journal');
  }

  get env(): NodeJS.ProcessEnv {
    return { TEMPORAL_ADDRESS: '127.0.0.1:1', MEDIA_DATA_DIR: this.dir };
  }

  close(): Promise<void> {
    return rm(this.dir, { recursive: true, force: true });
  }

  /** Writes calls whose tasks are `t0`, `t1`, …, a minute apart. */
  calls(...made: readonly MadeCall[]): Promise<void> {
    return writeCalls(
      this.root,
      made.map((call, minute) => ({ at: at(minute), model: 'cine-1', taskId: `t${minute}`, ...call })),
    );
  }

  async invoice(lines: readonly string[], head = HEAD, name = 'invoice.csv'): Promise<string> {
    const file = path.join(this.dir, name);
    await writeFile(file, [head, ...lines, ''].join('\n'));
    return file;
  }

  async check(file: string, ...args: string[]) {
    const run = await runJson(['money', 'check', file, ...args], this.env);
    expect(run.stdout + run.stderr).not.toMatch(/^\s+at /m);
    return { ...run, type: run.reply.error?.type, data: run.reply.data as unknown as CheckedInvoice };
  }

  async bills(creationKey: string): Promise<readonly BillEntry[]> {
    const log = await createFileJournal({ root: this.root }).read({ namespace: 'default', creationKey });
    return log.flatMap((entry) => (entry.kind === 'bill' ? [entry] : []));
  }

  async underReview(): Promise<readonly string[]> {
    const { reply } = await runJson(['money', 'review'], this.env);
    const found = reply.data?.['underReview'] as readonly { readonly creationKey: string }[];
    return found.map(({ creationKey }) => creationKey);
  }
}

export const kinds = ({ findings }: CheckedInvoice): unknown[] =>
  findings.map(({ finding, line, creationKey }) => [finding, line, creationKey]);
