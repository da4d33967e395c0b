import { type ArtifactStore } from '../artifacts/artifact-store';
import { type CampaignPlan } from '../domain/campaign/plan';
import {
  type MoneyTotals,
  type PlanAddress,
  type ResultsRef,
  type RowCounts,
} from '../domain/campaign/results';
import { type BudgetState } from '../domain/campaign/state';

/** What the campaign says about itself; times are ISO 8601, money is in micro-units. */
export interface ReportFacts {
  readonly campaign: string;
  readonly state: 'running' | 'done';
  /** When this was so: an older one never replaces a newer. */
  readonly asOf: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly counts: RowCounts;
  /** Rows without a result; null when that is not known. */
  readonly remaining: number | null;
  readonly currency: string | null;
  readonly money: MoneyTotals;
  readonly budget: BudgetState | null;
  readonly plan: CampaignPlan | null;
  readonly notes: readonly string[];
}

export interface ReportOptions {
  /** The store that the workers of the campaign write to. */
  readonly store: ArtifactStore;
  /** Folder of the report; made when it is absent. */
  readonly out: string;
  readonly results: ResultsRef;
  readonly facts: ReportFacts;
  /** Further plans of the campaign; those of `results`, of `facts` and of earlier refreshes are known anyway. */
  readonly plans?: readonly PlanAddress[];
  /** Told after each page of the gallery. */
  readonly onProgress?: (progress: ReportProgress) => void;
  /** Stops after the page that is being written; what is written stays, the next refresh goes on. */
  readonly signal?: AbortSignal;
}

interface ReportProgress {
  readonly pages: number;
  readonly pagesDone: number;
  readonly files: number;
}

/** What a refresh did. */
export interface ReportSummary {
  /** Absolute path of the folder. */
  readonly directory: string;
  /** Absolute path of the page to open. */
  readonly index: string;
  readonly generation: number;
  /** Rows with a result. */
  readonly rows: number;
  /** Pages of the gallery, and how many of them this refresh wrote. */
  readonly pages: number;
  readonly pagesWritten: number;
  /** Media files that this refresh copied. */
  readonly filesWritten: number;
  /** Media files that the store could not give; the next refresh tries again. */
  readonly filesMissing: number;
  /** False when the folder already told of a newer state: rows were added, its totals stayed. */
  readonly newest: boolean;
}

/** Facts of a campaign with the number of the plan that they are about. */
export interface DatedFacts {
  readonly generation: number;
  readonly facts: ReportFacts;
}

/** Whether `a` tells of the same or a later state than `b`. */
export function isNewer(a: DatedFacts, b: DatedFacts | null): boolean {
  if (b === null) return true;
  if (a.generation !== b.generation) return a.generation > b.generation;
  return Date.parse(a.facts.asOf) >= Date.parse(b.facts.asOf);
}
