import { type CallWait } from '../call-wait';
import { type CreatePolicy } from '../create-policy';
import { type MediaQueues } from '../workflow-inputs';
import { type SegmentTotals } from './results';
import { type RowSet } from './row-set';

/**
 * What a campaign and its batches tell each other: whole states, numbered. A newer one replaces an older one, so that a
 * signal may be doubled or late.
 */

/** What every batch of a campaign is told once. */
export interface BatchSettings {
  /** Milliseconds that each video is waited for. */
  readonly waitForMs: number;
  readonly maxAttempts: number;
  readonly queues: Required<MediaQueues>;
  /** History events after which a batch hands back. */
  readonly eventsPerRun: number;
  readonly account?: string;
  readonly policy?: CreatePolicy;
}

/** Input of the workflow `campaignBatch`. Started by `runCampaign` only. */
export interface BatchInput {
  readonly campaign: string;
  /** First run id of the campaign: reports go to it, and to no other that takes its id later. */
  readonly campaignRun: string;
  readonly batch: number;
  readonly rows: readonly RowSet[];
  readonly settings: BatchSettings;
  readonly orders: BatchOrders;
  /** What part of its slots the service took last, per (account, model); 1 where it took all. */
  readonly limits: LimitShares;
}

export type LimitShares = { readonly [accountModel: string]: number };

/** Campaign to batch. */
export interface BatchOrders {
  /** Rises with every order, over resets of the campaign too. */
  readonly n: number;
  /** Rows in flight at most. */
  readonly slots: number;
  /** The cap of the create queue: each create is an activity of its own, for the server to count; null without one. */
  readonly createsPerSecond: number | null;
  /** Micro-units that the book grants this batch; null without a budget. */
  readonly granted: number | null;
  /** No creates; what runs is collected. */
  readonly paused: boolean;
  /** Rows that are not bought end: `budget` as `skipped_budget`, `cancel` as `cancelled`. */
  readonly stop: 'budget' | 'cancel' | null;
  /** Nothing more is started: what has no result is given back to the queue. */
  readonly handBack: boolean;
}

/** Batch to campaign, by signal. */
export interface BatchReport {
  readonly campaignRun: string;
  readonly batch: number;
  readonly n: number;
  readonly inFlight: number;
  /** Rows in flight, and rows that have ended and stand in no segment yet: what they cost is still to be heard. */
  readonly settling: number;
  readonly waiting: number;
  /** What the batch takes for granted, and micro-units that its rows have taken of it. */
  readonly granted: number | null;
  readonly taken: number;
  /** Estimates of the cheapest row that waits for money, and of all that may yet need it; null when none waits. */
  readonly needs: { readonly row: number; readonly all: number } | null;
  /** Rows whose results are told. */
  readonly ended: readonly RowSet[];
  readonly results: SegmentTotals;
  /** The last wait of a row where a person may have to mend something; null when nothing stands in their way. */
  readonly held: CallWait | null;
  /** A few rows that are under way, for a person who watches. */
  readonly sample: readonly ActiveRow[];
  readonly limits: LimitShares;
}

/** Result of the workflow `campaignBatch`. */
export interface BatchResult {
  readonly report: BatchReport;
  /** Run id of the workflow: another run of the same batch, after a reset, has an account of its own. */
  readonly run: string;
  /** `closed`: somebody else has closed its account or runs under its number, so that its own account says nothing. */
  readonly why: 'done' | 'handed_back' | 'closed';
  /** Creation keys of attempts that turned out to have cost nothing, although the journal has them as bought. */
  readonly free: readonly string[];
  readonly left: readonly RowSet[];
}

export type RowPhase = 'waiting' | 'creating' | 'watching' | 'downloading' | 'drawing';

export interface ActiveRow {
  readonly key: string;
  readonly phase: RowPhase;
  readonly taskId: string | null;
  readonly status: string | null;
  /** Only when the service sent a number (C2.2.4). */
  readonly progress?: number;
  /** ISO 8601. */
  readonly since: string;
}
