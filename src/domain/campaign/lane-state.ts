import { type CreateOnceState } from '../create-once';
import { type CreatePolicy } from '../create-policy';
import { type Money } from '../billing';
import { type PollingProfile } from '../polling-profile';
import { type WatchState } from '../poll-watch';
import { type VideoTask } from '../video-task';
import { type MediaQueues } from '../workflow-inputs';
import { type AdaptiveLimitState } from './adaptive-limit';
import { type RowSpec } from './activities';
import { type LaneOrders, type PageLease, type ReportedSegment } from './messages';
import { type CampaignRowResult, type LedgerLine } from './row';

/** What every lane of a campaign is told once. */
export interface LaneSettings {
  /** Milliseconds that each video is waited for. */
  readonly waitForMs: number;
  readonly maxAttempts: number;
  readonly queues: Required<MediaQueues>;
  /** History events after which a run is left behind. */
  readonly eventsPerRun: number;
  readonly account?: string;
  readonly policy?: CreatePolicy;
}

/** Input of the workflow `campaignLane`. Started by `runCampaign` only. */
export interface LaneInput {
  readonly campaign: string;
  readonly campaignRun: string;
  readonly lane: number;
  readonly settings: LaneSettings;
  readonly orders: LaneOrders;
  /** From 1: how often this lane was started. */
  readonly life: number;
  /** Micro-units of the grant that the parent has on its books: spent by an earlier life of this lane. */
  readonly committed: number;
  /** State of an earlier run; set by continue-as-new only. */
  readonly carried?: LaneCarried;
}

/** What a lane takes through its own continue-as-new: records, no prompts, no lists of row ids. */
export interface LaneCarried {
  readonly v: 1;
  readonly orders: LaneOrders;
  /** The newest order that was carried out. */
  readonly seen: number | null;
  readonly reports: number;
  readonly segments: number;
  readonly committed: number;
  /** Absent in runs of the first versions: what the orders say. */
  readonly grant?: LaneGrant;
  readonly unconfirmedSegments: readonly ReportedSegment[];
  readonly leases: readonly CarriedLease[];
  readonly rows: readonly RowRecord[];
  /** Facts that many rows share, named by their place here. */
  readonly tasks: readonly SharedTask[];
  readonly cadences: readonly {
    readonly account: string;
    readonly polling: PollingProfile;
    readonly lastTickAt: number;
    readonly intervalMs: number;
  }[];
  readonly limits: readonly (readonly [model: string, limit: AdaptiveLimitState])[];
}

export interface CarriedLease extends Omit<PageLease, 'done'> {
  /** First row that was not begun. */
  readonly next: number;
  /** Rows that ended. */
  readonly ended: string;
  /** Rows that are begun anew: their results never came to the parent. */
  readonly redo?: string;
  /** What was bought of it before is in flight. */
  readonly sought?: true;
}

/** What a lane takes for granted, in micro-units, and the first order of the run of the parent that it follows. */
export interface LaneGrant {
  readonly held: number | null;
  readonly since: number;
}

export type RowPhase = 'waiting' | 'creating' | 'watching' | 'downloading' | 'drawing';

/** A row in flight (design 4.11): at most about 400 bytes. Times are workflow time in milliseconds. */
export interface RowRecord {
  readonly lease: number;
  readonly index: number;
  readonly phase: RowPhase;
  readonly attempt: number;
  readonly startedAt: number;
  readonly notBefore?: number;
  /** Reserved by this attempt, in micro-units. */
  readonly cost?: number;
  /** Reserved by the attempts before it. */
  readonly spent?: number;
  /** The last attempt that is in the journal. */
  readonly begun?: number;
  readonly create?: Omit<CreateOnceState, 'creationKey' | 'v'>;
  readonly task?: {
    readonly id: string;
    /** Place in `tasks`. */
    readonly of: number;
    readonly createdAt: string | null;
    readonly estimate?: Money;
    readonly warnings?: readonly string[];
    readonly mayBeOwed?: true;
  };
  readonly watch?: Partial<WatchState>;
  /** Attempts that this plan has ended. */
  readonly ledger?: readonly LedgerLine[];
  /** What the attempt before came to, should there be no other. */
  readonly last?: CampaignRowResult;
}

export interface SharedTask {
  readonly account: string;
  readonly polling: PollingProfile;
  readonly source: VideoTask['source'];
}

/** The kept facts of a row's task from what its page and its record say. */
export function taskOf(
  spec: Pick<RowSpec, 'model' | 'durationSeconds' | 'resolution' | 'referenceMode'>,
  shared: SharedTask,
  { id, createdAt }: NonNullable<RowRecord['task']>,
): VideoTask {
  const { model, durationSeconds, resolution, referenceMode } = spec;
  const { account, polling, source } = shared;
  return {
    taskId: id,
    model,
    durationSeconds,
    resolution,
    referenceMode,
    account,
    polling,
    createdAt,
    source,
  };
}
