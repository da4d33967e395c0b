import { type RowSet } from './row-sets';

/**
 * The book of a campaign: which batches are open, what each of them may spend, and what all closed ones have cost. A
 * log of whole states in the create journal, of which the newest counts. Only one writer wins an entry, and each
 * follows from the previous one by a rule below, so that `closed + granted` never exceeds the budget, whichever
 * workflows run.
 */
export interface BookEntry {
  /** Micro-units that all closed batches have cost, and those of results from before the book existed. */
  readonly closed: number;
  /** Batches that may send, by number, and what each may spend in micro-units; null without a budget. */
  readonly open: readonly (readonly [batch: number, granted: number | null])[];
  /** The number of the next batch; no number is used twice. */
  readonly next: number;
}

export function emptyBook(before: number): BookEntry {
  return { closed: before, open: [], next: 0 };
}

/** Micro-units that are granted to no batch; null without a budget. */
export function freeOf({ closed, open }: BookEntry, budget: number | null): number | null {
  if (budget === null) return null;
  let free = budget - closed;
  for (const [, granted] of open) {
    // The batch was opened without a budget, and may spend whatever its rows cost.
    if (granted === null) return 0;
    free -= granted;
  }
  return Math.max(0, free);
}

/** Opens one more batch with a grant of `want`, as far as that is free. */
export function opened(entry: BookEntry, want: number, budget: number | null): BookEntry {
  const { open, next } = entry;
  return { ...entry, open: [...open, [next, atMostFree(entry, want, budget)]], next: next + 1 };
}

/** Raises the grant of an open batch; undefined when it is not open, or nothing is free. */
export function raised(
  entry: BookEntry,
  batch: number,
  want: number,
  budget: number | null,
): BookEntry | undefined {
  const before = grantedTo(entry, batch);
  const more = atMostFree(entry, want, budget);
  // Without a budget the batch may already spend whatever its rows cost.
  if (typeof before !== 'number' || more === null || more === 0) return undefined;
  const open = entry.open.map((one) => (one[0] === batch ? ([batch, before + more] as const) : one));
  return { ...entry, open };
}

/**
 * Closes a batch, which may send no more: its cost replaces its grant.
 * @param deducted what closed batches were charged for earlier and has turned out to have cost nothing
 * @returns undefined when the batch is not open
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

/** What a batch may spend; undefined when it is not open. */
export function grantedTo({ open }: BookEntry, batch: number): number | null | undefined {
  return open.find(([number]) => number === batch)?.[1];
}

/** Whether the cost of this batch is in `closed`, for good. A batch that is not open may also be a later one. */
export function isClosed(entry: BookEntry, batch: number): boolean {
  return batch < entry.next && grantedTo(entry, batch) === undefined;
}

function atMostFree(entry: BookEntry, want: number, budget: number | null): number | null {
  const free = freeOf(entry, budget);
  return free === null ? null : Math.max(0, Math.min(want, free));
}

/** One log of records in the create journal: numbered from 0, each written once. */
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
  /** Identifies the activity that wrote it: a retry finds its own entry. */
  readonly nonce: string;
}

/** The rows that a successor has to check. A batch without this record was never started. */
export interface BatchRecord extends Written {
  readonly kind: 'batch';
  readonly nonce: string;
  readonly rows: readonly RowSet[];
}

/** The run of the batch's workflow that may send: a run after a reset does not know what the run before has spent. */
export interface OwnerRecord extends Written {
  readonly kind: 'owner';
  readonly run: string;
}

interface BatchFence extends Written {
  readonly kind: 'fence';
  readonly nonce: string;
}

/** The charge for this send has turned out to be nothing, and is given back once. */
export interface FreeRecord extends Written {
  readonly kind: 'free';
  /** The payer whose closing gives it back. */
  readonly by: string;
  /** Whether that closing deducts it from the cost of closed batches: false when the payer leaves it out itself. */
  readonly deducts: boolean;
}

/** Entry n of what an account has spent in a window of its spend limit. */
export interface SpendRecord extends Written {
  readonly kind: 'spend';
  readonly nonce: string;
  /** Sum of the estimates, in micro-units, from the beginning of the window to this entry. */
  readonly spent: number;
}

/** An entry of the logs of a campaign: its book, its batches and their owners, or an account's spend limit. */
export type CampaignRecord = BookRecord | BatchRecord | OwnerRecord | BatchFence | FreeRecord | SpendRecord;

/** Entries of a campaign's book, from 0. */
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

/** Records are numbered by the sends of the creation key. */
export function freeLog(namespace: string, creationKey: string): CampaignLog {
  return { namespace, name: `free/${creationKey}` };
}

/** Entries of a credential's window in a currency, from 0. Shared by all namespaces, because they spend the same money. */
export function spendLog(credential: string, currency: string, window: string): CampaignLog {
  return { namespace: '', name: `spend/${credential}/${currency}/${window}` };
}

/** Workflow id of a batch, and the payer that its intents name. */
export function batchWorkflowId(campaign: string, batch: number): string {
  return `${campaign}${BATCH}${batch}`;
}

const BATCH = '/batch/';

/** The campaign of a batch, by the batch's workflow id. */
export function campaignOfBatch(workflowId: string): string {
  const at = workflowId.lastIndexOf(BATCH);
  return at < 0 ? workflowId : workflowId.slice(0, at);
}

/** The number of a batch of this campaign; undefined for any other payer. */
export function batchNumber(campaign: string, payer: string): number | undefined {
  const number = payer.slice(campaign.length + BATCH.length);
  return /^\d+$/.test(number) && payer === batchWorkflowId(campaign, Number(number))
    ? Number(number)
    : undefined;
}

/** An open batch as its last report shows it. Amounts in micro-units. */
export interface BatchNeeds {
  readonly batch: number;
  /** What the batch lacks: for its cheapest waiting row, and for all of them; null when it waits for no money. */
  readonly needs: { readonly row: number; readonly all: number } | null;
  /** Rows in flight whose end may give money back. */
  readonly settling: number;
}

/**
 * Decides what to do with the free money of a campaign. The campaign is out of money when every open batch waits for
 * some, nothing in flight can give any back, and what is free is too little for any waiting row. Its batches then end
 * their unbought rows as `skipped_budget` (workflows/campaign/unbought-rows).
 * @param batches those whose last report is of now: it knows its present grant, and the batch has not ended
 * @param open number of all open batches
 * @returns the batch whose grant to raise and by how much, or that the money is spent; undefined: wait
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

/** Skipped rows and free money when skipped rows were last resumed. */
export interface SkippedRound {
  readonly skipped: number;
  readonly free: number;
}

/**
 * Whether skipped rows are resumed because money came back: as long as the cheapest of them fits, and each round buys
 * some. Amounts in micro-units; `free` is null without a budget, `cheapest` when no row was skipped.
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
