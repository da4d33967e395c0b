import { type Money } from '../price';
import { type ActiveRow } from './messages';
import { type CampaignPlan, type RowSelection } from './plan';
import { type MoneyTotals, type ResultsRef, type RowCounts } from './results';

/** Answer of the query `campaign_state`, while it runs and while its history is kept. Times are ISO 8601. */
export interface CampaignState {
  readonly campaign: string;
  readonly phase: 'planning' | 'running' | 'paused' | 'stopping' | 'done';
  readonly startedAt: string;
  /** Null until the manifest was read. */
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
  /** Rows that ended per minute, lately; null while too few have. */
  readonly rowsPerMinute: number | null;
  /** Only when it can be computed: something ends, nothing is paused. */
  readonly etaAt: string | null;
  readonly active: readonly ActiveRow[];
  /** Batches that are open. */
  readonly batches: readonly BatchView[];
  readonly results: ResultsRef;
  /** Warnings of the campaign as a whole, such as a budget that is spent. */
  readonly notes: readonly string[];
}

/** Answer of the query `batch_state`, which a batch knows and its campaign is told of now and then. */
export interface BatchState {
  /** The rows that have been under way for the longest. */
  readonly active: readonly ActiveRow[];
}

/** A budget in micro-units of its currency: `spent`, `reserved`, `review` and `free` add up to `total`. */
export interface BudgetState {
  readonly total: Money;
  /** Paid for results that are there. */
  readonly spent: number;
  /** Taken for rows under way, and for tasks that still run. */
  readonly reserved: number;
  /** May have been charged: a person looks (`needs_review`). */
  readonly review: number;
  readonly free: number;
}

/** Rows under way that a person is shown. */
export const SHOWN_ROWS = 5;

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
  /** Null without one. */
  readonly budget: BudgetState | null;
  readonly results: ResultsRef;
  readonly startedAt: string;
  readonly finishedAt: string;
}

/**
 * Inputs of the Updates of a campaign. `pause`, `resume` and `cancel` take none; `resumeRows` retries rows or goes on with
 * them; `adopt` and `declareLost` settle a row that was set aside and take it up again.
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
  /** Rows that were resumed again, where the Update does so. */
  readonly rows?: number;
}
