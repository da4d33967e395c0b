import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createKeepBooks } from '../../../src/activities/campaign/budget-book';
import { createPageReader } from '../../../src/activities/campaign/open-page';
import { createCountBills, createSettleBatch } from '../../../src/activities/campaign/settle-batch';
import { type PaidDeps } from '../../../src/activities/paid-context';
import { batchWorkflowId } from '../../../src/domain/campaign/budget-book';
import {
  type BookMove,
  type CountBillsInput,
  type CountBillsResult,
  type KeepBooksInput,
  type KeepBooksResult,
  type KeptBooks,
  type SettleBatchInput,
  type SettleBatchResult,
} from '../../../src/domain/campaign/campaign-activities';
import { type CampaignRow, type LedgerLine } from '../../../src/domain/campaign/row';
import { type RowSet } from '../../../src/domain/campaign/row-sets';
import { rowCreationKey } from '../../../src/domain/creation-key';
import { type CreateJournal } from '../../../src/domain/journal';
import { type IntentEntry, type LogEntry, type RecordedAnswer } from '../../../src/domain/log-entries';
import { createFileJournal } from '../../../src/stores/journal/file-journal';
import { answers } from '../../domain/create-answers';
import { answerEntry, intentEntry } from '../../support/log-entries';
import { paidDeps } from '../paid-deps';
import { plannedRow, storedPages } from './stored-pages';

export const CAMPAIGN = 'spring';
export const NAMESPACE = 'default';
/** Of each row, in micro-units. */
export const PRICE = 10;
export const payerOf = (batch: number): string => batchWorkflowId(CAMPAIGN, batch);

/** Who asks: a workflow's activity. */
export interface Asking {
  readonly runId?: string;
  readonly activityId?: string;
  readonly deps?: Partial<PaidDeps>;
}

/** The activities of the book over a real journal, and a plan of ten rows on two pages. */
export class BooksHarness {
  readonly heartbeats: unknown[] = [];
  private activities = 0;

  private constructor(
    private readonly folder: string,
    readonly journal: CreateJournal,
    readonly deps: PaidDeps,
    readonly rows: readonly CampaignRow[],
    readonly index: string,
  ) {}

  static async open(own: (number: number) => Partial<CampaignRow> = () => ({})): Promise<BooksHarness> {
    const folder = await mkdtemp(join(tmpdir(), 'temporal-media-books-'));
    const journal = createFileJournal({ root: join(folder, 'journal') });
    const rows = Array.from({ length: 10 }, (_, number) =>
      plannedRow(number, { estimate: PRICE, ...own(number) }),
    );
    const { store, index } = await storedPages([rows.slice(0, 5), rows.slice(5)]);
    const deps = { ...paidDeps(folder, journal), artifacts: store as unknown as PaidDeps['artifacts'] };
    return new BooksHarness(folder, journal, deps, rows, index);
  }

  close(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }

  page(page: number, own: Partial<RowSet> = {}): RowSet {
    return { index: this.index, page, generation: 0, size: 5, ...own };
  }

  keep(input: Partial<KeepBooksInput> & { readonly move: BookMove }, asking: Asking = {}) {
    const deps = { ...this.deps, ...asking.deps };
    return this.environment(asking).run<
      [KeepBooksInput],
      KeepBooksResult,
      (input: KeepBooksInput) => Promise<KeepBooksResult>
    >(createKeepBooks(deps, createPageReader(deps.artifacts)), {
      campaign: CAMPAIGN,
      known: null,
      before: 0,
      budget: null,
      ...input,
    });
  }

  /** Where the book can be kept. */
  async kept(...args: Parameters<BooksHarness['keep']>): Promise<KeptBooks> {
    const result = await this.keep(...args);
    if ('unavailable' in result) throw new Error(result.unavailable);
    return result;
  }

  settle(batch: number, segments: readonly string[] = [], asking: Asking = {}): Promise<SettleBatchResult> {
    const deps = { ...this.deps, ...asking.deps };
    return this.environment(asking).run<
      [SettleBatchInput],
      SettleBatchResult,
      (input: SettleBatchInput) => Promise<SettleBatchResult>
    >(createSettleBatch(deps, createPageReader(deps.artifacts)), { campaign: CAMPAIGN, batch, segments });
  }

  countBills(from: number, until: number, asking: Asking = {}): Promise<CountBillsResult> {
    const deps = { ...this.deps, ...asking.deps };
    return this.environment(asking).run<
      [CountBillsInput],
      CountBillsResult,
      (input: CountBillsInput) => Promise<CountBillsResult>
    >(createCountBills(deps, createPageReader(deps.artifacts)), { campaign: CAMPAIGN, from, until });
  }

  private environment({ runId = 'parent', activityId = `${(this.activities += 1)}` }: Asking) {
    const environment = new MockActivityEnvironment({
      workflowNamespace: NAMESPACE,
      workflowExecution: { workflowId: CAMPAIGN, runId },
      activityId,
      // One beat every 10 ms.
      heartbeatTimeoutMs: 20,
    });
    environment.on('heartbeat', (details: unknown) => this.heartbeats.push(details));
    return environment;
  }

  key(row: number, attempt = 0) {
    const creationKey = rowCreationKey(CAMPAIGN, this.rows[row]!, attempt);
    return { namespace: NAMESPACE, creationKey };
  }

  /** A request of this row was about to leave, paid for by this batch. */
  async started(row: number, batch: number, own: Partial<IntentEntry> = {}): Promise<void> {
    const estimate = { microUnits: PRICE, currency: 'USD' };
    await this.write(row, intentEntry({ ...this.key(row), payer: payerOf(batch), estimate, ...own }));
  }

  /** The answer of the send `ours` of this row, or of another one. */
  async ended(row: number, answer: RecordedAnswer = answers.created(0), nonce = 'ours'): Promise<void> {
    await this.write(row, answerEntry(answer, { nonce }));
  }

  /** Appends an entry to the log of a row. */
  async write(row: number, entry: LogEntry): Promise<void> {
    const key = this.key(row);
    await this.journal.append(key, (await this.journal.read(key)).length, entry);
  }

  async bought(row: number, batch: number): Promise<void> {
    await this.started(row, batch);
    await this.ended(row);
  }

  /** Results in which these rows have cost nothing. */
  async unpaid(...rows: readonly number[]): Promise<string> {
    const lines = rows.map((row) => {
      const line: Partial<LedgerLine> = { creationKey: this.key(row).creationKey, state: 'none' };
      return `${JSON.stringify({ key: `r${row}`, ledger: [line] })}\n`;
    });
    const { sha256 } = await this.deps.artifacts.putBuffer(Buffer.from(lines.join('')), {
      mediaType: 'application/jsonl',
    });
    return sha256;
  }
}
