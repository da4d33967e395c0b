import { type Money } from '../../domain/price';
import { type LimitShares } from '../../domain/campaign/messages';
import { type CampaignPlan, type RowSelection } from '../../domain/campaign/plan';
import { type ResultsRef } from '../../domain/campaign/results';
import { type RowQueueState } from '../../domain/campaign/row-queue';
import { type BudgetBookState } from './budget-book';

/** State of a campaign across a continue-as-new, with no batch open. Times are workflow time in milliseconds. */
export interface CampaignCarried {
  readonly v: 1;
  readonly startedAt: number;
  readonly plan: CampaignPlan | null;
  readonly results: ResultsRef;
  readonly queue: RowQueueState;
  /** Rows of all plans of this campaign. */
  readonly planned: number;
  readonly books: BudgetBookState;
  /** Micro-units on the books of earlier runs under this id, with which a book starts. */
  readonly before: number;
  readonly limits: LimitShares;
  readonly ordersN: number;
  readonly concurrency: number;
  readonly budget: Money | null;
  readonly paused: boolean;
  readonly stop: 'budget' | 'cancel' | null;
  /** Selections without a plan yet. */
  readonly selections: readonly RowSelection[];
  /** Estimate of the cheapest row that was skipped for lack of money, in micro-units; null when none was. */
  readonly cheapestSkipped: number | null;
  /** Skipped rows and free money when skipped rows were last resumed; null before that. */
  readonly round: { readonly skipped: number; readonly free: number } | null;
  readonly rate: readonly (readonly [at: number, ended: number])[];
  readonly notes: readonly string[];
}
