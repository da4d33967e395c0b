import { given } from '../json';
import { fairnessValue } from '../money';
import { type CampaignInput } from './plan';

/** Pause after the service had no capacity and sent no Retry-After, in milliseconds. */
const COOL_DOWN_MS = 5_000;

/**
 * Limits how many calls can be in flight for one account and model. The limit grows by one for every full round of
 * successes. When the service has no capacity (429, capacity), the limit is halved immediately, and nothing starts for
 * a while.
 */
export class AdaptiveLimit {
  private limit: number;
  /** Workflow time in milliseconds. Nothing starts before it. */
  private notBefore = 0;

  /** @param share the fraction of the ceiling that the service most recently accepted */
  constructor(
    private ceiling: number,
    share = 1,
  ) {
    this.limit = Math.max(1, Math.min(1, share) * ceiling);
  }

  /** Returns how many more calls may start at `now` while `inFlight` calls are in flight. */
  room(inFlight: number, now: number): number {
    return now < this.notBefore ? 0 : Math.max(0, Math.floor(this.limit) - inFlight);
  }

  opensAt(): number {
    return this.notBefore;
  }

  /** Sets the ceiling. A limit that is at its ceiling follows it; a reduced limit grows back on its own. */
  setCeiling(ceiling: number): void {
    this.limit = this.limit >= this.ceiling ? ceiling : Math.min(this.limit, ceiling);
    this.ceiling = ceiling;
  }

  onSuccess(): void {
    if (this.limit < this.ceiling) this.limit = Math.min(this.ceiling, this.limit + 1 / this.limit);
  }

  /** Handles a lack of capacity. `until` is the service's Retry-After in workflow time, which is never shortened. */
  onNoRoom(inFlight: number, now: number, until: number | null): void {
    // Only the first refusal in a burst halves the limit, because the other calls had already been sent.
    if (now >= this.notBefore) this.limit = Math.max(1, Math.min(this.limit, Math.max(1, inFlight)) / 2);
    this.notBefore = Math.max(this.notBefore, until ?? now + COOL_DOWN_MS);
  }

  /** Returns the limit as a fraction of its ceiling; 1 if it is not reduced. */
  share(): number {
    return this.ceiling === 0 ? 1 : Math.min(1, this.limit / this.ceiling);
  }
}

/**
 * Bounds for the number of rows per batch: enough rows to make the batch's poll loop worthwhile, and few enough that
 * the batch ends soon.
 */
const LEAST_ROWS = 100;
const MOST_ROWS = 1_250;

export function rowsOfBatch({ rowsPerBatch }: CampaignInput, concurrency: number): number {
  return rowsPerBatch ?? Math.min(MOST_ROWS, Math.max(LEAST_ROWS, 4 * concurrency));
}

/**
 * Returns the maximum number of open batches: enough to use the full concurrency, half as many again for batches whose
 * last rows are ending, and a few more.
 */
export function windowSize(input: CampaignInput, concurrency: number): number {
  return Math.ceil((1.5 * concurrency) / (input.rowsPerBatch ?? MOST_ROWS)) + 4;
}

/** Maximum rows per activity. A lookup sends nothing, so rows that were already started can share a large group. */
export const ROWS_PER_ACTIVITY = { create: 25, lookUp: 500 } as const;

/** Another batch is opened when the open batches have fewer waiting rows than this. */
export const FEW_AT_HAND = 150;

/**
 * Divides a campaign's concurrency among its batches, oldest first, so that the oldest batch ends soon. A batch never
 * gains rows, so it never has more in flight than its slots or its remaining rows. Slots beyond its remaining rows
 * count as free, but they are not taken away, because sending orders adds events to two histories.
 * @param holders for each batch, its slots and the number of its rows that are in flight or could be if it had enough
 * slots
 * @returns slots in the order of the batches; the total that they can use never exceeds the concurrency
 */
export function shareSlots(
  holders: readonly { readonly slots: number; readonly left: number }[],
  concurrency: number,
): number[] {
  const used = holders.map(({ slots, left }) => Math.min(slots, left));
  const slots = holders.map((holder) => holder.slots);
  let room = concurrency - used.reduce((sum, held) => sum + held, 0);
  for (let at = used.length - 1; at >= 0 && room < 0; at -= 1) {
    const less = Math.min(used[at] as number, -room);
    if (less > 0) slots[at] = (used[at] as number) - less;
    room += less;
  }
  // Fewer slots than `leastRaise` are granted only if they are all that a batch needs.
  const leastRaise = Math.ceil(concurrency / 100);
  holders.forEach(({ left }, at) => {
    const held = used[at] as number;
    const more = Math.min(room, left - held);
    if (more <= 0 || (more < leastRaise && held + more < left)) return;
    slots[at] = held + more;
    room -= more;
  });
  return slots;
}

/**
 * Longest fairness key that a Temporal server accepts, in UTF-8 bytes. With a longer one, no batch would ever start.
 */
const MAX_BYTES = 64;
/** Length of the suffix: `~` and sixteen digits. */
const SUFFIX_BYTES = 17;

/**
 * Returns the campaign's id. If it is too long, returns as many of its characters as fit, followed by a hash of the
 * whole id.
 */
export function fairnessKeyOf(campaign: string): string {
  if (beginning(campaign, MAX_BYTES) === campaign) return campaign;
  return `${beginning(campaign, MAX_BYTES - SUFFIX_BYTES)}~${hash(campaign, 0)}${hash(campaign, 1)}`;
}

function beginning(text: string, maxBytes: number): string {
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytes > maxBytes) break;
    kept += character;
  }
  return kept;
}

/** Returns an FNV-1a hash of the text's UTF-16 units as eight hex digits. Collisions are harmless. */
function hash(text: string, seed: number): string {
  let value = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return (value >>> 0).toString(16).padStart(8, '0');
}

/** Returns the priority of a campaign's batches, with the key by which task queues share their capacity fairly. */
export function batchPriority(
  { fairness = 'campaign', fairnessWeight, labels }: CampaignInput,
  campaign: string,
  priorityKey: number | undefined,
) {
  const shared = fairness === 'campaign' ? undefined : fairnessValue(fairness, labels);
  return { fairnessKey: fairnessKeyOf(shared ?? campaign), ...given({ priorityKey, fairnessWeight }) };
}
