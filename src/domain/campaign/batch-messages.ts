import { type CreatePolicy } from '../create-policy';
import { type RejectReason } from '../failure-table';
import { idCheck, taskQueueCheck } from '../names';
import {
  anyText,
  arrayOf,
  type Check,
  durationMs,
  flag,
  isObject,
  messageOf,
  must,
  name,
  number,
  oneOf,
  optional,
  orNull,
  recordOf,
  whole,
} from '../shape';
import { type CallWait } from '../video-state';
import { type MediaQueues } from '../workflow-inputs';
import { type SegmentTotals, segmentsCheck } from './results';
import { type RowSet, rowSetsCheck } from './row-sets';

/**
 * Messages between a campaign and its batches: whole states, numbered. A newer one replaces an older one, so that a
 * signal may be duplicated or late.
 */

/** Rows under way in a report. */
export const SAMPLE_ROWS = 3;

/** Settings that every batch of a campaign gets once. */
export interface BatchSettings {
  /** How long to wait for each video, in milliseconds. */
  readonly waitForMs: number;
  readonly maxAttempts: number;
  readonly queues: Required<MediaQueues>;
  /** Number of history events after which a batch hands back. */
  readonly eventsPerRun: number;
  readonly account?: string;
  readonly policy?: CreatePolicy;
}

/** Input of the workflow `campaignBatch`. Started by `runCampaign` only. */
export interface BatchInput {
  readonly campaign: string;
  /** First run id of the campaign: reports go to that campaign, and not to a later workflow with its id. */
  readonly campaignRun: string;
  readonly batch: number;
  readonly rows: readonly RowSet[];
  readonly settings: BatchSettings;
  readonly orders: BatchOrders;
  /** Part of its slots that the service accepted last, per (account, model); 1 when it accepted all. */
  readonly limits: LimitShares;
}

export type LimitShares = { readonly [accountModel: string]: number };

/** Campaign to batch. */
export interface BatchOrders {
  /** Increases with every order, also across resets of the campaign. */
  readonly n: number;
  /** Maximum number of rows in flight. */
  readonly slots: number;
  /**
   * Rate limit of the create queue; null without one. With a limit each create is an activity of its own, so that the
   * server counts it.
   */
  readonly createsPerSecond: number | null;
  /** Micro-units that the book grants this batch; null without a budget. */
  readonly granted: number | null;
  /** No creates; running tasks are collected. */
  readonly paused: boolean;
  /** Ends rows that are not bought: `budget` as `skipped_budget`, `cancel` as `cancelled`. */
  readonly stop: 'budget' | 'cancel' | null;
  /** Starts nothing more; rows without a result go back to the queue. */
  readonly handBack: boolean;
}

/** Batch to campaign, by signal. */
export interface BatchReport {
  readonly campaignRun: string;
  readonly batch: number;
  readonly n: number;
  readonly inFlight: number;
  /** Rows in flight, and ended rows that are in no segment yet: their cost is not reported yet. */
  readonly settling: number;
  readonly waiting: number;
  /** The grant that the batch knows, and how much of it its rows have taken, in micro-units. */
  readonly granted: number | null;
  readonly taken: number;
  /** Estimates of the cheapest row that waits for money, and of all that may still need it; null when none waits. */
  readonly needs: { readonly row: number; readonly all: number } | null;
  /** Rows whose results are reported. */
  readonly ended: readonly RowSet[];
  readonly results: SegmentTotals;
  /** The last wait of a row where a person may have to mend something; null when no row is held up. */
  readonly held: CallWait | null;
  /** A few rows that are under way, for display. */
  readonly sample: readonly ActiveRow[];
  readonly limits: LimitShares;
}

/** Result of the workflow `campaignBatch`. */
export interface BatchResult {
  readonly report: BatchReport;
  /** Run id of the workflow: another run of the same batch, after a reset, counts its own money. */
  readonly run: string;
  /** `closed`: the book has closed the batch, or another run uses its number, so that its own totals do not count. */
  readonly why: 'done' | 'handed_back' | 'closed';
  /** Creation keys of attempts that turned out to have cost nothing, although the journal has them as bought. */
  readonly free: readonly string[];
  readonly left: readonly RowSet[];
}

export type RowPhase = 'waiting' | 'creating' | 'watching' | 'downloading' | 'generating';

export interface ActiveRow {
  readonly key: string;
  readonly phase: RowPhase;
  readonly taskId: string | null;
  readonly status: string | null;
  /** Only when the service sent a number. */
  readonly progress?: number;
  /** ISO 8601. */
  readonly since: string;
}

export const batchOrdersCheck: Check<BatchOrders> = messageOf({
  n: number,
  slots: whole(0),
  createsPerSecond: orNull(number),
  granted: orNull(number),
  paused: flag,
  stop: orNull(oneOf('budget', 'cancel')),
  handBack: flag,
});

export const batchReportCheck: Check<BatchReport> = messageOf({
  campaignRun: name(),
  batch: whole(0),
  n: number,
  inFlight: whole(0),
  settling: whole(0),
  waiting: whole(0),
  granted: orNull(number),
  taken: number,
  needs: orNull(messageOf<NonNullable<BatchReport['needs']>>({ row: number, all: number })),
  ended: rowSetsCheck,
  results: segmentsCheck,
  held: orNull(
    messageOf<CallWait>({
      why: anyText,
      until: number,
      reason: orNull(anyText as Check<RejectReason>),
      account: orNull(anyText),
    }),
  ),
  sample: arrayOf(
    messageOf<ActiveRow>({
      key: anyText,
      phase: anyText as Check<RowPhase>,
      taskId: orNull(anyText),
      status: orNull(anyText),
      progress: optional(number),
      since: anyText,
    }),
    SAMPLE_ROWS,
  ),
  limits: recordOf(number),
});

/** Only a campaign starts a batch; but any client may start any workflow. */
export const batchInputCheck: Check<BatchInput> = messageOf({
  campaign: idCheck,
  campaignRun: name(),
  batch: whole(0),
  rows: rowSetsCheck,
  settings: messageOf<BatchSettings>({
    waitForMs: durationMs,
    maxAttempts: whole(1),
    queues: messageOf<Required<MediaQueues>>({
      create: taskQueueCheck,
      poll: taskQueueCheck,
      download: taskQueueCheck,
      image: taskQueueCheck,
    }),
    eventsPerRun: whole(1),
    account: optional(name()),
    policy: optional(must<CreatePolicy>('an object', isObject)),
  }),
  orders: batchOrdersCheck,
  limits: recordOf(number),
});
