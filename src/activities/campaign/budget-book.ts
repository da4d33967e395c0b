import { log } from '@temporalio/activity';
import { CancelledFailure } from '@temporalio/common';
import {
  batchLog,
  batchNumber,
  batchWorkflowId,
  type BookEntry,
  bookLog,
  type BookRecord,
  type CampaignLog,
  billedAgain,
  closed,
  emptyBook,
  freeLog,
  type FreeRecord,
  grantedTo,
  isClosed,
  opened,
  ownerLog,
  raised,
  type Returned,
} from '../../domain/campaign/budget-book';
import {
  type BookMove,
  type BooksUnavailable,
  type KeepBooksInput,
  type KeepBooksResult,
  type KeptBooks,
} from '../../domain/campaign/campaign-activities';
import { type RowSet, rowsOf } from '../../domain/campaign/row-sets';
import { type CreateJournal, keepsNothing, newestEntry, writeOnce } from '../../domain/journal';
import { type JournalKey, wasCharged } from '../../domain/log-entries';
import { mapConcurrently } from '../../domain/map-concurrently';
import { ArtifactError } from '../../stores/artifacts/artifact-store';
import { journalFault, JournalRecordError } from '../../stores/journal/records';
import { fenceBatch } from '../admission';
import { clearOf } from '../failures';
import { openLog } from '../key-log';
import { caller, type PaidDeps } from '../paid-context';
import { type PageReader, READS_AT_ONCE } from './open-page';

/**
 * Runs `work` with the journal that the queue is bound to. If there is no such journal, or something cannot be read or
 * written, returns the reason. The caller waits and shows that reason.
 */
export async function withBoundJournal<T>(
  deps: PaidDeps,
  work: (journal: CreateJournal) => Promise<T>,
): Promise<T | BooksUnavailable> {
  if (keepsNothing(deps.journal)) return { unavailable: NO_JOURNAL };
  try {
    const binding = await deps.checkBinding();
    return binding.bound ? await work(deps.journal) : { unavailable: binding.message };
  } catch (error) {
    if (error instanceof CancelledFailure) throw error;
    log.warn("A campaign's book could not be read or written", { cause: reasonOf(error) });
    return { unavailable: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof UnreadableBookError || error instanceof JournalRecordError) return error.message;
  return error instanceof ArtifactError ? STORE_DOWN : `${JOURNAL_DOWN} ${clearOf([])(journalFault(error))}`;
}

/** Thrown when a person must check a campaign's records before they can be used. */
class UnreadableBookError extends Error {
  override readonly name = 'UnreadableBookError';
}

const NO_JOURNAL =
  'The worker has no create journal (journal: "none"), where a campaign keeps its books. Nothing is bought.';
const JOURNAL_DOWN =
  "The campaign's book in the create journal cannot be read or written. Nothing more is bought until it can be.";
const STORE_DOWN =
  "The campaign's pages or results cannot be read from the artifact store. Nothing more is bought until they can be.";

/** A send under a creation key. */
export interface SendKey extends JournalKey {
  /** Its index in the log, from 0. */
  readonly sendAttempt: number;
}

/** The close of a batch, based on the newest known entry. */
interface Closing {
  readonly namespace: string;
  readonly campaign: string;
  readonly payer: string;
  readonly book: BookEntry;
  /** Whether the batch has reported its cost itself, which includes its charges under these keys. */
  readonly isReported: boolean;
}

/**
 * Records that the charges under these keys cost nothing, and returns what this close gives back for them. Each send's
 * record is written only once, so nothing is deducted twice. Charges to other open batches are not deducted: those leave
 * them out when they are settled.
 */
async function givenBack(
  journal: CreateJournal,
  { namespace, campaign, payer, book, isReported }: Closing,
  creationKeys: readonly string[],
): Promise<Returned> {
  let [deducted, billed] = [0, 0];
  await mapConcurrently(creationKeys, READS_AT_ONCE, async (creationKey) => {
    const { state } = await openLog(journal, { namespace, creationKey });
    for (const [sendAttempt, send] of state.sends.entries()) {
      const { sent } = send;
      if (sent.kind !== 'intent' || sent.payer === undefined || !wasCharged(send)) continue;
      const number = batchNumber(campaign, sent.payer);
      const isIncluded = sent.payer === payer ? isReported : number !== undefined && isClosed(book, number);
      const place = { namespace, creationKey, sendAttempt };
      // When a batch is settled, the charges to it that are left out are recorded already, and its others stay.
      const free =
        sent.payer === payer && !isReported
          ? await freeOfSend(journal, place)
          : await noteFree(journal, place, { by: payer, deducts: isIncluded });
      if (free?.by !== payer) continue;
      const charge = sent.estimate?.microUnits ?? 0;
      if (free.deducts && (sent.payer !== payer || isReported)) deducted += charge;
      if (send.bill !== null && send.bill.currency === sent.estimate?.currency) billed += charge;
    }
  });
  return { deducted, billed };
}

/**
 * Records that a send's charge cost nothing. Returns the record that exists afterwards: the new one or an earlier one.
 */
export async function noteFree(
  journal: CreateJournal,
  key: SendKey,
  { by, deducts }: Pick<FreeRecord, 'by' | 'deducts'>,
): Promise<FreeRecord> {
  const existing = await freeOfSend(journal, key);
  if (existing !== null) return existing;
  const log = freeLog(key.namespace, key.creationKey);
  const record: FreeRecord = { v: 1, kind: 'free', by, deducts, at: new Date().toISOString() };
  return ((await writeOnce(journal, log, key.sendAttempt, record)) as FreeRecord | null) ?? record;
}

export async function freeOfSend(
  journal: CreateJournal,
  { namespace, creationKey, sendAttempt }: SendKey,
): Promise<FreeRecord | null> {
  return (await journal.readRecord(freeLog(namespace, creationKey), sendAttempt)) as FreeRecord | null;
}

/**
 * Implements `media.keepBooks`: makes one change to a campaign's book, but only if the caller knows its newest entry. A
 * retry finds the entry that it wrote.
 */
export function createKeepBooks(
  deps: PaidDeps,
  pages: PageReader,
): (input: KeepBooksInput) => Promise<KeepBooksResult> {
  return (input) =>
    withBoundJournal(deps, async (journal): Promise<KeptBooks | BooksUnavailable> => {
      const { namespace, runId, activityId } = caller();
      const book = new BudgetBookLog(journal, namespace, input.campaign);
      const nonce = `${runId ?? ''}/${activityId}`;
      return new Bookkeeper(journal, namespace, book, pages, nonce, input).move();
    });
}

class Bookkeeper {
  constructor(
    private readonly journal: CreateJournal,
    private readonly namespace: string,
    private readonly book: BudgetBookLog,
    private readonly pages: PageReader,
    private readonly nonce: string,
    private readonly input: KeepBooksInput,
  ) {}

  async move(): Promise<KeptBooks> {
    const { known, before, move } = this.input;
    const newest = await this.book.newest(known, before);
    if (move.do === 'look') return newest;
    if (newest.n !== known) {
      const next = await this.book.entry(nextOf(known));
      return next?.nonce === this.nonce ? this.made(next, newest) : { ...newest, conflict: true };
    }
    const made = await this.entryAfter(newest.book, move);
    if (!('next' in made)) return { ...newest, ...made };
    const record: BookRecord = {
      v: 1,
      kind: 'book',
      nonce: this.nonce,
      at: new Date().toISOString(),
      ...bookOf(made),
    };
    const n = nextOf(known);
    const existing = await this.book.write(n, record);
    if (existing.nonce === this.nonce) return this.made(existing, { n, book: bookOf(existing) });
    return { ...(await this.book.newest(n, before)), conflict: true };
  }

  /** Returns the entry that the change writes, or the answer if it writes none. */
  private async entryAfter(
    book: BookEntry,
    move: Exclude<BookMove, { do: 'look' }>,
  ): Promise<BookEntry | Pick<KeptBooks, 'unsettled'>> {
    const { budget } = this.input;
    switch (move.do) {
      case 'open': {
        await this.fence(move.fences);
        let entry = book;
        for (const rows of move.batches) {
          const want = move.want ?? (budget === null ? 0 : await this.costOf(rows));
          entry = opened(entry, want, budget);
        }
        return entry;
      }
      case 'raise':
        return raised(book, move.batch, move.want, budget) ?? {};
      case 'bill':
        return billedAgain(book, move.was, move.billed) ?? {};
      case 'close':
        return this.afterClosing(book, move);
    }
  }

  private async fence(batches: readonly number[]): Promise<void> {
    const { journal, namespace } = this;
    for (const batch of batches)
      await fenceBatch(journal, namespace, batchWorkflowId(this.input.campaign, batch));
  }

  private async afterClosing(
    book: BookEntry,
    { batch, spent, run, free }: Extract<BookMove, { do: 'close' }>,
  ): Promise<BookEntry | Pick<KeptBooks, 'unsettled'>> {
    if (grantedTo(book, batch) === undefined) return {};
    const { journal, namespace } = this;
    const { campaign } = this.input;
    const payer = batchWorkflowId(campaign, batch);
    await this.fence([batch]);
    const owner = await journal.readRecord(ownerLog(namespace, payer), 0);
    if (run !== null && owner?.kind === 'owner' && owner.run !== run) return { unsettled: true };
    const closing = { namespace, campaign, payer, book, isReported: run !== null };
    const returned = await givenBack(journal, closing, free);
    return closed(book, batch, spent, returned) ?? {};
  }

  /** Returns the result of this change, based on the entry that it wrote. */
  private async made({ next }: BookRecord, newest: Newest): Promise<KeptBooks> {
    const { move } = this.input;
    if (move.do !== 'open') return newest;
    const numbers = move.batches.map((rows, index) => ({ rows, batch: next - move.batches.length + index }));
    await Promise.all(numbers.map(({ rows, batch }) => this.noteRows(batch, rows)));
    return { ...newest, opened: numbers.map(({ batch }) => batch) };
  }

  /** Records a batch's rows before the batch may be started, so that its successors can read them. */
  private async noteRows(batch: number, rows: readonly RowSet[]): Promise<void> {
    const { nonce } = this;
    const log = batchLog(this.namespace, batchWorkflowId(this.input.campaign, batch));
    const record = { v: 1, kind: 'batch', nonce, at: new Date().toISOString(), rows } as const;
    await writeOnce(this.journal, log, 0, record);
  }

  /** Cost of the rows for which nothing has been bought yet. */
  private async costOf(sets: readonly RowSet[]): Promise<number> {
    let cost = 0;
    for (const set of sets) {
      if (set.started !== undefined) continue;
      const { rows } = await this.pages.page(set);
      for (const { estimate, changed } of rowsOf(set, rows)) if (changed !== true) cost += estimate ?? 0;
    }
    return cost;
  }
}

function nextOf(n: number | null): number {
  return n === null ? 0 : n + 1;
}

/** A book's newest state; `n` is null before the first entry. */
export interface Newest {
  readonly n: number | null;
  readonly book: BookEntry;
}

export class BudgetBookLog {
  private readonly log: CampaignLog;

  constructor(
    private readonly journal: CreateJournal,
    namespace: string,
    private readonly campaign: string,
  ) {
    this.log = bookLog(namespace, campaign);
  }

  /**
   * Finds the newest entry.
   * @param known number of an entry that existed
   * @param before micro-units with which a book begins
   */
  async newest(known: number | null, before: number): Promise<Newest> {
    const there = await newestEntry(async (n) => (await this.entry(n)) !== null, known);
    if (there === null) return { n: null, book: emptyBook(before) };
    const entry = await this.entry(there);
    if (entry === null) throw new UnreadableBookError(goneText(this.campaign, there));
    return { n: there, book: bookOf(entry) };
  }

  async entry(n: number): Promise<BookRecord | null> {
    const record = await this.journal.readRecord(this.log, n);
    if (record !== null && record.kind !== 'book') throw new UnreadableBookError(goneText(this.campaign, n));
    return record;
  }

  /** Writes entry n. Returns the entry that exists afterwards: the new one or an earlier one. */
  async write(n: number, record: BookRecord): Promise<BookRecord> {
    const existing = await writeOnce(this.journal, this.log, n, record);
    if (existing?.kind !== 'book') throw new UnreadableBookError(goneText(this.campaign, n));
    return existing;
  }
}

export function bookOf({ closed, billed, open, next }: BookEntry): BookEntry {
  return { closed, billed, open, next };
}

const goneText = (campaign: string, n: number): string =>
  `Entry ${n} in the book of campaign ${JSON.stringify(campaign)} is missing from the create journal or is not a book entry: the journal was replaced or restored from an older copy. Nothing more is bought. Restore the journal. If it is lost, terminate the campaign, rebind the task queue (\`temporal-media worker --rebind\`), and start the campaign again under its ID. An older book does not include what was spent since the copy was made: reduce the budget by that amount. Without a book, the budget starts with the cost of the results.`;
