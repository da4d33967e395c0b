import { type CallWait } from '../call-wait';
import { type ActiveRow, type LaneReport } from './messages';

/** What the parent knows of a lane. Plain data: it survives continue-as-new. Times are workflow time in milliseconds. */
export interface LaneEntry {
  readonly lane: number;
  /** Number of the newest order that was sent. */
  ordersN: number;
  granted: number | null;
  /** Number of the order that froze it; null when it is not frozen. */
  frozenBy: number | null;
  reportN: number;
  ordersSeen: number;
  segmentsSeen: number;
  committed: number;
  needs: number | null;
  room: number;
  inFlight: number;
  settling: number;
  waiting: number;
  held: CallWait | null;
  sample: readonly ActiveRow[];
  lastReportAt: number;
  /** Micro-units of the segments that the parent has: what a next life of this lane has spent already. */
  booked: number;
  /** How often it was started. */
  lives: number;
}

/** What is known of a life of a lane that has not said anything yet. */
const UNHEARD = {
  frozenBy: null,
  reportN: 0,
  ordersSeen: 0,
  needs: null,
  room: 0,
  inFlight: 0,
  settling: 0,
  waiting: 0,
  held: null,
  sample: [],
} as const;

export function newLane(lane: number, now: number, budgeted: boolean): LaneEntry {
  return {
    lane,
    ordersN: 0,
    granted: budgeted ? 0 : null,
    ...UNHEARD,
    segmentsSeen: 0,
    committed: 0,
    lastReportAt: now,
    booked: 0,
    lives: 0,
  };
}

/** A life was started. Its first report may have come before the server said so, and is not to count as an older life's. */
export function begun(entry: LaneEntry, life: number): void {
  entry.lives = Math.max(entry.lives, life);
}

/** A lane that is at a later life than the parent knows: the parent was reset. Its segments have numbers of their own. */
export function catchUp(entry: LaneEntry, life: number): void {
  if (life > 1) entry.segmentsSeen = Math.max(entry.segmentsSeen, firstSegmentOf(life));
  if (life > entry.lives) entry.reportN = 0;
  entry.lives = life;
}

/** Numbers of segments that no late report of an earlier life can have. */
function firstSegmentOf(life: number): number {
  return life * 1_000_000;
}

/** What a report says of the lane as a whole; its segments are the book's. */
export function noteReport(entry: LaneEntry, report: LaneReport, now: number): void {
  const { n, ordersSeen, committed, needs, room, inFlight, settling, waiting, held, sample } = report;
  Object.assign(entry, {
    reportN: n,
    ordersSeen,
    committed,
    needs,
    room,
    inFlight,
    settling,
    waiting,
    held,
    sample,
  });
  entry.lastReportAt = now;
}

/**
 * The lane is gone: another life of it begins on its open pages, with the money that stands on its books. What else it
 * bought is found in the journal; what it might have bought besides is nobody's, as a parent that was reset may have
 * given it to another lane.
 */
export function bury(entry: LaneEntry, now: number): void {
  if (entry.granted !== null) entry.granted = entry.booked;
  entry.segmentsSeen = firstSegmentOf(entry.lives + 1);
  Object.assign(entry, UNHEARD, { committed: entry.booked, lastReportAt: now });
}
