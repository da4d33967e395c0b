import { type RowSet } from './row-set';

/**
 * The book of a campaign: which batches are open, what each of them may spend, and what all closed ones have cost. A log of
 * whole states in the create journal, of which the newest counts. Only one writer wins an entry, and each follows from the
 * one before it by a rule below, so that `closed + granted` never exceeds the budget, whichever workflows live.
 */
export interface BookEntry {
  /** Micro-units that all closed batches have cost, and what the results held before there was a book. */
  readonly closed: number;
  /** Batches that may send, by their numbers, and what each may spend in micro-units; null without a budget. */
  readonly open: readonly (readonly [batch: number, granted: number | null])[];
  /** The number of the next batch: none is given out twice. */
  readonly next: number;
}

export function emptyBook(before: number): BookEntry {
  return { closed: before, open: [], next: 0 };
}

/** Micro-units that no batch may spend yet; null without a budget. */
export function freeOf({ closed, open }: BookEntry, budget: number | null): number | null {
  if (budget === null) return null;
  let free = budget - closed;
  for (const [, granted] of open) {
    // It was opened when there was no budget, and may spend whatever its rows cost.
    if (granted === null) return 0;
    free -= granted;
  }
  return Math.max(0, free);
}

/** One more open batch, with as much of what it wants as is free. */
export function opened(entry: BookEntry, want: number, budget: number | null): BookEntry {
  const { open, next } = entry;
  return { ...entry, open: [...open, [next, atMostFree(entry, want, budget)]], next: next + 1 };
}

/** More money for an open batch; undefined where it is not open, or nothing is free. */
export function raised(
  entry: BookEntry,
  batch: number,
  want: number,
  budget: number | null,
): BookEntry | undefined {
  const before = grantedTo(entry, batch);
  const more = atMostFree(entry, want, budget);
  // Without a budget it may spend whatever its rows cost already.
  if (typeof before !== 'number' || more === null || more === 0) return undefined;
  const open = entry.open.map((one) => (one[0] === batch ? ([batch, before + more] as const) : one));
  return { ...entry, open };
}

/**
 * A batch that may send no more: what it has cost takes the place of what it might spend.
 * @param deducted what closed batches were charged for before, and has turned out to have cost nothing
 * @returns undefined where it is not open
 */
export function closed(
  entry: BookEntry,
  batch: number,
  spent: number,
  deducted: number,
): BookEntry | undefined {
  if (grantedTo(entry, batch) === undefined) return undefined;
  const open = entry.open.filter(([number]) => number !== batch);
  return { ...entry, open, closed: entry.closed + spent - deducted };
}

/** What a batch may spend; undefined where it is not open. */
export function grantedTo({ open }: BookEntry, batch: number): number | null | undefined {
  return open.find(([number]) => number === batch)?.[1];
}

/** Whether what this batch has cost is in `closed`, for good. One that is not open may also be one of later. */
export function isClosed(entry: BookEntry, batch: number): boolean {
  return batch < entry.next && grantedTo(entry, batch) === undefined;
}

function atMostFree(entry: BookEntry, want: number, budget: number | null): number | null {
  const free = freeOf(entry, budget);
  return free === null ? null : Math.max(0, Math.min(want, free));
}

/** One log of records in the create journal: numbers from 0, each written once. */
export interface CampaignLog {
  readonly namespace: string;
  readonly name: string;
}

interface Written {
  readonly v: 1;
  /** ISO 8601. */
  readonly at: string;
}

/** Entry n of the book. */
export interface BookRecord extends Written, BookEntry {
  readonly kind: 'book';
  /** Tells the activity that wrote it from any other: a retry finds what it wrote. */
  readonly nonce: string;
}

/** What a successor has to look at. A batch without it was never started. */
export interface BatchRecord extends Written {
  readonly kind: 'batch';
  readonly nonce: string;
  readonly rows: readonly RowSet[];
}

/** Which run of the batch's workflow may send: one that was reset knows nothing of what the run before has spent. */
export interface OwnerRecord extends Written {
  readonly kind: 'owner';
  readonly run: string;
}

/** The batch sends nothing more. */
export interface BatchFence extends Written {
  readonly kind: 'fence';
  readonly nonce: string;
}

/** What was charged for this send attempt has cost nothing, and is given back once. */
export interface FreeRecord extends Written {
  readonly kind: 'free';
  /** The payer with whose closing it is given back. */
  readonly by: string;
  /** Whether that closing takes it off what closed batches have cost: false where the payer leaves it out by itself. */
  readonly deducts: boolean;
}

export type CampaignRecord = BookRecord | BatchRecord | OwnerRecord | BatchFence | FreeRecord;

/** Entries of a campaign's book, from 0. */
export function bookLog(namespace: string, campaign: string): CampaignLog {
  return { namespace, name: `book/${campaign}` };
}

/** Of a batch: its rows. */
export function batchLog(namespace: string, payer: string): CampaignLog {
  return { namespace, name: `batch/${payer}` };
}

export function ownerLog(namespace: string, payer: string): CampaignLog {
  return { namespace, name: `owner/${payer}` };
}

export function fenceLog(namespace: string, payer: string): CampaignLog {
  return { namespace, name: `fence/${payer}` };
}

/** Numbers are send attempts of the creation key. */
export function freeLog(namespace: string, creationKey: string): CampaignLog {
  return { namespace, name: `free/${creationKey}` };
}

/** Workflow id of a batch, and the payer that its intents name. */
export function batchWorkflowId(campaign: string, batch: number): string {
  return `${campaign}${BATCH}${batch}`;
}

const BATCH = '/batch/';

/** The number of a batch of this campaign; undefined for any other payer. */
export function batchNumber(campaign: string, payer: string): number | undefined {
  const number = payer.slice(campaign.length + BATCH.length);
  return /^\d+$/.test(number) && payer === batchWorkflowId(campaign, Number(number))
    ? Number(number)
    : undefined;
}
