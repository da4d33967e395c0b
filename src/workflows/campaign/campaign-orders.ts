import { type LaneEntry } from '../../domain/campaign/lane-entry';
import { type Campaign } from './campaign';
import { type Orders } from './campaign-lanes';

/** What a lane is told: whole state, no history. @param last no page follows */
export function ordersFor(
  { book, paused, overdrawn, plan, stop }: Campaign,
  entry: LaneEntry,
  concurrency: number,
  last: boolean,
): Orders {
  return {
    leases: book.of(entry.lane).map(({ lease, index, page, generation, done }) => ({
      lease,
      index,
      page,
      generation,
      done,
    })),
    last,
    concurrency,
    createsPerSecond: plan?.createsPerSecond ?? null,
    paused,
    stop,
    granted: entry.granted,
    freeze: entry.frozenBy !== null || overdrawn,
    segmentsSeen: entry.segmentsSeen,
  };
}
