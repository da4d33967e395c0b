import { type CampaignInput } from './plan';

/** Pause after the service had no capacity and named no time, in milliseconds. */
const COOL_DOWN_MS = 5_000;

/**
 * How many calls of one (account, model) may be in flight: grows by one for every full round of successes and halves
 * at once when the service has no capacity (429, capacity), then pauses before it starts anything.
 */
export class AdaptiveLimit {
  private limit: number;
  /** Workflow time in milliseconds; nothing starts before. */
  private notBefore = 0;

  /** @param share the part of the ceiling that the service accepted before */
  constructor(
    private ceiling: number,
    share = 1,
  ) {
    this.limit = Math.max(1, Math.min(1, share) * ceiling);
  }

  /** How many more may start at `now` while `inFlight` are under way. */
  room(inFlight: number, now: number): number {
    return now < this.notBefore ? 0 : Math.max(0, Math.floor(this.limit) - inFlight);
  }

  opensAt(): number {
    return this.notBefore;
  }

  /** A limit that was never reduced follows its ceiling; a reduced one grows by itself. */
  setCeiling(ceiling: number): void {
    this.limit = this.limit >= this.ceiling ? ceiling : Math.min(this.limit, ceiling);
    this.ceiling = ceiling;
  }

  onSuccess(): void {
    if (this.limit < this.ceiling) this.limit = Math.min(this.ceiling, this.limit + 1 / this.limit);
  }

  /** `until`: the service's own Retry-After in workflow time, never shortened. */
  onNoRoom(inFlight: number, now: number, until: number | null): void {
    // Only the first refusal of a burst halves the limit: the other calls were sent before it was known.
    if (now >= this.notBefore) this.limit = Math.max(1, Math.min(this.limit, Math.max(1, inFlight)) / 2);
    this.notBefore = Math.max(this.notBefore, until ?? now + COOL_DOWN_MS);
  }

  /** The limit as a part of its ceiling; 1 when it was never reduced. */
  share(): number {
    return this.ceiling === 0 ? 1 : Math.min(1, this.limit / this.ceiling);
  }
}

/** Bounds for the rows of one batch: enough to make its poll loop worthwhile, and few enough that it ends soon. */
const LEAST_ROWS = 100;
const MOST_ROWS = 1_250;

export function rowsOfBatch({ rowsPerBatch }: CampaignInput, concurrency: number): number {
  return rowsPerBatch ?? Math.min(MOST_ROWS, Math.max(LEAST_ROWS, 4 * concurrency));
}

/** Maximum open batches: those that fill the concurrency, half as many whose last rows end, and a few more. */
export function windowSize(input: CampaignInput, concurrency: number): number {
  return Math.ceil((1.5 * concurrency) / (input.rowsPerBatch ?? MOST_ROWS)) + 4;
}

/** Maximum rows of one activity. A lookup sends nothing, so that rows that were started before can share a large group. */
export const ROWS_PER_ACTIVITY = { create: 25, lookUp: 500 } as const;

/** Another batch is opened when open batches have fewer waiting rows than this. */
export const FEW_AT_HAND = 150;

/**
 * Shares the concurrency of a campaign among its batches, the oldest first, so that it ends soon. The rows of a batch
 * only become fewer, so it never has more in flight than its slots or its remaining rows. Slots beyond those
 * rows count as free but are not taken from it, because an order adds history to two workflows.
 * @param holders slots of each batch, and its rows that are in flight or may be as soon as it has slots
 * @returns slots in the order of the batches; what they can use of them is never more than the concurrency
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
  // Fewer slots than `worth` are granted only when they are all that a batch lacks.
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

/** Longest fairness key that a Temporal server accepts, in bytes of UTF-8: with a longer one no batch would ever start. */
const MAX_BYTES = 64;
/** `~` and sixteen digits. */
const SUFFIX_BYTES = 17;

/** The campaign's id; for a long id as many whole characters as fit, and a hash of the whole id. */
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

/** FNV-1a over the text's UTF-16 units, as eight digits; each seed gives another hash. Nothing is gained by a collision. */
function hash(text: string, seed: number): string {
  let value = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return (value >>> 0).toString(16).padStart(8, '0');
}
