import { type CampaignInput } from './plan';

/** Bounds for the rows of one batch: enough to make its poll loop worthwhile, and few enough that it ends soon. */
const LEAST_ROWS = 100;
const MOST_ROWS = 1_250;

/** Maximum rows of the next batch. */
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

/** The slots and the open rows of a batch. */
export interface SlotHolder {
  /** Slots that it has. */
  readonly slots: number;
  /** Rows of it that are in flight, or may be as soon as it has slots. */
  readonly left: number;
}

/**
 * Shares the concurrency of a campaign among its batches, the oldest first, so that it ends soon. The rows of a batch
 * only become fewer, so it never has more in flight than its slots or its remaining rows. Slots beyond those
 * rows count as free but are not taken from it, because an order adds history to two workflows.
 * @returns slots in the order of the batches; what they can use of them is never more than the concurrency
 */
export function shareSlots(holders: readonly SlotHolder[], concurrency: number): number[] {
  const used = holders.map(({ slots, left }) => Math.min(slots, left));
  const slots = holders.map((holder) => holder.slots);
  let room = concurrency - used.reduce((sum, held) => sum + held, 0);
  for (let at = used.length - 1; at >= 0 && room < 0; at -= 1) {
    const less = Math.min(used[at] as number, -room);
    if (less > 0) slots[at] = (used[at] as number) - less;
    room += less;
  }
  // Fewer slots than `worth` are granted only when they are all that a batch lacks.
  const worth = Math.ceil(concurrency / 100);
  holders.forEach(({ left }, at) => {
    const held = used[at] as number;
    const more = Math.min(room, left - held);
    if (more <= 0 || (more < worth && held + more < left)) return;
    slots[at] = held + more;
    room -= more;
  });
  return slots;
}
