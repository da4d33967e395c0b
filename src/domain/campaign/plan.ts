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

/** Where the rows are read from. The worker reads a `file`, and only below its `MEDIA_INPUT_ROOTS`. */
export interface ManifestSource {
  /** An artifact, a file on the worker, or an address. */
  readonly source: MediaSource;
  /** @default detected from the first bytes: `{` begins JSON lines */
  readonly format?: 'csv' | 'jsonl';
}

/** Input of the workflow `runCampaign`; the workflow id is the id of the campaign. */
export interface CampaignInput {
  /** The rows: CSV or JSON lines. */
  readonly manifest: ManifestSource;
  /** Maximum number of videos in flight at a time, across all batches. @default 100 */
  readonly concurrency?: number;
  /**
   * Nothing is created beyond this budget. Refused if a model in the manifest has no price or uses another currency.
   */
  readonly budget?: Money;
  /** `fail`: one invalid row prevents every send. @default 'fail' */
  readonly onInvalid?: 'fail' | 'skip';
  /**
   * Whether rows that were bought with a different text are bought again with the new one. @default false: their
   * outcome is `changed`
   */
  readonly rebuyChanged?: boolean;
  /** Which rows are worked on. @default `missing` */
  readonly select?: RowSelection;
  /** Limits the campaign to the first rows, or to a sample that depends only on the rows' keys. */
  readonly limit?: number;
  /** Size of the sample. If `limit` is also set, the smaller number applies. @default all rows */
  readonly sample?: number;
  /** How long to wait for each video before it is reported as still running. @default '1 hour' */
  readonly waitFor?: DurationInput;
  /** How many attempts a row gets after capacity failures and temporary refusals, each under its own key. @default 3 */
  readonly maxAttempts?: number;
  /** Credential for rows that name none. @default 'default' */
  readonly account?: string;
  /** What the service's replies prove about a create. @default the worker's policy */
  readonly policy?: CreatePolicy;
  /** @default the activity queues that a media worker serves: `<queue>/create`, `/poll`, `/download`, `/image` */
  readonly queues?: MediaQueues;
  /** From 1 to 5; lower goes first. @default 3 */
  readonly priority?: number;
  /** This campaign's share when several campaigns wait for the same queue. @default 1 */
  readonly fairnessWeight?: number;
  /**
   * Number of history events, at least 50, after which a batch hands back unfinished rows and the campaign continues
   * as new. @default 3000 and 4000
   */
  readonly eventsPerRun?: number;
  /** Rows per batch. Each batch is one child workflow. @default four times the concurrency, from 100 to 1250 */
  readonly rowsPerBatch?: number;
  /**
   * Results of earlier runs under this id. Only missing rows are submitted, and totals and budget continue from these
   * results. The client sets this. A caller that starts the workflow without the client gets the value from the
   * client's `media.campaigns.results`.
   */
  readonly previous?: ResultsRef;
  /** State of an earlier run of this workflow; set by continue-as-new only. @hidden */
  readonly carried?: unknown;
}

export const DEFAULT_MAX_ATTEMPTS = 3;
export const DEFAULT_CONCURRENCY = 100;
/** Default of `waitFor`, in milliseconds. */
export const DEFAULT_ROW_WAIT_MS = 60 * 60_000;

/** Far more than any service runs at a time. Above this, the number of batches would be unbounded. */
export const MAX_CONCURRENCY = 1_000_000;
/** More rows do not fit into a batch's messages. */
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

/** Checks a selection of rows with results, as a campaign Update makes it. */
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
  // With other values, the server would refuse to start any batch.
  priority: optional(whole(1, 5)),
  fairnessWeight: optional(amount(0, 1_000)),
  eventsPerRun: atLeastOne,
  rowsPerBatch: optional(whole(1, MAX_ROWS_PER_BATCH)),
  previous: optional(resultsCheck),
  carried: absent,
} satisfies ShapeOf<CampaignInput>;

/** Outcomes that `retry` selects when none is named. */
export const RETRIED_BY_DEFAULT = ['failed', 'rejected'] as const satisfies readonly RowOutcome[];

/** Outcomes after which a person may request a new attempt of a row. The first two are the default. */
export const RETRIED_OUTCOMES = [
  'failed',
  'rejected',
  'content_unavailable',
  'task_unknown',
  'results_lost',
] as const satisfies readonly RowOutcome[];

/** An outcome after which a person may request a new attempt of a row, which is paid for again. */
export type RetriedOutcome = (typeof RETRIED_OUTCOMES)[number];

/** Which rows of an earlier run a campaign takes. */
export type RowSelection =
  /**
   * Rows without a result, or without a final one: still running, unconfirmed, skipped, canceled or temporarily
   * refused.
   */
  | { readonly rows: 'missing' }
  /**
   * Rows with one of these outcomes get a new attempt under a new key. Without `outcomes`: rows that failed or were
   * rejected.
   */
  | { readonly rows: 'retry'; readonly outcomes?: readonly RowOutcome[] }
  /**
   * Rows with one of these outcomes are resumed under their existing key. This adopts or resumes, and buys nothing
   * twice.
   */
  | { readonly rows: 'again'; readonly outcomes: readonly RowOutcome[]; readonly keys?: readonly string[] };

/** Input of `media.planCampaign`. */
export interface PlanCampaignInput
  extends
    Pick<CampaignInput, 'manifest' | 'account' | 'limit' | 'sample' | 'previous' | 'budget'>,
    Required<Pick<CampaignInput, 'select' | 'onInvalid' | 'rebuyChanged'>> {
  readonly campaign: string;
  /** Number of this plan: one more than in `previous`, else 0. */
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
  /** Allowed values of the column; absent if the set is not finite. */
  readonly allowed?: readonly string[];
  /** The row's `id`, if it has one. */
  readonly id?: string;
}

/** Summary of a plan. Small: the rows are in pages, all issues in an artifact of JSON lines. */
export interface CampaignPlan {
  readonly v: 1;
  /** Number of this plan: 0 for the first plan under an id, and one more for each later run. */
  readonly generation: number;
  /** SHA-256 of the manifest's bytes. */
  readonly manifest: string;
  /** Rows in the manifest. */
  readonly rows: number;
  /** Rows in the pages of this plan. */
  readonly planned: number;
  /** Rows that keep an existing result. */
  readonly done: number;
  /** Rows that a limit or a sample left for later. */
  readonly left: number;
  /** Invalid rows. With `onInvalid: 'skip'`, the others are bought. */
  readonly invalid: number;
  /** The first issues, in order of their lines. */
  readonly issues: readonly ManifestIssue[];
  /** All issues as JSON lines; null when there are none. */
  readonly issuesFile: ArtifactRef | null;
  /** Rows that were bought before with a different text. `keys` contains the first ones. */
  readonly changed: { readonly rows: number; readonly keys: readonly string[] };
  /** Number of pages. */
  readonly pages: number;
  /** Artifact of `PlanIndex`. */
  readonly index: ArtifactRef;
  /** Currency of all prices in the plan; null if no row has a price. */
  readonly currency: string | null;
  /** Sum of the planned rows' known estimates, in micro-units. */
  readonly estimate: number;
  /** Planned rows with an unknown price. */
  readonly unpriced: number;
  /**
   * Planned rows with an attempt that is already bought. Only another attempt, after a capacity failure, would cost
   * money.
   */
  readonly started: { readonly rows: number; readonly estimate: number; readonly unpriced: number };
  /** What earlier attempts of the planned rows may have cost. Included in the rows' ledgers, not in `estimate`. */
  readonly booked: MoneyTotals;
  /** `MEDIA_CREATES_PER_SECOND` of the worker that made the plan; absent without a cap. */
  readonly createsPerSecond?: number;
  /** The models that the planned rows use. */
  readonly models: readonly PlannedModel[];
  /** Why nothing may be sent; absent when the plan is accepted. */
  readonly refused?: PlanRefusal;
}

/** A model in a plan: how many rows use it, and their total cost. */
export interface PlannedModel {
  /** Public model id. */
  readonly model: string;
  /** A model may support several operations. */
  readonly operation: PaidOperation;
  /** Planned rows with this model and operation. */
  readonly rows: number;
  /** Micro-units. */
  readonly estimate: number;
  /** Rows with an unknown price. */
  readonly unpriced: number;
}

/** `reason` is a public value. */
export interface PlanRefusal {
  /** Why nothing may be sent. */
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
