import { type Money } from '../price';
import { type ActiveRow } from './messages';
import { type CampaignPlan, type RowSelection } from './plan';
import { type MoneyTotals, type ResultsRef, type RowCounts } from './results';

/** Answer of the query `campaign_state`, during the run and while the history is kept. Times are ISO 8601. */
export interface CampaignState {
  readonly campaign: string;
  readonly phase: 'planning' | 'running' | 'paused' | 'stopping' | 'done';
  /** ISO 8601. */
  readonly startedAt: string;
  /** Null until the manifest has been read. */
  readonly plan: CampaignPlan | null;
  /** Rows by outcome, earlier runs under this id included. */
  readonly counts: RowCounts;
  /** Rows of the plans of this run that have no result yet. */
  readonly remaining: number;
  readonly inFlight: number;
  readonly concurrency: number;
  readonly currency: string | null;
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
  readonly total: Money;
  /** Paid for existing results. */
  readonly spent: number;
  /** Reserved for rows under way and for tasks that are still running. */
  readonly reserved: number;
  /** May have been charged: a person has to check (`needs_review`). */
  readonly review: number;
  readonly free: number;
}

/** Number of rows under way that are shown. */
export const SHOWN_ROWS = 5;

/** Where one batch of a campaign stands. */
export interface BatchView {
  readonly batch: number;
  readonly workflowId: string;
  readonly rows: number;
  /** Rows that have a result. */
  readonly ended: number;
  readonly inFlight: number;
  /** Null before its first report. */
  readonly lastReportAt: string | null;
}

/** How a campaign ends; returned, never thrown. */
export interface CampaignResult {
  readonly v: 1;
  readonly outcome: 'completed' | 'cancelled' | 'refused';
  readonly campaign: string;
  readonly plan: CampaignPlan;
  readonly counts: RowCounts;
  readonly currency: string | null;
  readonly money: MoneyTotals;
  /** Null without a budget. */
  readonly budget: BudgetState | null;
  readonly results: ResultsRef;
  /** ISO 8601. */
  readonly startedAt: string;
  /** ISO 8601. */
  readonly finishedAt: string;
}

/**
 * Inputs of the Updates of a campaign. `pause`, `resume` and `cancel` take none; `resumeRows` retries or resumes
 * rows; `adopt` and `declareLost` settle a row that was set aside and resume it.
 */
export interface CampaignUpdates {
  readonly setConcurrency: { readonly concurrency: number };
  readonly raiseBudget: { readonly budget: Money };
  readonly resumeRows: { readonly select: RowSelection };
  readonly adopt: {
    readonly key: string;
    /** Of the attempt that was set aside, as its ledger line names it. */
    readonly creationKey: string;
    readonly taskId: string;
    readonly by: string;
    readonly reason: string;
  };
  readonly declareLost: {
    readonly key: string;
    /** Of the attempt that was set aside, as its ledger line names it. */
    readonly creationKey: string;
    readonly by: string;
    readonly reason: string;
  };
}

/** Answers of the Updates of a campaign. */
export interface CampaignUpdateResult {
  readonly accepted: boolean;
  readonly message: string;
  /** Number of rows that were resumed, where the Update does so. */
  readonly rows?: number;
}
