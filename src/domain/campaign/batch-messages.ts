import { type CreatePolicy } from '../create-policy';
import { type RejectReason } from '../failure-table';
import { given } from '../json';
import { SPEND_PERIODS } from '../money';
import { idCheck, taskQueueCheck } from '../names';
import { type FullLimit } from '../paid-call';
import {
  anyText,
  arrayOf,
  type Check,
  durationMs,
  flag,
  isObject,
  messageOf,
  milliseconds,
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
import { type CampaignInput, DEFAULT_MAX_ATTEMPTS, DEFAULT_ROW_WAIT_MS } from './plan';
import { type SegmentTotals, segmentsCheck } from './results';
import { type RowSet, rowSetsCheck } from './row-sets';

/**
 * Messages between a campaign and its batches. They are numbered and contain the complete state, so a newer message
 * replaces an older one, and duplicate or late signals do no harm.
 */

/** Maximum number of rows in progress that a report shows. */
export const SAMPLE_ROWS = 3;

/** Settings that every batch of a campaign receives when it starts. */
export interface BatchSettings {
  /** How long to wait for each video, in milliseconds. */
  readonly waitForMs: number;
  readonly maxAttempts: number;
  readonly queues: Required<MediaQueues>;
  /** Number of history events after which a batch hands back its rows. */
  readonly eventsPerRun: number;
  readonly account?: string;
  readonly policy?: CreatePolicy;
}

/** Returns the settings of a campaign's batches. */
export function batchSettings(
  { account, policy, waitFor, maxAttempts, eventsPerRun }: CampaignInput,
  queues: Required<MediaQueues>,
  defaultEvents: number,
): BatchSettings {
  return {
    waitForMs: milliseconds(waitFor ?? DEFAULT_ROW_WAIT_MS) ?? DEFAULT_ROW_WAIT_MS,
    maxAttempts: maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
    eventsPerRun: eventsPerRun ?? defaultEvents,
    queues,
    ...given({ account, policy }),
  };
}

/** Input of the `campaignBatch` workflow. Only `runCampaign` starts it. */
export interface BatchInput {
  readonly campaign: string;
  /** Id of the campaign's first run. Reports go to that campaign, not to a later workflow with the same id. */
  readonly campaignRun: string;
  readonly batch: number;
  readonly rows: readonly RowSet[];
  readonly settings: BatchSettings;
  readonly orders: BatchOrders;
  /**
   * Fraction of the slots that the service most recently accepted, for each account and model; 1 if it accepted all of
   * them.
   */
  readonly limits: LimitShares;
}

export type LimitShares = { readonly [accountModel: string]: number };

/** Sent from the campaign to a batch, by signal. */
export interface BatchOrders {
  /** Increases with every message, even across resets of the campaign. */
  readonly n: number;
  /** Maximum number of rows in flight. */
  readonly slots: number;
  /**
   * Rate limit of the create queue; null if there is none. With a limit, each create is a separate activity, so that
   * the server counts it.
   */
  readonly createsPerSecond: number | null;
  /** Amount that the book grants this batch, in micro-units; null without a budget. */
  readonly granted: number | null;
  /** If true, the batch creates nothing and only collects the results of running tasks. */
  readonly paused: boolean;
  /**
   * Whether to end unbought rows, and how: `budget` gives them the outcome `skipped_budget`, and `cancel` gives them
   * `cancelled`.
   */
  readonly stop: 'budget' | 'cancel' | null;
  /** If true, the batch starts nothing more and returns rows that have no result to the queue. */
  readonly handBack: boolean;
}

/** Sent from a batch to its campaign, by signal. */
export interface BatchReport {
  readonly campaignRun: string;
  readonly batch: number;
  readonly n: number;
  readonly inFlight: number;
  /** Rows in flight, and ended rows that are not in a segment yet. Their cost has not been reported. */
  readonly settling: number;
  readonly waiting: number;
  /** The last grant that the batch received, and how much of it its rows have used, in micro-units. */
  readonly granted: number | null;
  readonly taken: number;
  /**
   * Estimated cost of the cheapest row that is waiting for money, and of all rows that might need money; null if no row
   * is waiting.
   */
  readonly needs: { readonly row: number; readonly all: number } | null;
  /** Rows whose results are reported. */
  readonly ended: readonly RowSet[];
  readonly results: SegmentTotals;
  /** The latest wait that a person might have to resolve; null if there is none. */
  readonly held: CallWait | null;
  /** A few rows in progress, for display. */
  readonly sample: readonly ActiveRow[];
  readonly limits: LimitShares;
}

/** Result of the `campaignBatch` workflow. */
export interface BatchResult {
  readonly report: BatchReport;
  /** Run id of the workflow. After a reset, another run of the same batch tracks its own spending. */
  readonly run: string;
  /**
   * `closed`: the book has closed the batch, or another run uses its number. Either way, this run's totals are not
   * used.
   */
  readonly why: 'done' | 'handed_back' | 'closed';
  /** Creation keys of attempts that turned out to cost nothing, although the journal records them as bought. */
  readonly free: readonly string[];
  readonly left: readonly RowSet[];
}

export type RowPhase = 'waiting' | 'creating' | 'watching' | 'downloading' | 'generating';

export interface ActiveRow {
  readonly key: string;
  readonly phase: RowPhase;
  readonly taskId: string | null;
  readonly status: string | null;
  /** Set only if the service sent a number. */
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
      limit: optional(
        messageOf<FullLimit>({ payer: anyText, per: oneOf(...SPEND_PERIODS), endsAt: anyText }),
      ),
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

/** Checks a batch's input. Only campaigns start batches, but any client can start any workflow. */
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
