import { randomUUID } from 'node:crypto';
import {
  allowanceLog,
  type AllowanceRecord,
  type CampaignLog,
  spendLog,
  type SpendRecord,
} from '../domain/campaign/budget-book';
import { type CreateJournal, keepsNothing, newestEntry, writeOnce } from '../domain/journal';
import { billedFor, estimateOfSend, type Send, wasCharged } from '../domain/log-entries';
import {
  type CallLimit,
  formatMoney,
  type Labels,
  limitsOf,
  type Money,
  type ReservedIn,
  type SpendLimits,
  spendWindow,
} from '../domain/money';
import { credentialOf } from '../domain/names';
import { type NotSent, type RejectedCall } from '../domain/paid-call';
import { msUntil, timeAfter } from '../service/time-left';
import { type Account } from '../settings/accounts';
import { reported } from './failures';
import { type AnswerBase, rejectedAnswer, unsentAnswer } from './paid-answers';
import { type PaidDeps } from './paid-context';

/** An estimate that counts against the limit until it is returned. */
export interface Reserved extends ReservedIn {
  /** Micro-units spent or reserved in the window, including this estimate. */
  readonly sum: number;
  /**
   * Counts another amount in place of the estimate, 0 for a call that was refused or not sent. If the journal fails,
   * the estimate counts until the window ends. Never rejects.
   */
  correct(microUnits: number): Promise<void>;
}

/** How much of a window is used. */
interface SpentIn {
  /** Micro-units spent or reserved in the window. */
  readonly spent: number;
  /** When the window ends, in milliseconds since the Unix epoch. */
  readonly endsAt: number;
}

/** How much of a limit is used. */
interface Used extends SpentIn {
  /** What persons have allowed in addition, in micro-units. */
  readonly allowed: number;
}

const BOOKS = new WeakMap<CreateJournal, SpendBooks>();

/** Returns a journal's books, which all of the process's paid calls share. */
export function spendBooksOf(journal: CreateJournal): SpendBooks {
  let books = BOOKS.get(journal);
  if (books === undefined) BOOKS.set(journal, (books = new SpendBooks(journal)));
  return books;
}

/** The amounts that a journal's accounts have spent, by window. */
export class SpendBooks {
  private readonly books = new Map<string, SpendBook>();

  constructor(
    private readonly journal: CreateJournal,
    // oxlint-disable-next-line house/no-wall-clock-durations -- for calendar days
    private readonly now: () => number = Date.now,
  ) {}

  /**
   * Reserves an estimate in the limit's current window, or returns how much of it is used if the estimate does not
   * fit. @throws when the journal fails, in which case nothing may be sent
   */
  async reserve(limit: CallLimit, microUnits: number): Promise<Reserved | Used> {
    const { payer, per, currency } = limit;
    const now = this.now();
    const { book, endsAt } = this.windowOf(limit, now);
    if (!(await book.add(microUnits, limit.microUnits))) {
      const allowed = await this.allowed(limit);
      if (allowed === 0 || !(await book.add(microUnits, limit.microUnits + allowed)))
        return { spent: book.spent, endsAt, allowed };
    }
    const place = { payer, per, at: new Date(now).toISOString() };
    return {
      ...place,
      sum: book.spent,
      correct: (amount) =>
        this.counted([place], { microUnits: amount - microUnits, currency }).catch(reported(undefined)),
    };
  }

  /** Returns how much of the limit is used in the current window. */
  async used(limit: CallLimit): Promise<Used> {
    return { ...(await this.spentIn(limit, this.now())), allowed: await this.allowed(limit) };
  }

  /** Returns how much of the limit's window at a time is used. @param at milliseconds since the Unix epoch */
  async spentIn(limit: CallLimit, at: number): Promise<SpentIn> {
    const { book, endsAt } = this.windowOf(limit, at);
    return { spent: await book.read(), endsAt };
  }

  /** Counts more or less than what was reserved, in the windows that have not ended. */
  async counted(reserved: readonly ReservedIn[], { microUnits, currency }: Money): Promise<void> {
    if (microUnits === 0) return;
    for (const { payer, per, at } of reserved) {
      const { book, endsAt } = this.windowOf({ payer, per, currency }, Date.parse(at));
      if (this.now() < endsAt) await book.add(microUnits, Infinity);
    }
  }

  /** Allows a limit's payer more money, or takes back with 0 what was allowed. @throws when the journal fails */
  async allow(
    limit: CallLimit,
    given: Pick<AllowanceRecord, 'microUnits' | 'until' | 'by' | 'reason'>,
  ): Promise<void> {
    const log = allowanceLog(limit.payer, limit.currency);
    const at = new Date(this.now()).toISOString();
    const record: AllowanceRecord = { v: 1, kind: 'allowance', nonce: randomUUID(), at, ...given };
    for (let n = (await allowancesIn(this.journal, log)).length; ; n += 1) {
      const existing = await writeOnce(this.journal, log, n, record);
      if (existing?.kind !== 'allowance') throw new Error(GONE);
      if (existing.nonce === record.nonce) return;
    }
  }

  private async allowed({ payer, currency }: CallLimit): Promise<number> {
    const allowances = await allowancesIn(this.journal, allowanceLog(payer, currency));
    let sum = 0;
    for (const { microUnits, until } of allowances) {
      // One of 0 takes back all earlier ones.
      if (microUnits === 0) sum = 0;
      else if (Date.parse(until) > this.now()) sum += microUnits;
    }
    return sum;
  }

  private windowOf({ payer, currency, per }: Pick<CallLimit, 'payer' | 'currency' | 'per'>, at: number) {
    const { id, endsAt } = spendWindow(per, at);
    return { book: this.bookOf(spendLog(payer, currency, id), endsAt), endsAt };
  }

  private bookOf(log: CampaignLog, endsAt: number): SpendBook {
    let book = this.books.get(log.name);
    if (book === undefined) {
      for (const [old, { endedAt }] of this.books) if (endedAt <= this.now()) this.books.delete(old);
      book = new SpendBook(this.journal, log, endsAt);
      this.books.set(log.name, book);
    }
    return book;
  }
}

/** A call's estimate, reserved under all of its limits. */
interface Reservation {
  readonly reserved: readonly ReservedIn[];
  /** Counts another amount in place of the estimate, null for nothing. Never rejects. */
  readonly correct: (cost: Money | null) => Promise<void>;
}

/**
 * Reserves a call's estimate under each of its limits, or under none. A call without a known price is not sent.
 * @returns the reservation, or why the call is not sent
 * @throws when the journal fails
 */
export async function reserveUnderLimits(
  { journal, events }: Pick<PaidDeps, 'journal' | 'events'>,
  account: Account,
  labels: Labels | undefined,
  base: AnswerBase,
): Promise<Reservation | NotSent | RejectedCall> {
  const { name } = account;
  const reserved: Reserved[] = [];
  const correct: Reservation['correct'] = async (cost) => {
    if (cost !== null && cost.currency !== base.estimate?.currency) return;
    await Promise.all(reserved.map((one) => one.correct(cost?.microUnits ?? 0)));
  };
  // Only the credential is used, so correcting the base URL does not reset the limit.
  for (const limit of limitsOf(credentialOf(name), account, labels)) {
    const microUnits = priceUnder(limit, journal, base);
    if (typeof microUnits !== 'number') {
      await correct(null);
      return microUnits;
    }
    const asked = await spendBooksOf(journal)
      .reserve(limit, microUnits)
      .catch(async (error: unknown) => {
        await correct(null);
        throw error;
      });
    if (limit.payer === credentialOf(name)) {
      const window = { account: name, currency: limit.currency, per: limit.per };
      events?.metrics.record('spend', 'sum' in asked ? asked.sum : asked.spent, window);
      events?.metrics.record('spendLimit', limit.microUnits, window);
    }
    if (!('correct' in asked)) {
      await correct(null);
      return limitReached(limit, asked, base);
    }
    reserved.push(asked);
  }
  return { reserved: reserved.map(({ payer, per, at }) => ({ payer, per, at })), correct };
}

const MEND = "Nothing was sent. Fix the account's limits or the prices in the model configuration.";

const limitText = (limit: CallLimit): string =>
  `${limit.payer.includes('/') ? 'Label' : 'Account'} ${limit.payer} may spend ${formatMoney(limit)} per ${limit.per}`;

/** Returns what a call counts with under a limit, or why it can never be sent under it. */
function priceUnder(limit: CallLimit, journal: CreateJournal, base: AnswerBase): number | RejectedCall {
  const { estimate } = base;
  const refused = (problem: string) => rejectedAnswer(base, 'spend_limit', `${problem} ${MEND}`);
  if (keepsNothing(journal)) return refused('A spend limit cannot be enforced without a journal.');
  if (estimate === null || estimate.currency !== limit.currency)
    return refused(`${limitText(limit)}, but the price of this call in ${limit.currency} is not known.`);
  return estimate.microUnits;
}

function limitReached(
  limit: CallLimit,
  { spent, endsAt, allowed }: Used,
  base: AnswerBase,
): NotSent | RejectedCall {
  const { estimate } = base;
  if (estimate !== null && estimate.microUnits > limit.microUnits + allowed)
    return rejectedAnswer(
      base,
      'spend_limit',
      `${limitText(limit)}, but this call alone is estimated at ${formatMoney(estimate)}. Nothing was sent. ${ALLOW}, or raise the limit.`,
    );
  const spentText = formatMoney({ microUnits: spent, currency: limit.currency });
  const ends = new Date(endsAt).toISOString();
  const problem = `${limitText(limit)}, of which ${spentText} is already spent or reserved. Nothing was sent. The next ${limit.per} begins at ${ends}.`;
  if (limit.whenReached === 'refuse') return rejectedAnswer(base, 'spend_limit', problem);
  // The call may fit before the window ends: a person can allow more, and refused calls return their estimates.
  const heldUntil = timeAfter(Math.min(msUntil(ends), LONGEST_HOLD_MS));
  const message = `${problem} The call will be retried at ${heldUntil}. ${ALLOW}.`;
  const { payer, per } = limit;
  const full = { payer, per, endsAt: ends };
  return unsentAnswer(base, 'spend_limit', message, { reason: 'spend_limit', heldUntil, limit: full });
}

const ALLOW = 'To allow more, run `temporal-media money allow`';

/** Maximum time between two attempts of a call that the spend limit holds back, in milliseconds. */
const LONGEST_HOLD_MS = 15 * 60_000;

interface PendingSum {
  readonly microUnits: number;
  readonly limit: number;
  readonly done: (added: boolean) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * A log of sums in the journal. The newest sum is the current one. Only one writer can create an entry, and each adds
 * to the previous one, so no sum exceeds the limit, however many workers write. Calls that arrive during a write share
 * the next entry.
 */
class SpendBook {
  /** Newest known entry; null before the first entry. */
  private newest: { readonly n: number; readonly spent: number } | null = null;
  private pending: PendingSum[] = [];
  private writing = false;

  constructor(
    private readonly journal: CreateJournal,
    private readonly log: CampaignLog,
    readonly endedAt: number,
  ) {}

  get spent(): number {
    return this.newest?.spent ?? 0;
  }

  /** Returns the current sum. */
  async read(): Promise<number> {
    await this.readNewest();
    return this.spent;
  }

  /** Returns false, and adds nothing, if the sum would exceed the limit. */
  add(microUnits: number, limit: number): Promise<boolean> {
    const added = new Promise<boolean>((done, fail) => {
      this.pending.push({ microUnits, limit, done, fail });
    });
    void this.write();
    return added;
  }

  private async write(): Promise<void> {
    if (this.writing) return;
    this.writing = true;
    while (this.pending.length > 0) {
      const group = this.pending.splice(0);
      try {
        const added = await this.writeGroup(group);
        for (const one of group) one.done(added.has(one));
      } catch (error) {
        for (const one of group) one.fail(error);
      }
    }
    this.writing = false;
  }

  /** Writes one entry for all estimates that fit. */
  private async writeGroup(group: readonly PendingSum[]): Promise<ReadonlySet<PendingSum>> {
    for (;;) {
      await this.readNewest();
      const added = new Set<PendingSum>();
      let spent = this.spent;
      for (const one of group) {
        if (spent + one.microUnits > one.limit) continue;
        spent += one.microUnits;
        added.add(one);
      }
      if (added.size === 0 || (await this.put(spent))) return added;
    }
  }

  private async readNewest(): Promise<void> {
    const n = await newestEntry(async (place) => (await this.entry(place)) !== null, this.newest?.n ?? null);
    if (n === null || n === this.newest?.n) return;
    const entry = await this.entry(n);
    if (entry === null) throw new Error(GONE);
    this.newest = { n, spent: entry.spent };
  }

  /** Returns false if another writer created the entry first. */
  private async put(spent: number): Promise<boolean> {
    const n = (this.newest?.n ?? -1) + 1;
    const record: SpendRecord = {
      v: 1,
      kind: 'spend',
      nonce: randomUUID(),
      at: new Date().toISOString(),
      spent,
    };
    const existing = await writeOnce(this.journal, this.log, n, record);
    if (existing?.kind !== 'spend') throw new Error(GONE);
    this.newest = { n, spent: existing.spent };
    return existing.nonce === record.nonce;
  }

  private async entry(n: number): Promise<SpendRecord | null> {
    const record = await this.journal.readRecord(this.log, n);
    if (record !== null && record.kind !== 'spend') throw new Error(GONE);
    return record;
  }
}

/** Returns the limits that a send counts against. @param account the limits of its account */
export function limitsOfSend(account: SpendLimits | undefined, { sent }: Send): readonly CallLimit[] {
  const labels = sent.kind === 'intent' ? sent.labels : undefined;
  return limitsOf(credentialOf(sent.account), account ?? {}, labels);
}

/**
 * Counts a new bill under the limits that its send was reserved under, in place of what the send was counted with. A
 * send that no limit counted is not counted now.
 * @param send the send as it was before the bill
 */
export async function countBill(journal: CreateJournal, send: Send, bill: Money): Promise<void> {
  const reserved = send.sent.kind === 'intent' ? (send.sent.reserved ?? []) : [];
  const { currency } = bill;
  // The limits have the estimate's currency.
  if (reserved.length === 0 || currency !== estimateOfSend(send)?.currency) return;
  const before = billedFor(send) ?? (wasCharged(send) ? estimateOfSend(send) : null);
  const counted = before?.currency === currency ? before.microUnits : 0;
  await spendBooksOf(journal).counted(reserved, { microUnits: bill.microUnits - counted, currency });
}

async function allowancesIn(journal: CreateJournal, log: CampaignLog): Promise<readonly AllowanceRecord[]> {
  const found: AllowanceRecord[] = [];
  for (;;) {
    const record = await journal.readRecord(log, found.length);
    if (record?.kind !== 'allowance') return found;
    found.push(record);
  }
}

const GONE =
  'The journal no longer contains what an account has spent: it was replaced or restored from an older copy.';
