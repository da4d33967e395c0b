import {
  type CampaignPlan,
  type MoneyTotals,
  type ResultsRef,
  type RowCounts,
  type BudgetState,
} from 'temporal-media';
import { type PlanAddress } from 'temporal-media/internal/domain/campaign/results';
import { type ArtifactStore } from 'temporal-media/stores';

/** A campaign's state. Times are ISO 8601, and money is in micro-units. */
export interface ReportFacts {
  /** The campaign's id. */
  readonly campaign: string;
  /** Whether the campaign is still running. */
  readonly state: 'running' | 'done';
  /** Time of this state. An older state never replaces a newer one. */
  readonly asOf: string;
  /** When the campaign started; null before it starts. */
  readonly startedAt: string | null;
  /** When the campaign ended; null while it is running. */
  readonly finishedAt: string | null;
  /** Row counts by outcome. */
  readonly counts: RowCounts;
  /** Number of rows without a result; null when unknown. */
  readonly remaining: number | null;
  /** ISO 4217 code of all amounts; null when no price is known. */
  readonly currency: string | null;
  /** What the rows cost. */
  readonly money: MoneyTotals;
  /** The budget and the remaining amount; null without a budget. */
  readonly budget: BudgetState | null;
  /** The manifest's plan; null before planning. */
  readonly plan: CampaignPlan | null;
  /** Notes for the report's reader. */
  readonly notes: readonly string[];
}

/** What to report, and where. */
export interface ReportOptions {
  /** The store to which the campaign's workers write. */
  readonly store: ArtifactStore;
  /** The report's folder; created if missing. */
  readonly out: string;
  /** References to the results. */
  readonly results: ResultsRef;
  /** The campaign state that the report shows. */
  readonly facts: ReportFacts;
  /** The campaign's plans that are not in `results`, `facts` or earlier refreshes. */
  readonly plans?: readonly PlanAddress[];
  /** Called after each gallery page. */
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
  /** The folder's absolute path. */
  readonly directory: string;
  /** Absolute path to the page to open. */
  readonly index: string;
  /** This refresh's number, starting at 1. */
  readonly generation: number;
  /** Number of rows with a result. */
  readonly rows: number;
  /** Number of gallery pages. */
  readonly pages: number;
  /** Number of gallery pages that this refresh wrote. */
  readonly pagesWritten: number;
  /** Number of media files that this refresh copied. */
  readonly filesWritten: number;
  /** Number of media files that were not in the store; the next refresh retries them. */
  readonly filesMissing: number;
  /** False if the folder already had a newer state: rows were added, but the newer totals were kept. */
  readonly newest: boolean;
}

/** A campaign's facts with their plan's generation. */
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
