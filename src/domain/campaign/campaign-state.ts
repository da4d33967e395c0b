import { creationKeyCheck } from '../creation-key';
import { type Money, moneyCheck } from '../money';
import { type Check, objectOf, type ShapeOf, text, whole } from '../shape';
import { byCheck, reasonCheck, sendIdCheck } from '../unconfirmed-decision';
import { taskIdCheck } from '../video-task';
import { type ActiveRow } from './batch-messages';
import { type CampaignPlan, endedRowsCheck, MAX_CONCURRENCY, MAX_KEY, type RowSelection } from './plan';
import { type MoneyTotals, type ResultsRef, type RowCounts } from './results';

/** Answer of the query `campaign_state`, during the run and while the history is kept. Times are ISO 8601. */
export interface CampaignState {
  /** Its id, which is the workflow id. */
  readonly campaign: string;
  /** `paused` and `stopping` (cancelled, or the budget is spent) buy nothing and collect what runs. */
  readonly phase: 'planning' | 'running' | 'paused' | 'stopping' | 'done';
  /** ISO 8601. */
  readonly startedAt: string;
  /** Null until the manifest has been read. */
  readonly plan: CampaignPlan | null;
  /** Rows by outcome, earlier runs under this id included. */
  readonly counts: RowCounts;
  /** Rows of the plans of this run that have no result yet. */
  readonly remaining: number;
  /** Rows that are bought and have no result yet. */
  readonly inFlight: number;
  /** Most rows in flight at a time, as it is now. */
  readonly concurrency: number;
  /** Of all amounts; null when no row has a price. */
  readonly currency: string | null;
  /** What rows may have cost, earlier runs under this id included. */
  readonly money: MoneyTotals;
  /** Null without a budget. */
  readonly budget: BudgetState | null;
  /** Rows per minute that ended recently; null while there are too few. */
  readonly rowsPerMinute: number | null;
  /** Set only when it can be computed: rows end and nothing is paused. */
  readonly etaAt: string | null;
  /** The first of the rows that are under way. */
  readonly active: readonly ActiveRow[];
  /** Batches that are open. */
  readonly batches: readonly BatchView[];
  /** All results so far, as artifacts. */
  readonly results: ResultsRef;
  /** Warnings of the campaign as a whole, such as a budget that is spent. */
  readonly notes: readonly string[];
}

/** Answer of the query `batch_state`; reports give it to the campaign from time to time. */
export interface BatchState {
  /** The rows that have been under way for the longest. */
  readonly active: readonly ActiveRow[];
}

/** A budget in micro-units of its currency: `spent`, `reserved`, `review` and `free` add up to `total`. */
export interface BudgetState {
  /** The budget as it is now. */
  readonly total: Money;
  /** Paid for existing results. */
  readonly spent: number;
  /** Reserved for rows under way and for tasks that are still running. */
  readonly reserved: number;
  /** May have been charged: a person has to check (`needs_review`). */
  readonly review: number;
  /** Micro-units for which rows may still be bought. */
  readonly free: number;
}

export const SHOWN_ROWS = 5;

/** Where one batch of a campaign stands. */
export interface BatchView {
  /** Its number, from 0. */
  readonly batch: number;
  /** `CAMPAIGN/batch/NUMBER`. */
  readonly workflowId: string;
  /** Rows that it was given. */
  readonly rows: number;
  /** Rows that have a result. */
  readonly ended: number;
  /** Rows that are bought and have no result yet. */
  readonly inFlight: number;
  /** Null before its first report. */
  readonly lastReportAt: string | null;
}

/** How a campaign ends; returned, never thrown. */
export interface CampaignResult extends Pick<
  CampaignState,
  'campaign' | 'counts' | 'currency' | 'money' | 'budget' | 'results' | 'startedAt'
> {
  readonly v: 1;
  /** `refused`: the plan was, and nothing was sent; `plan.refused` says why. */
  readonly outcome: 'completed' | 'cancelled' | 'refused';
  /** The newest plan of this run. */
  readonly plan: CampaignPlan;
  /** ISO 8601. */
  readonly finishedAt: string;
}

/**
 * Inputs of the Updates of a campaign. `pause`, `resume` and `cancel` take none; `resumeRows` retries or resumes
 * rows; `adopt` and `declareLost` settle a row that was set aside and resume it.
 */
export interface CampaignUpdates {
  /** Most rows in flight at a time, at least 1. */
  readonly setConcurrency: { readonly concurrency: number };
  /** The new total: more than before, in the same currency. Rows that were skipped for it are resumed. */
  readonly raiseBudget: { readonly budget: Money };
  /** Rows to retry or to resume. */
  readonly resumeRows: { readonly select: RowSelection };
  /** The create of a row of unknown fate was accepted, and this is its task. */
  readonly adopt: CampaignUpdates['declareLost'] & { readonly taskId: string };
  /** The create of a row of unknown fate was not accepted: the row ends as rejected, and is not sent under this key. */
  readonly declareLost: {
    /** Key of the row, as results name it. */
    readonly key: string;
    /** Of the attempt that was set aside, as its ledger line names it. */
    readonly creationKey: string;
    /** The send that the decision is about, as `unconfirmed show` names it. */
    readonly sendId: string;
    /** Who decides; kept in the journal. */
    readonly by: string;
    /** Why; kept in the journal. */
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
  raiseBudget: objectOf({ budget: moneyCheck }),
  resumeRows: objectOf({ select: endedRowsCheck }),
  adopt: objectOf({ ...DECISION, taskId: taskIdCheck }),
  declareLost: objectOf(DECISION),
};

/** Answers of the Updates of a campaign. */
export interface CampaignUpdateResult {
  /** False: nothing was changed, and `message` says why. */
  readonly accepted: boolean;
  /** One sentence for a person. */
  readonly message: string;
  /** Number of rows that were resumed, where the Update does so. */
  readonly rows?: number;
}

/** Length of the window, shortest time that gives a rate, and time between samples. Milliseconds. */
const WINDOW_MS = 5 * 60_000;
const LEAST_MS = 30_000;
const SAMPLE_MS = 10_000;

/** How fast rows end, from samples `[workflow time, rows that have ended]`. */
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

  /** Rows per minute; null while the samples cover too little time, or when nothing ended. */
  perMinute(now: number, ended: number): number | null {
    const first = this.samples.find(([at]) => now - at <= WINDOW_MS);
    if (first === undefined || now - first[0] < LEAST_MS || ended <= first[1]) return null;
    return ((ended - first[1]) * 60_000) / (now - first[0]);
  }

  save(): readonly (readonly [at: number, ended: number])[] {
    return this.samples;
  }
}
