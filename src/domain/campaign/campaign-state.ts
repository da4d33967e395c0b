import { creationKeyCheck } from '../creation-key';
import { type Money, moneyCheck } from '../money';
import { type Check, objectOf, type ShapeOf, text, whole } from '../shape';
import { byCheck, reasonCheck, sendIdCheck } from '../unconfirmed-decision';
import { taskIdCheck } from '../video-task';
import { type ActiveRow } from './batch-messages';
import {
  type CampaignPlan,
  endedRowsCheck,
  MAX_CONCURRENCY,
  MAX_KEY,
  priorityCheck,
  type RowSelection,
} from './plan';
import { type MoneyTotals, type ResultsRef, type RowCounts } from './results';

/**
 * Result of the `campaign_state` query, available during the run and while the history is retained. Times are ISO 8601.
 */
export interface CampaignState {
  /** The campaign's id, which is its workflow id. */
  readonly campaign: string;
  /**
   * In the phases `paused` and `stopping` (canceled, or the budget is spent), nothing is bought, but the results of
   * rows in flight are still collected.
   */
  readonly phase: 'planning' | 'running' | 'paused' | 'stopping' | 'done';
  /** ISO 8601. */
  readonly startedAt: string;
  /** Null until the manifest has been read. */
  readonly plan: CampaignPlan | null;
  /** Rows by outcome, including earlier runs under this id. */
  readonly counts: RowCounts;
  /** Rows in this run's plans that have no result yet. */
  readonly remaining: number;
  /** Rows that were bought and have no result yet. */
  readonly inFlight: number;
  /** Current limit on rows in flight. */
  readonly concurrency: number;
  /** Priority of the batches that start from now on. Null if the default is used. */
  readonly priority: number | null;
  /** Currency of all amounts; null if no row has a price. */
  readonly currency: string | null;
  /** Actual and possible cost of all rows, including earlier runs under this id. */
  readonly money: MoneyTotals;
  /** Null without a budget. */
  readonly budget: BudgetState | null;
  /** Rows that ended per minute recently; null while too few have ended. */
  readonly rowsPerMinute: number | null;
  /** Estimated end. Set only while rows are ending and nothing is paused. */
  readonly etaAt: string | null;
  /** The first rows in progress. */
  readonly active: readonly ActiveRow[];
  /** Open batches. */
  readonly batches: readonly BatchView[];
  /** All results so far, as artifacts. */
  readonly results: ResultsRef;
  /** Warnings about the whole campaign, for example that the budget is spent. */
  readonly notes: readonly string[];
}

/** Result of the `batch_state` query. Batches also report it to the campaign periodically. */
export interface BatchState {
  /** The rows that have been in progress the longest. */
  readonly active: readonly ActiveRow[];
}

/** A budget in micro-units of its currency: `spent`, `reserved`, `review` and `free` add up to `total` plus `over`. */
export interface BudgetState {
  /** The current budget. */
  readonly total: Money;
  /** Cost of existing results: bills, and estimates where there is none. */
  readonly spent: number;
  /** Reserved for rows in progress and for tasks that are still running. */
  readonly reserved: number;
  /** Possibly charged, so a person has to check the bill (`needs_review`). */
  readonly review: number;
  /** Still available for rows. */
  readonly free: number;
  /** How much the campaign has cost beyond its budget, because bills are dearer than estimates. */
  readonly over: number;
}

export const SHOWN_ROWS = 5;

/** A batch's state, as its campaign reports it. */
export interface BatchView {
  /** Number of the batch, from 0. */
  readonly batch: number;
  /** `CAMPAIGN/batch/NUMBER`. */
  readonly workflowId: string;
  /** Rows in the batch. */
  readonly rows: number;
  /** Rows that have a result. */
  readonly ended: number;
  /** Rows that were bought and have no result yet. */
  readonly inFlight: number;
  /** Null before its first report. */
  readonly lastReportAt: string | null;
}

/** Result of a campaign. Returned, never thrown. */
export interface CampaignResult extends Pick<
  CampaignState,
  'campaign' | 'counts' | 'currency' | 'money' | 'budget' | 'results' | 'startedAt'
> {
  readonly v: 1;
  /** `refused`: the plan was rejected and nothing was sent. `plan.refused` says why. */
  readonly outcome: 'completed' | 'cancelled' | 'refused';
  /** The newest plan of this run. */
  readonly plan: CampaignPlan;
  /** ISO 8601. */
  readonly finishedAt: string;
}

/**
 * Inputs of a campaign's Updates. `pause`, `resume` and `cancel` have no input. `resumeRows` retries or resumes rows.
 * `adopt` and `declareLost` settle an unconfirmed row and resume it.
 */
export interface CampaignUpdates {
  /** Maximum number of rows in flight at a time, at least 1. */
  readonly setConcurrency: { readonly concurrency: number };
  /** Priority of the batches that start from now on, from 1 to 5. */
  readonly setPriority: { readonly priority: number };
  /**
   * The new total, which must be higher than the current one and in the same currency. Rows that were skipped because
   * of the budget are resumed.
   */
  readonly raiseBudget: { readonly budget: Money };
  /** Rows to retry or to resume. */
  readonly resumeRows: { readonly select: RowSelection };
  /** The row's unconfirmed create was accepted, and this is its task. */
  readonly adopt: CampaignUpdates['declareLost'] & { readonly taskId: string };
  /**
   * The row's unconfirmed create was not accepted. The row ends with the outcome `rejected`, and will not be sent again
   * under this key.
   */
  readonly declareLost: {
    /** Key of the row, as in the results. */
    readonly key: string;
    /** Creation key of the unconfirmed attempt, as in its ledger line. */
    readonly creationKey: string;
    /** The send that the decision is about, as shown by `unconfirmed show`. */
    readonly sendId: string;
    /** The person who decides. Stored in the journal. */
    readonly by: string;
    /** The reason for the decision. Stored in the journal. */
    readonly reason: string;
  };
}

const DECISION = {
  key: text(MAX_KEY),
  creationKey: creationKeyCheck,
  sendId: sendIdCheck,
  by: byCheck,
  reason: reasonCheck,
} satisfies ShapeOf<CampaignUpdates['declareLost']>;

export const UPDATE_CHECKS: { readonly [update in keyof CampaignUpdates]: Check<CampaignUpdates[update]> } = {
  setConcurrency: objectOf({ concurrency: whole(1, MAX_CONCURRENCY) }),
  setPriority: objectOf({ priority: priorityCheck }),
  raiseBudget: objectOf({ budget: moneyCheck }),
  resumeRows: objectOf({ select: endedRowsCheck }),
  adopt: objectOf({ ...DECISION, taskId: taskIdCheck }),
  declareLost: objectOf(DECISION),
};

/** Result of a campaign's Updates. */
export interface CampaignUpdateResult {
  /** If false, nothing was changed, and `message` says why. */
  readonly accepted: boolean;
  /** One human-readable sentence. */
  readonly message: string;
  /** Number of resumed rows, if the Update resumes rows. */
  readonly rows?: number;
}

/** Length of the window, minimum time needed for a rate, and time between samples, in milliseconds. */
const WINDOW_MS = 5 * 60_000;
const LEAST_MS = 30_000;
const SAMPLE_MS = 10_000;

/** Computes how fast rows end, from samples `[workflow time, rows that have ended]`. */
export class EndRate {
  private samples: (readonly [at: number, ended: number])[];

  constructor(saved: readonly (readonly [at: number, ended: number])[] = []) {
    this.samples = [...saved];
  }

  note(now: number, ended: number): void {
    const last = this.samples.at(-1);
    if (last !== undefined && now - last[0] < SAMPLE_MS) return;
    this.samples = [...this.samples.filter(([at]) => now - at <= WINDOW_MS), [now, ended]];
  }

  /** Returns rows per minute, or null if the samples cover too little time or no row has ended. */
  perMinute(now: number, ended: number): number | null {
    const first = this.samples.find(([at]) => now - at <= WINDOW_MS);
    if (first === undefined || now - first[0] < LEAST_MS || ended <= first[1]) return null;
    return ((ended - first[1]) * 60_000) / (now - first[0]);
  }

  save(): readonly (readonly [at: number, ended: number])[] {
    return this.samples;
  }
}
