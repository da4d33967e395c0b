import {
  type CampaignPlan,
  type MoneyTotals,
  type ResultsRef,
  type RowCounts,
  type BudgetState,
} from 'temporal-media';
import { type PlanAddress } from 'temporal-media/internal/domain/campaign/results';
import { type ArtifactStore } from 'temporal-media/stores';

/** State of the campaign; times are ISO 8601, money is in micro-units. */
export interface ReportFacts {
  /** Id of the campaign. */
  readonly campaign: string;
  /** Whether it still runs. */
  readonly state: 'running' | 'done';
  /** Time of this state: an older state never replaces a newer one. */
  readonly asOf: string;
  /** When it started; null before that. */
  readonly startedAt: string | null;
  /** When it ended; null while it runs. */
  readonly finishedAt: string | null;
  /** Number of rows by outcome. */
  readonly counts: RowCounts;
  /** Rows without a result; null when unknown. */
  readonly remaining: number | null;
  /** ISO 4217 code of all amounts; null when no price is known. */
  readonly currency: string | null;
  /** What the rows cost. */
  readonly money: MoneyTotals;
  /** The budget and what is left of it; null without one. */
  readonly budget: BudgetState | null;
  /** The plan of the manifest; null before it was planned. */
  readonly plan: CampaignPlan | null;
  /** Remarks for the reader of the report. */
  readonly notes: readonly string[];
}

/** What is reported, and where to. */
export interface ReportOptions {
  /** The store that the workers of the campaign write to. */
  readonly store: ArtifactStore;
  /** Folder of the report; created when absent. */
  readonly out: string;
  /** Where the results are. */
  readonly results: ResultsRef;
  /** The state of the campaign that the report shows. */
  readonly facts: ReportFacts;
  /** Further plans of the campaign, besides those of `results`, of `facts` and of earlier refreshes. */
  readonly plans?: readonly PlanAddress[];
  /** Called after each page of the gallery. */
  readonly onProgress?: (progress: ReportProgress) => void;
  /** Stops after the current page; written files stay, and the next refresh continues. */
  readonly signal?: AbortSignal;
}

interface ReportProgress {
  readonly pages: number;
  readonly pagesDone: number;
  readonly files: number;
}

/** Result of a refresh. */
export interface ReportSummary {
  /** Absolute path of the folder. */
  readonly directory: string;
  /** Absolute path of the page to open. */
  readonly index: string;
  /** Number of this refresh, from 1 on. */
  readonly generation: number;
  /** Rows with a result. */
  readonly rows: number;
  /** Pages of the gallery, and how many of them this refresh wrote. */
  readonly pages: number;
  /** Pages of the gallery that this refresh wrote. */
  readonly pagesWritten: number;
  /** Media files that this refresh copied. */
  readonly filesWritten: number;
  /** Media files that were not in the store; the next refresh tries again. */
  readonly filesMissing: number;
  /** False when the folder already had a newer state: rows were added, but its totals were kept. */
  readonly newest: boolean;
}

/** Facts of a campaign with the number of their plan. */
export interface DatedFacts {
  readonly generation: number;
  readonly facts: ReportFacts;
}

/** Whether `a` is the same state as `b` or a later one. */
export function isNewer(a: DatedFacts, b: DatedFacts | null): boolean {
  if (b === null) return true;
  if (a.generation !== b.generation) return a.generation > b.generation;
  return Date.parse(a.facts.asOf) >= Date.parse(b.facts.asOf);
}
