import { type CreatePolicy, createPolicyCheck } from '../create-policy';
import { type Money, moneyCheck } from '../money';
import { type ArtifactRef, type MediaSource, type PaidOperation } from '../request';
import {
  absent,
  amount,
  arrayOf,
  type Check,
  duration,
  type DurationInput,
  flag,
  isObject,
  must,
  name,
  objectOf,
  oneOf,
  optional,
  shapeIssue,
  type ShapeOf,
  text,
  whole,
} from '../shape';
import { type MediaQueues, queuesCheck } from '../workflow-inputs';
import { type MoneyTotals, type ResultsRef, resultsCheck, ROW_OUTCOMES } from './results';
import { type RowOutcome } from './row';

/** Where the rows come from. `file` is read by the worker and only below its `MEDIA_INPUT_ROOTS`. */
export interface ManifestSource {
  /** An artifact, a file of the worker, or an address. */
  readonly source: MediaSource;
  /** @default detected from the first bytes: `{` begins JSON lines */
  readonly format?: 'csv' | 'jsonl';
}

/** Input of the workflow `runCampaign`; the workflow id is the id of the campaign. */
export interface CampaignInput {
  /** The rows: CSV or JSON lines. */
  readonly manifest: ManifestSource;
  /** Videos in flight at a time, all batches together. @default 100 */
  readonly concurrency?: number;
  /** Nothing is created beyond this. Refused when a model of the manifest has no price, or another currency. */
  readonly budget?: Money;
  /** `fail`: one invalid row prevents every send. @default 'fail' */
  readonly onInvalid?: 'fail' | 'skip';
  /** Rows that were bought with another text are bought again with the new one. @default false: they end as `changed` */
  readonly rebuyChanged?: boolean;
  /** Which rows are worked on. @default `missing` */
  readonly select?: RowSelection;
  /** Limits the number of rows: the first ones, or a sample that depends on their keys alone. */
  readonly limit?: number;
  /** Size of the sample. With `limit` too, the smaller of both counts. @default all rows */
  readonly sample?: number;
  /** How long to wait for each video before it is reported as still running. @default '1 hour' */
  readonly waitFor?: DurationInput;
  /** How often a row is tried after capacity failures and temporary refusals, each under its own key. @default 3 */
  readonly maxAttempts?: number;
  /** Credential of rows that name none. @default 'default' */
  readonly account?: string;
  /** What replies of the service prove about a create. @default that of the worker */
  readonly policy?: CreatePolicy;
  /** @default the queues that a media worker serves beside its own: `<queue>/create`, `/poll`, `/download`, `/image` */
  readonly queues?: MediaQueues;
  /** Lower goes first, from 1 to 5. @default 3 */
  readonly priority?: number;
  /** Share of this campaign where several wait for the same queue. @default 1 */
  readonly fairnessWeight?: number;
  /**
   * Number of history events, at least 50, after which a batch hands back unfinished rows and the campaign continues
   * as new. @default 3000 and 4000
   */
  readonly eventsPerRun?: number;
  /** Rows of one batch, which is one child workflow. @default four times the concurrency, from 100 to 1250 */
  readonly rowsPerBatch?: number;
  /**
   * Results of earlier runs under this id: only what is missing is submitted, and totals and budget continue from
   * them. The client sets it; a caller that starts the workflow without the client takes it from the client's
   * `media.campaigns.results`.
   */
  readonly previous?: ResultsRef;
  /** State of an earlier run of this workflow; set by continue-as-new only. @hidden */
  readonly carried?: unknown;
}

export const DEFAULT_MAX_ATTEMPTS = 3;
export const DEFAULT_CONCURRENCY = 100;
/** Default of `waitFor`, in milliseconds. */
export const DEFAULT_ROW_WAIT_MS = 60 * 60_000;

/** Far more than any service runs at once; above it the number of batches would have no bound. */
export const MAX_CONCURRENCY = 1_000_000;
/** More rows fit into no message of a batch. */
const MAX_ROWS_PER_BATCH = 10_000;
/** Longest list of rows that one selection names. */
const MAX_KEYS = 10_000;
/** Longest key of a row, in characters. */
export const MAX_KEY = 1_000;

const atLeastOne = optional(whole(1));

/** Longest address or path, in characters. */
const MAX_ADDRESS = 100_000;

/** The activity that reads the manifest checks what is in it. */
const sourceCheck = objectOf<MediaSource>({
  artifact: optional(must<ArtifactRef>('a stored file', isObject)),
  url: optional(text(MAX_ADDRESS)),
  file: optional(text(MAX_ADDRESS)),
});

const outcomes = arrayOf(oneOf(...ROW_OUTCOMES), ROW_OUTCOMES.length);

/** Rows that have results, as an Update of a campaign selects them. */
export const endedRowsCheck: Check<Exclude<RowSelection, { readonly rows: 'missing' }>> = (value, field) => {
  const isRetry = isObject(value) && value['rows'] === 'retry';
  const rows = oneOf('retry', 'again');
  return isRetry
    ? shapeIssue(value, { rows, outcomes: optional(outcomes) }, field)
    : shapeIssue(value, { rows, outcomes, keys: optional(arrayOf(text(MAX_KEY), MAX_KEYS, 1)) }, field);
};

const selectionCheck: Check<RowSelection> = (value, field) =>
  isObject(value) && value['rows'] === 'missing'
    ? shapeIssue(value, { rows: oneOf('missing') }, field)
    : endedRowsCheck(value, field);

export const CAMPAIGN_SHAPE = {
  manifest: objectOf<ManifestSource>({ source: sourceCheck, format: optional(oneOf('csv', 'jsonl')) }),
  concurrency: optional(whole(1, MAX_CONCURRENCY)),
  budget: optional(moneyCheck),
  onInvalid: optional(oneOf('fail', 'skip')),
  rebuyChanged: optional(flag),
  select: optional(selectionCheck),
  limit: atLeastOne,
  sample: atLeastOne,
  waitFor: optional(duration),
  maxAttempts: atLeastOne,
  account: optional(name()),
  policy: optional(createPolicyCheck),
  queues: optional(queuesCheck),
  // With other values the server would refuse every start of a batch.
  priority: optional(whole(1, 5)),
  fairnessWeight: optional(amount(0, 1_000)),
  eventsPerRun: atLeastOne,
  rowsPerBatch: optional(whole(1, MAX_ROWS_PER_BATCH)),
  previous: optional(resultsCheck),
  carried: absent,
} satisfies ShapeOf<CampaignInput>;

/** Outcomes that `retry` selects when none is named. */
export const RETRIED_BY_DEFAULT = ['failed', 'rejected'] as const satisfies readonly RowOutcome[];

/** Outcomes of rows for which a person may order a new attempt; the first two are the default. */
export const RETRIED_OUTCOMES = [
  'failed',
  'rejected',
  'content_unavailable',
  'task_unknown',
  'results_lost',
] as const satisfies readonly RowOutcome[];

/** An outcome of rows for which a person may order a new attempt, which is paid again. */
export type RetriedOutcome = (typeof RETRIED_OUTCOMES)[number];

/** Which rows of an earlier run a campaign takes. */
export type RowSelection =
  /** No result yet, or one that is not final: still running, unconfirmed, skipped, cancelled, refused for now. */
  | { readonly rows: 'missing' }
  /** Rows with one of these outcomes get a new attempt under a new key; without `outcomes` those that failed or were rejected. */
  | { readonly rows: 'retry'; readonly outcomes?: readonly RowOutcome[] }
  /** Rows with one of these outcomes are resumed under their existing key: adopts, resumes, buys nothing twice. */
  | { readonly rows: 'again'; readonly outcomes: readonly RowOutcome[]; readonly keys?: readonly string[] };

/** Input of `media.planCampaign`. */
export interface PlanCampaignInput
  extends
    Pick<CampaignInput, 'manifest' | 'account' | 'limit' | 'sample' | 'previous' | 'budget'>,
    Required<Pick<CampaignInput, 'select' | 'onInvalid' | 'rebuyChanged'>> {
  readonly campaign: string;
  /** Number of this plan: one more than that of `previous`, else 0. */
  readonly generation: number;
}

/** One problem of a row. */
export interface ManifestIssue {
  /** Line in the manifest, from 1. */
  readonly line: number;
  /** Column or JSON field as the manifest names it; null for the whole row. */
  readonly column: string | null;
  /** One sentence for a person. */
  readonly message: string;
  /** Values that the column may have; absent where the set is not finite. */
  readonly allowed?: readonly string[];
  /** The row's `id`, when it has one. */
  readonly id?: string;
}

/** Summary of a plan. Small: the rows are in pages, all issues in an artifact of JSON lines. */
export interface CampaignPlan {
  readonly v: 1;
  /** Number of this plan: 0 for the first under an id, and one more for each later run. */
  readonly generation: number;
  /** SHA-256 of the bytes of the manifest. */
  readonly manifest: string;
  /** Rows of the manifest. */
  readonly rows: number;
  /** Rows in the pages of this plan. */
  readonly planned: number;
  /** Rows whose result is kept. */
  readonly done: number;
  /** Rows that a limit or a sample left for later. */
  readonly left: number;
  /** Rows that are not valid; with `onInvalid: 'skip'` the others are bought. */
  readonly invalid: number;
  /** The first issues, in order of their lines. */
  readonly issues: readonly ManifestIssue[];
  /** All issues as JSON lines; null when there are none. */
  readonly issuesFile: ArtifactRef | null;
  /** Rows bought before with another text; `keys` contains the first ones. */
  readonly changed: { readonly rows: number; readonly keys: readonly string[] };
  /** Number of pages. */
  readonly pages: number;
  /** Artifact of `PlanIndex`. */
  readonly index: ArtifactRef;
  /** Of all prices of the plan; null when no row has a price. */
  readonly currency: string | null;
  /** Sum of the known estimates of the planned rows, in micro-units. */
  readonly estimate: number;
  /** Planned rows whose price is unknown. */
  readonly unpriced: number;
  /** Planned rows whose attempt is already bought: only another attempt after a capacity failure would cost. */
  readonly started: { readonly rows: number; readonly estimate: number; readonly unpriced: number };
  /** What earlier attempts of the planned rows may have cost: it is in their ledgers, and not in `estimate`. */
  readonly booked: MoneyTotals;
  /** `MEDIA_CREATES_PER_SECOND` of the worker that made the plan; absent without a cap. */
  readonly createsPerSecond?: number;
  /** The models that the planned rows use. */
  readonly models: readonly PlannedModel[];
  /** Why nothing may be sent; absent when the plan is accepted. */
  readonly refused?: PlanRefusal;
}

/** A model of a plan: how many rows use it, and what they cost together. */
export interface PlannedModel {
  /** Public model id. */
  readonly model: string;
  /** A model may serve several. */
  readonly operation: PaidOperation;
  /** Planned rows with this model and operation. */
  readonly rows: number;
  /** Micro-units. */
  readonly estimate: number;
  /** Rows without a known price. */
  readonly unpriced: number;
}

/** `reason` is a public value. */
export interface PlanRefusal {
  /** What prevents every send. */
  readonly reason:
    | 'manifest_unreadable'
    | 'invalid_rows'
    | 'no_rows'
    | 'mixed_currencies'
    | 'unpriced_models'
    | 'budget_currency'
    | 'account_not_configured'
    | 'no_journal';
  /** One sentence for a person. */
  readonly message: string;
}

/** The artifact that `CampaignPlan.index` names: SHA-256 and row count of each page. */
export interface PlanIndex {
  readonly v: 1;
  readonly pages: readonly { readonly sha256: string; readonly rows: number }[];
}

export const PAGE_ROWS = 100;
export const SHOWN_ISSUES = 50;
