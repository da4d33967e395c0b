import { type RowSet } from './row-sets';

/**
 * An entry of a campaign's book: the open batches, the amount that each may spend, and the cost of all closed batches.
 * The book is a log in the create journal. Each entry contains the complete state, and the newest one is current. Only
 * one writer can create a given entry, and each entry is derived from the previous one by one of the rules below. So
 * `closed + billed + granted` exceeds the budget only if bills are dearer than their estimates, no matter which
 * workflows are running.
 */
export interface BookEntry {
  /** Estimated cost of all closed batches, and cost of results from before the book existed, in micro-units. */
  readonly closed: number;
  /** How much more than their estimates all sends cost, according to the bills that were last counted. In micro-units. */
  readonly billed: number;
  /** Batches that may send, by number, and the amount that each may spend in micro-units; null without a budget. */
  readonly open: readonly (readonly [batch: number, granted: number | null])[];
  /** Number of the next batch. A number is never used twice. */
  readonly next: number;
}

export function emptyBook(before: number): BookEntry {
  return { closed: before, billed: 0, open: [], next: 0 };
}

/** Returns the amount that is not granted to any batch, in micro-units, or null without a budget. */
export function freeOf(entry: BookEntry, budget: number | null): number | null {
  if (budget === null) return null;
  // The batch was opened without a budget and may spend whatever its rows cost.
  if (entry.open.some(([, granted]) => granted === null)) return 0;
  return Math.max(0, budget - committedBy(entry));
}

/** Returns by how much bills have raised the cost of a campaign beyond its budget, in micro-units; 0 if not. */
export function overBudget(entry: BookEntry, budget: number | null): number {
  if (budget === null || entry.billed <= 0) return 0;
  return Math.max(0, Math.min(entry.billed, committedBy(entry) - budget));
}

function committedBy({ closed, billed, open }: BookEntry): number {
  return open.reduce((sum, [, granted]) => sum + (granted ?? 0), closed + billed);
}

/** Opens another batch with a grant of `want`, or of the free amount if that is less. */
export function opened(entry: BookEntry, want: number, budget: number | null): BookEntry {
  const { open, next } = entry;
  return { ...entry, open: [...open, [next, atMostFree(entry, want, budget)]], next: next + 1 };
}

/** Raises an open batch's grant. Returns undefined if the batch is not open or nothing is free. */
export function raised(
  entry: BookEntry,
  batch: number,
  want: number,
  budget: number | null,
): BookEntry | undefined {
  const before = grantedTo(entry, batch);
  const more = atMostFree(entry, want, budget);
  // Without a budget, the batch may already spend whatever its rows cost.
  if (typeof before !== 'number' || more === null || more === 0) return undefined;
  const open = entry.open.map((one) => (one[0] === batch ? ([batch, before + more] as const) : one));
  return { ...entry, open };
}

/**
 * Closes a batch, which may then no longer send. Its cost replaces its grant.
 * @param returned earlier charges to closed batches that turned out to have cost nothing, and charges that were given
 *   back although there is a bill
 * @returns undefined if the batch is not open
 */
export function closed(
  entry: BookEntry,
  batch: number,
  spent: number,
  { deducted, billed }: Returned,
): BookEntry | undefined {
  if (grantedTo(entry, batch) === undefined) return undefined;
  const open = entry.open.filter(([number]) => number !== batch);
  return { ...entry, open, closed: entry.closed + spent - deducted, billed: entry.billed + billed };
}

/** Charges that the close of a batch gives back, in micro-units. */
export interface Returned {
  /** Charged to closed batches. */
  readonly deducted: number;
  /**
   * Charges of sends that have a bill. The bills were counted in excess of these charges, and count in full without
   * them.
   */
  readonly billed: number;
}

/**
 * Replaces the amount by which bills exceed their estimates.
 * @param was the amount when the count began. It has changed if a charge with a bill was given back in the meantime; the
 *   count is then repeated.
 * @returns undefined if the entry has changed, or the amount has not
 */
export function billedAgain(entry: BookEntry, was: number, billed: number): BookEntry | undefined {
  return entry.billed !== was || billed === was ? undefined : { ...entry, billed };
}

/** Returns the amount that a batch may spend, or undefined if it is not open. */
export function grantedTo({ open }: BookEntry, batch: number): number | null | undefined {
  return open.find(([number]) => number === batch)?.[1];
}

/**
 * Whether this batch's cost is permanently included in `closed`. A batch that is not open might not have been opened
 * yet.
 */
export function isClosed(entry: BookEntry, batch: number): boolean {
  return batch < entry.next && grantedTo(entry, batch) === undefined;
}

function atMostFree(entry: BookEntry, want: number, budget: number | null): number | null {
  const free = freeOf(entry, budget);
  return free === null ? null : Math.max(0, Math.min(want, free));
}

/** A log of records in the create journal. The records are numbered from 0, and each is written only once. */
export interface CampaignLog {
  /** Temporal namespace of the campaign. */
  readonly namespace: string;
  /** Name of the log within the namespace. */
  readonly name: string;
}

interface Written {
  readonly v: 1;
  /** ISO 8601. */
  readonly at: string;
}

export interface BookRecord extends Written, BookEntry {
  readonly kind: 'book';
  /** Identifies the activity that wrote the entry, so that a retry recognizes its own entry. */
  readonly nonce: string;
}

/** A batch's rows, which its successor has to check. A batch without this record was never started. */
export interface BatchRecord extends Written {
  readonly kind: 'batch';
  readonly nonce: string;
  readonly rows: readonly RowSet[];
}

/**
 * The run of a batch's workflow that is allowed to send. It is recorded because a run after a reset does not know what
 * the previous run has spent.
 */
export interface OwnerRecord extends Written {
  readonly kind: 'owner';
  readonly run: string;
}

interface BatchFence extends Written {
  readonly kind: 'fence';
  readonly nonce: string;
}

/** Records that a send turned out to cost nothing. Its charge is returned once. */
export interface FreeRecord extends Written {
  readonly kind: 'free';
  /** The payer that returns the charge when it closes. */
  readonly by: string;
  /**
   * Whether closing the payer deducts the charge, which the cost of closed batches or its own report includes; false if
   * `media.settleBatch` leaves the charge out.
   */
  readonly deducts: boolean;
}

/** An entry for a payer's spending within one window of a limit. */
export interface SpendRecord extends Written {
  readonly kind: 'spend';
  readonly nonce: string;
  /** Sum of the costs from the beginning of the window up to this entry, in micro-units. Bills replace estimates. */
  readonly spent: number;
}

/** More money for a limit, as allowed by a person. */
export interface AllowanceRecord extends Written {
  readonly kind: 'allowance';
  /** Random, so that a writer recognizes its own record. */
  readonly nonce: string;
  /** Added to the limit of each window, in micro-units. 0 takes back all earlier allowances. */
  readonly microUnits: number;
  /** ISO 8601. From then on, the limit is what it was. */
  readonly until: string;
  /** The person who allowed it. */
  readonly by: string;
  /** The reason, in that person's words. */
  readonly reason: string;
}

/** A record in a campaign's logs (its book, its batches and their owners) or in an account's spend log. */
export type CampaignRecord =
  | BookRecord
  | BatchRecord
  | OwnerRecord
  | BatchFence
  | FreeRecord
  | SpendRecord
  | AllowanceRecord;

/** Returns the log of a campaign's book. */
export function bookLog(namespace: string, campaign: string): CampaignLog {
  return { namespace, name: `book/${campaign}` };
}

export function batchLog(namespace: string, payer: string): CampaignLog {
  return { namespace, name: `batch/${payer}` };
}

export function ownerLog(namespace: string, payer: string): CampaignLog {
  return { namespace, name: `owner/${payer}` };
}

export function fenceLog(namespace: string, payer: string): CampaignLog {
  return { namespace, name: `fence/${payer}` };
}

/** Returns the log of the sends under a creation key that cost nothing. Each record has the same number as its send. */
export function freeLog(namespace: string, creationKey: string): CampaignLog {
  return { namespace, name: `free/${creationKey}` };
}

/**
 * Returns the spend log of a limit's payer for a window and currency. All namespaces share it, because they spend the
 * same money.
 */
export function spendLog(payer: string, currency: string, window: string): CampaignLog {
  return { namespace: '', name: `spend/${payer}/${currency}/${window}` };
}

/** Returns the log of what persons have allowed a limit's payer. */
export function allowanceLog(payer: string, currency: string): CampaignLog {
  return { namespace: '', name: `allowance/${payer}/${currency}` };
}

/** Returns a batch's workflow id. The batch's intents name it as their payer. */
export function batchWorkflowId(campaign: string, batch: number): string {
  return `${campaign}${BATCH}${batch}`;
}

const BATCH = '/batch/';

/** Returns the campaign that a batch belongs to, from the batch's workflow id. */
export function campaignOfBatch(workflowId: string): string {
  const at = workflowId.lastIndexOf(BATCH);
  return at < 0 ? workflowId : workflowId.slice(0, at);
}

/** Returns the number of a batch of this campaign, or undefined for any other payer. */
export function batchNumber(campaign: string, payer: string): number | undefined {
  const number = payer.slice(campaign.length + BATCH.length);
  return /^\d+$/.test(number) && payer === batchWorkflowId(campaign, Number(number))
    ? Number(number)
    : undefined;
}

/** An open batch, according to its last report. Amounts are in micro-units. */
export interface BatchNeeds {
  readonly batch: number;
  /**
   * How much more money its cheapest waiting row needs, and how much more all of its waiting rows need; null if it is
   * not waiting for money.
   */
  readonly needs: { readonly row: number; readonly all: number } | null;
  /** Rows in flight, which might return money when they end. */
  readonly settling: number;
}

/**
 * Decides how to use a campaign's free money. The campaign is out of money if every open batch is waiting for money, no
 * row in flight can return any, and the free amount is too small for any waiting row. Its batches then end their
 * unbought rows as `skipped_budget` (workflows/campaign/unbought-rows).
 * @param batches batches that have not ended and whose last report reflects their current grant
 * @param open number of all open batches
 * @returns which batch's grant to raise and by how much, or that the money is spent; undefined to wait
 */
export function nextGrant(
  batches: readonly BatchNeeds[],
  open: number,
  free: number,
):
  | { readonly do: 'raise'; readonly batch: number; readonly want: number }
  | { readonly do: 'stop' }
  | undefined {
  const waiting = batches.flatMap(({ batch, needs, settling }) =>
    needs === null ? [] : [{ batch, needs, settling }],
  );
  const affordable = waiting.find(({ needs }) => needs.row <= free);
  if (affordable !== undefined) return { do: 'raise', batch: affordable.batch, want: affordable.needs.all };
  const isSpent = open > 0 && waiting.length === open && waiting.every(({ settling }) => settling === 0);
  return isSpent ? { do: 'stop' } : undefined;
}

/** How many rows had been skipped, and how much money was free, when skipped rows were last resumed. */
export interface SkippedRound {
  readonly skipped: number;
  readonly free: number;
}

/**
 * Whether to resume skipped rows because money has become free. They are resumed as long as the cheapest one is
 * affordable and each round buys some rows. Amounts are in micro-units. `free` is null without a budget, and `cheapest`
 * is null if no row was skipped.
 */
export function resumesSkipped(
  skipped: number,
  free: number | null,
  cheapest: number | null,
  last: SkippedRound | null,
): free is number {
  if (free === null || skipped === 0 || cheapest === null || free < cheapest) return false;
  return last === null || skipped < last.skipped || free > last.free;
}
