import { type CreatePolicy, createPolicyCheck } from '../create-policy';
import { type Fairness, fairnessCheck, type Labels, labelsCheck, type Money, moneyCheck } from '../money';
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

/** The source of the rows. The worker reads a `file` only if it is below one of its `MEDIA_INPUT_ROOTS`. */
export interface ManifestSource {
  /** An artifact, a file on the worker, or a URL. */
  readonly source: MediaSource;
  /** @default detected from the first bytes: JSON lines start with `{` */
  readonly format?: 'csv' | 'jsonl';
}

/** Input of the `runCampaign` workflow. The workflow id is the campaign's id. */
export interface CampaignInput {
  /** The rows: CSV or JSON lines. */
  readonly manifest: ManifestSource;
  /** Maximum number of videos in flight at a time, across all batches. @default 100 */
  readonly concurrency?: number;
  /**
   * Nothing is created beyond this budget. The plan is rejected if a model in the manifest has no price or uses another
   * currency.
   */
  readonly budget?: Money;
  /** With `fail`, a single invalid row prevents all sends. @default 'fail' */
  readonly onInvalid?: 'fail' | 'skip';
  /**
   * Whether rows that were bought with different text are bought again with the new text. @default false, and their
   * outcome is `changed`
   */
  readonly rebuyChanged?: boolean;
  /** Which rows to process. @default `missing` */
  readonly select?: RowSelection;
  /** Limits the campaign to this many rows from the start of the manifest. @default all rows */
  readonly limit?: number;
  /**
   * Limits the campaign to a sample of this many rows, chosen only by their keys. With `limit`, the smaller number
   * applies.
   * @default all rows
   */
  readonly sample?: number;
  /** How long to wait for each video before it is reported as still running. @default '1 hour' */
  readonly waitFor?: DurationInput;
  /** How many attempts a row gets after capacity failures and temporary refusals, each under its own key. @default 3 */
  readonly maxAttempts?: number;
  /** Credential for rows that do not name one. @default 'default' */
  readonly account?: string;
  /** Labels of every row. A row's `label:NAME` columns add to them, or replace them. @default none */
  readonly labels?: Labels;
  /** What the service's replies prove about a create. @default the worker's policy */
  readonly policy?: CreatePolicy;
  /** @default the activity queues that a media worker serves: `<queue>/create`, `/poll`, `/download`, `/image` */
  readonly queues?: MediaQueues;
  /** From 1 to 5. Lower numbers go first. @default 3 */
  readonly priority?: number;
  /**
   * What shares the queues' capacity fairly: this campaign, or everything with the same value of one of its labels.
   * @default 'campaign'
   */
  readonly fairness?: 'campaign' | Fairness;
  /** This campaign's share if several campaigns wait for the same queue. @default 1 */
  readonly fairnessWeight?: number;
  /**
   * Number of history events, at least 50, after which a batch hands back unfinished rows and the campaign continues
   * as new. @default 3000 for batches and 4000 for campaigns
   */
  readonly eventsPerRun?: number;
  /** Rows per batch. Each batch is a child workflow. @default four times the concurrency, from 100 to 1250 */
  readonly rowsPerBatch?: number;
  /**
   * Results of earlier runs under this id. Only missing rows are bought, and totals and budget continue from these
   * results. The client sets this. If you start the workflow without the client, get the value from
   * `media.campaigns.results`.
   */
  readonly previous?: ResultsRef;
  /** State from an earlier run of this workflow. Only continue-as-new sets it. @hidden */
  readonly carried?: unknown;
}

export const DEFAULT_MAX_ATTEMPTS = 3;
export const DEFAULT_CONCURRENCY = 100;
/** Default of `waitFor`, in milliseconds. */
export const DEFAULT_ROW_WAIT_MS = 60 * 60_000;

/** Far more tasks than any service runs concurrently. Without a maximum, the number of batches would be unbounded. */
export const MAX_CONCURRENCY = 1_000_000;
/** Maximum number of rows per batch. More would not fit into a batch's messages. */
const MAX_ROWS_PER_BATCH = 10_000;
/** Maximum number of rows that a selection can list. */
const MAX_KEYS = 10_000;
/** Maximum length of a row's key, in characters. */
export const MAX_KEY = 1_000;

const atLeastOne = optional(whole(1));

/** Maximum length of a URL or path, in characters. */
const MAX_ADDRESS = 100_000;

/** Checks only the shape of a source. The activity that reads the manifest checks its content. */
const sourceCheck = objectOf<MediaSource>({
  artifact: optional(must<ArtifactRef>('a stored file', isObject)),
  url: optional(text(MAX_ADDRESS)),
  file: optional(text(MAX_ADDRESS)),
});

const outcomes = arrayOf(oneOf(...ROW_OUTCOMES), ROW_OUTCOMES.length);

/** Checks a selection of rows with results, as in a campaign Update. */
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

/** With other values, the server would reject the start of every batch. */
export const priorityCheck: Check<number> = whole(1, 5);

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
  labels: optional(labelsCheck),
  policy: optional(createPolicyCheck),
  queues: optional(queuesCheck),
  priority: optional(priorityCheck),
  fairness: optional((value, field) => (value === 'campaign' ? undefined : fairnessCheck(value, field))),
  fairnessWeight: optional(amount(0, 1_000)),
  eventsPerRun: atLeastOne,
  rowsPerBatch: optional(whole(1, MAX_ROWS_PER_BATCH)),
  previous: optional(resultsCheck),
  carried: absent,
} satisfies ShapeOf<CampaignInput>;

/** Outcomes that `retry` selects by default. */
export const RETRIED_BY_DEFAULT = ['failed', 'rejected'] as const satisfies readonly RowOutcome[];

/** Outcomes after which a person can request a new attempt for a row. The first two are the default. */
export const RETRIED_OUTCOMES = [
  'failed',
  'rejected',
  'content_unavailable',
  'task_unknown',
  'results_lost',
] as const satisfies readonly RowOutcome[];

/** An outcome after which a person can request a new, separately paid attempt for a row. */
export type RetriedOutcome = (typeof RETRIED_OUTCOMES)[number];

/** Which rows a campaign processes, based on their earlier results. */
export type RowSelection =
  /**
   * Rows without a final result: new, still running, unconfirmed, skipped, canceled or temporarily refused rows.
   */
  | { readonly rows: 'missing' }
  /**
   * Rows with one of these outcomes get a new attempt under a new key. By default, these are rows that failed or were
   * rejected.
   */
  | { readonly rows: 'retry'; readonly outcomes?: readonly RowOutcome[] }
  /**
   * Rows with one of these outcomes are resumed under their existing key. Existing purchases are adopted, so nothing is
   * bought twice.
   */
  | { readonly rows: 'again'; readonly outcomes: readonly RowOutcome[]; readonly keys?: readonly string[] };

/** Input of `media.planCampaign`. */
export interface PlanCampaignInput
  extends
    Pick<CampaignInput, 'manifest' | 'account' | 'labels' | 'limit' | 'sample' | 'previous' | 'budget'>,
    Required<Pick<CampaignInput, 'select' | 'onInvalid' | 'rebuyChanged'>> {
  readonly campaign: string;
  /** Number of this plan: one more than in `previous`, or 0 without it. */
  readonly generation: number;
}

/** A problem with a row. */
export interface ManifestIssue {
  /** Line in the manifest, from 1. */
  readonly line: number;
  /** Name of the column or JSON field in the manifest; null for the whole row. */
  readonly column: string | null;
  /** One human-readable sentence. */
  readonly message: string;
  /** Allowed values of the column; absent if the set is not finite. */
  readonly allowed?: readonly string[];
  /** The row's `id`, if it has one. */
  readonly id?: string;
}

/** Summary of a plan. It is small: the rows are in pages, and the full list of issues is an artifact of JSON lines. */
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
  /** Rows excluded by a limit or a sample. */
  readonly left: number;
  /** Invalid rows. With `onInvalid: 'skip'`, the other rows are bought. */
  readonly invalid: number;
  /** The first issues, ordered by line. */
  readonly issues: readonly ManifestIssue[];
  /** All issues as JSON lines; null if there are none. */
  readonly issuesFile: ArtifactRef | null;
  /** Rows that were previously bought with different text. `keys` contains the first few. */
  readonly changed: { readonly rows: number; readonly keys: readonly string[] };
  /** Number of pages. */
  readonly pages: number;
  /** The `PlanIndex` artifact. */
  readonly index: ArtifactRef;
  /** Currency of all prices in the plan; null if no row has a price. */
  readonly currency: string | null;
  /** Sum of the planned rows' known estimates, in micro-units. */
  readonly estimate: number;
  /** Planned rows with an unknown price. */
  readonly unpriced: number;
  /**
   * Planned rows with an attempt that has already been bought. Only another attempt, after a capacity failure, would
   * cost money.
   */
  readonly started: { readonly rows: number; readonly estimate: number; readonly unpriced: number };
  /** Possible cost of the planned rows' earlier attempts. Included in the rows' ledgers, not in `estimate`. */
  readonly booked: MoneyTotals;
  /** `MEDIA_CREATES_PER_SECOND` of the worker that made the plan; absent if there is no rate limit. */
  readonly createsPerSecond?: number;
  /** The models that the planned rows use. */
  readonly models: readonly PlannedModel[];
  /** Why nothing may be sent; absent if the plan was accepted. */
  readonly refused?: PlanRefusal;
}

/** A model in a plan: how many rows use it, and their total cost. */
export interface PlannedModel {
  /** Public model id. */
  readonly model: string;
  /** The operation of these rows. A model can support several operations. */
  readonly operation: PaidOperation;
  /** Planned rows with this model and operation. */
  readonly rows: number;
  /** Micro-units. */
  readonly estimate: number;
  /** Rows with an unknown price. */
  readonly unpriced: number;
}

/** Why a plan was rejected. `reason` is a public value. */
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
  /** One human-readable sentence. */
  readonly message: string;
}

/** Content of the artifact `CampaignPlan.index`: the SHA-256 and row count of each page. */
export interface PlanIndex {
  readonly v: 1;
  readonly pages: readonly { readonly sha256: string; readonly rows: number }[];
}

export const PAGE_ROWS = 100;
export const SHOWN_ISSUES = 50;
