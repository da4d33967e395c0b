import { type OpenedRow } from '../../domain/campaign/activities';
import { type Lane } from './lane';

/** Rows that were begun before, by a lane that is gone or by an earlier run, come first: what is bought is paid for. */
export function seekBegun(lane: Lane, now: number): void {
  for (const lease of lane.pages.all()) {
    if (lease.sought || lease.opened === null) continue;
    lease.sought = true;
    lease.opened.rows.forEach((row, index) => {
      if (isSought(row) && lease.isUnbegun(index)) lane.begin(lease, index, now);
    });
  }
}

/** Of a row with another text only what is on no books: it is looked up to be put there. */
function isSought({ begun, bought = 0, changed }: OpenedRow): boolean {
  if (begun === undefined) return false;
  return changed !== true || bought > 0;
}
