import { type CallWait } from '../call-wait';
import { type SegmentEntry } from './results';

/**
 * What parent and lanes tell each other: whole states, numbered, repeated until the other side has seen them. A
 * duplicate or an older one changes nothing, so that a signal may be lost, doubled or late (design 4.11).
 */

/** One page that a lane works on. */
export interface PageLease {
  /** Number of the lease in its campaign, from 0. */
  readonly lease: number;
  /** SHA-256 of the plan's index artifact, and the page's number in it. */
  readonly index: string;
  readonly page: number;
  readonly generation: number;
  /** Rows whose results the parent has, as {@link packRows}: for a lane that starts again on an open page. */
  readonly done: string;
}

/** Parent to lane. */
export interface LaneOrders {
  /** Rises with every order, over resets of the parent too. */
  readonly n: number;
  /** First run id of the campaign: a lane of another one ends. */
  readonly campaignRun: string;
  /** Run id of the campaign that speaks: after a reset of it, what was said to the run before counts no more. */
  readonly parentRun: string;
  /** All pages of this lane. One that is not named any more is forgotten. */
  readonly leases: readonly PageLease[];
  /** No page will be added: a lane without pages ends. */
  readonly last: boolean;
  /** Videos in flight in this lane. */
  readonly concurrency: number;
  /** The cap of the create queue: each create is an activity of its own, for the server to count; null without one. */
  readonly createsPerSecond: number | null;
  /** No creates; what runs is collected. */
  readonly paused: boolean;
  /** Rows that are not bought end: `budget` as `skipped_budget`, `cancel` as `cancelled`. */
  readonly stop: 'budget' | 'cancel' | null;
  /** All micro-units that this lane was ever granted; null without a budget. */
  readonly granted: number | null;
  /** Unspent money is wanted back: nothing is reserved until an order without this. */
  readonly freeze: boolean;
  /** Segments up to this number are kept by the parent. */
  readonly segmentsSeen: number;
  /** Newest order that the lane was heard to have carried out; absent from parents of the first versions. */
  readonly heard?: number;
}

export interface ReportedSegment extends SegmentEntry {
  /** Number of the segment in its lane, from 1. */
  readonly seq: number;
  /** Which rows of which leases: `[lease, packRows, pageName]`. */
  readonly done: readonly (readonly [lease: number, rows: string, page: string])[];
}

export interface ReportedLease {
  readonly lease: number;
  readonly page: string;
  /** Number of its rows once all of them have ended, else null. */
  readonly done: number | null;
  /** Its rows are not known yet, so that `committed` lacks what was bought of them before. */
  readonly open?: false;
}

/** Lane to parent. */
export interface LaneReport {
  readonly lane: number;
  /** Which start of this lane it is, from 1: one that was terminated may still be heard. */
  readonly life: number;
  readonly n: number;
  readonly campaignRun: string;
  /** Number of the newest order that was carried out: its pages are open, so that `committed` holds what is bought of them. */
  readonly ordersSeen: number;
  /** Nobody was there at the last report: nothing is bought before an order comes. */
  readonly orphaned: boolean;
  /** Segments that the parent has not confirmed. */
  readonly segments: readonly ReportedSegment[];
  /** Leases that the lane holds until an order drops them. */
  readonly leases: readonly ReportedLease[];
  /** How many more pages it would take. */
  readonly room: number;
  /** Micro-units spent or reserved, of all that was granted. */
  readonly committed: number;
  /** What the lane takes for granted, and the first order of the run of the parent that it follows: absent from lanes of the first versions. */
  readonly granted?: number | null;
  readonly parentSince?: number;
  /** Estimate of the cheapest row that does not fit into what is left of the grant; null when nothing waits for money. */
  readonly needs: number | null;
  readonly inFlight: number;
  /** Rows in flight, and rows that have ended and stand in no segment yet: what they cost is still to be heard. */
  readonly settling: number;
  readonly waiting: number;
  /** The last wait of a row where a person may have to mend something; null when nothing stands in their way. */
  readonly held: CallWait | null;
  /** A few rows that are under way, for a person who watches. */
  readonly sample: readonly ActiveRow[];
}

export interface ActiveRow {
  readonly key: string;
  readonly phase: 'creating' | 'watching' | 'downloading' | 'waiting' | 'drawing';
  readonly taskId: string | null;
  readonly status: string | null;
  /** Only when the service sent a number (C2.2.4). */
  readonly progress?: number;
  /** ISO 8601. */
  readonly since: string;
}

/** Tells one page of a campaign from another: numbers of leases are given anew after a reset. */
export function pageName({ index, page }: Pick<PageLease, 'index' | 'page'>): string {
  return `${index.slice(0, 12)}/${page}`;
}
