import { type Money } from '../billing';
import { type LaneEntry } from './lane-entry';
import { type LeaseBookState } from './lease-book';
import { type CampaignPlan, type RowSelection } from './plan';
import { type MoneyTotals, type ResultsRef } from './results';

/** What a campaign takes through its own continue-as-new. Times are workflow time in milliseconds. */
export interface CampaignCarried {
  readonly v: 1;
  readonly startedAt: number;
  readonly plan: CampaignPlan | null;
  readonly results: ResultsRef;
  /** Rows of the plans of this campaign that have no result yet. */
  readonly remaining: number;
  /** Money on the books of earlier runs under this id. */
  readonly before: MoneyTotals;
  readonly book: LeaseBookState;
  readonly lanes: readonly LaneEntry[];
  readonly concurrency: number;
  readonly budget: Money | null;
  readonly paused: boolean;
  readonly stop: 'budget' | 'cancel' | null;
  /** Plans that are still to be made. */
  readonly wishes: readonly RowSelection[];
  /** Some rows may have been counted twice: the totals are counted again from the results. */
  readonly doubled: boolean;
  /** Results came of a page that nobody held: whatever comes later may be counted twice. Absent in runs of the first versions. */
  readonly strayed?: boolean;
  /** Generation of the first plan of this campaign; null before it. */
  readonly firstGeneration: number | null;
  /** Micro-units that stand twice on the books of lanes: both had a row, and one purchase. */
  readonly overcounted: number;
  readonly rate: readonly (readonly [at: number, ended: number])[];
  readonly notes: readonly string[];
  readonly ordersN: number;
}
