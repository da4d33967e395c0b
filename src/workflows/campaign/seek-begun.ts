import { type Lane } from './lane';

/** Rows that were begun before, by a lane that is gone or by an earlier run, come first: what is bought is paid for. */
export function seekBegun(lane: Lane, now: number): void {
  for (const lease of lane.pages.all()) {
    if (lease.sought || lease.opened === null) continue;
    lease.sought = true;
    lease.opened.rows.forEach(({ begun, changed }, index) => {
      if (begun !== undefined && changed !== true && lease.isUnbegun(index)) lane.begin(lease, index, now);
    });
  }
}
