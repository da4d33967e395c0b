import { type LaneEntry } from './lane-entry';
import { type LeaseBook } from './lease-book';

/** Gives pages to lanes that have room: one each in turn, so that a small campaign keeps all its lanes busy. */
export function lendPages(book: LeaseBook, lanes: readonly LaneEntry[]): void {
  for (let lent = true; lent;) {
    lent = false;
    for (const entry of lanes) {
      const wants = entry.lives === 0 ? book.of(entry.lane).length < 2 : entry.room > 0;
      if (!wants || !book.hasPages()) continue;
      book.lend(entry.lane);
      entry.room -= 1;
      lent = true;
    }
  }
}
