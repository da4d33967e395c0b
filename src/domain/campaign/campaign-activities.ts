import { type CreatePolicy } from '../create-policy';
import { type Downloaded, type FailedTry } from '../download';
import { type ACTIVITY } from '../names';
import { type ImageOutcome } from '../outcome';
import {
  type Ancestry,
  type NamedSender,
  type CreatedVideo,
  type CreateVideoAnswer,
  type WaitingImage,
} from '../paid-call';
import { type PaidOperation } from '../request';
import { type VideoTask } from '../video-task';
import { type BookEntry } from './budget-book';
import { type CampaignPlan, type PlanCampaignInput } from './plan';
import { type CampaignRow, type CampaignRowResult } from './row';
import { type RowSet } from './row-sets';

/** Identifies a page by the index artifact of its plan and its number in it. */
export interface PageAddress {
  readonly index: string;
  readonly page: number;
}

export interface OpenPageInput extends PageAddress {
  /** Part of the creation keys, to find what was bought of the page before. @default nothing is looked up */
  readonly campaign?: string;
  /** The only rows that are needed, as `packRows`: nothing is looked up for the others. @default all */
  readonly rows?: string;
  /** The calling batch: only one run of it gets an answer. @default none */
  readonly payer?: string;
}

/** What a batch needs to know of the rows of a page; prompts stay in the artifact. */
export interface OpenedPage {
  readonly specs: readonly RowSpec[];
  /** In the order of the page; null for those that were not requested. */
  readonly rows: readonly (OpenedRow | null)[];
  /** Videos that a batch of this plan has bought for started rows, by row index: nothing is looked up for those. */
  readonly created?: readonly (readonly [row: number, created: CreatedVideo])[];
  /** Another run of the batch has opened its pages: this one spends nothing and gets nothing. */
  readonly closed?: true;
}

export interface RowSpec {
  readonly operation: PaidOperation;
  readonly model: string;
  readonly account: string | null;
  readonly durationSeconds: number | null;
  readonly resolution: string | null;
  readonly referenceMode: string | null;
  /** Micro-units; null means unknown. */
  readonly estimate: number | null;
}

export interface OpenedRow extends Pick<
  CampaignRow,
  'row' | 'line' | 'key' | 'content' | 'rebought' | 'was' | 'changed'
> {
  /** Index into `specs`. */
  readonly spec: number;
  /** First attempt in this page; absent means 0. */
  readonly attempt?: number;
  /** The last attempt of this row in the journal: a batch that is gone may have started it. */
  readonly started?: number;
  /** Those of these attempts that may have cost something and are in no ledger. */
  readonly bought?: number;
  /** ISO 8601: when the newest request of the last started attempt was about to be sent. */
  readonly since?: string;
}

/** One create of a group: the activity reads its request from the page. */
export interface GroupedCreate {
  readonly page: PageAddress;
  readonly index: number;
  readonly creationKey: string;
  /** Returns what is recorded; nothing is sent. */
  readonly recordedOnly?: true;
  /** The send of unknown fate that may be sent again under its idempotency key. */
  readonly sameKey?: string;
}

/**
 * Input of `media.createVideos`: 10 to 25 creates, each with its own key, log and answer; up to 500 where
 * all of them are `recordedOnly`.
 */
export interface CreateVideosInput extends Ancestry, NamedSender {
  readonly rows: readonly GroupedCreate[];
  readonly payer?: string;
  /** Credential name of the campaign; a row may name its own. */
  readonly account?: string;
  readonly policy?: CreatePolicy;
}

export interface CreateVideosResult {
  /** In the order of `rows`. */
  readonly answers: readonly CreateVideoAnswer[];
}

/** Input of `media.downloadVideos`: one try for each; what does not succeed is left to `media.downloadVideo`. */
export interface DownloadVideosInput {
  readonly videos: readonly VideoTask[];
}

export interface DownloadVideosResult {
  /** In the order of `videos`; null for one without a try that says something about its file. */
  readonly results: readonly (Downloaded | FailedTry | null)[];
}

/** Input of `media.campaignImage`: one image call whose request is stored in a page. */
export interface CampaignImageInput
  extends Ancestry, Omit<GroupedCreate, 'sameKey'>, Pick<CreateVideosInput, 'payer' | 'account' | 'policy'> {
  /** As for `media.generateImage`. */
  readonly recordedSince?: string;
}

export interface RecordRowsInput {
  readonly rows: readonly CampaignRowResult[];
}

export interface FoldResultsInput {
  readonly segments: readonly string[];
}

/** Input of `media.keepBooks`: one operation on the book of a campaign. */
export interface KeepBooksInput {
  readonly campaign: string;
  /** Number of the newest entry that the caller knows; null for none. */
  readonly known: number | null;
  /** Micro-units in the results: the opening balance of a book. */
  readonly before: number;
  /** Micro-units; null without a budget. */
  readonly budget: number | null;
  readonly move: BookMove;
}

export type BookMove =
  | { readonly do: 'look' }
  | {
      readonly do: 'open';
      readonly batches: readonly (readonly RowSet[])[];
      /** Open batches of runs that are gone: a fence stops their sends, so that the new ones find all that they bought. */
      readonly fences: readonly number[];
      /** Micro-units for each; null for the cost of those of its rows of which nothing was bought yet. */
      readonly want: number | null;
    }
  | { readonly do: 'raise'; readonly batch: number; readonly want: number }
  | {
      readonly do: 'close';
      readonly batch: number;
      /** Micro-units. */
      readonly spent: number;
      /** The run of the batch's workflow that counted `spent`; null where `media.settleBatch` did. */
      readonly run: string | null;
      /** Creation keys of attempts that are known to have cost nothing. */
      readonly free: readonly string[];
    };

/** The newest state of the book, and the result of the operation. */
export interface KeptBooks {
  /** Number of the newest entry; null while there is none. */
  readonly n: number | null;
  readonly book: BookEntry;
  /** Another writer has added an entry since `known`: nothing was done. */
  readonly conflict?: true;
  /** A run other than the one that counted has sent: nothing was done, and `media.settleBatch` has to count. */
  readonly unsettled?: true;
  /** Of `open`: the numbers of the new batches, in the order of `batches`. */
  readonly opened?: readonly number[];
}

/** Nothing was done, for now. */
export interface BooksUnavailable {
  /** Why, for a person. */
  readonly unavailable: string;
}

export type KeepBooksResult = KeptBooks | BooksUnavailable;

export interface SettleBatchInput {
  readonly campaign: string;
  readonly batch: number;
  /** Segments with results of its rows. */
  readonly segments: readonly string[];
}

export interface SettledBatch {
  /** Micro-units that it has cost or may have cost. */
  readonly spent: number;
  /** Creation keys of attempts that are known to have cost nothing. */
  readonly free: readonly string[];
}

export type SettleBatchResult = SettledBatch | BooksUnavailable;

export interface CampaignActivities {
  /** Reads a manifest, validates its rows, and stores the plan as artifacts. Buys nothing. */
  [ACTIVITY.planCampaign](input: PlanCampaignInput): Promise<CampaignPlan>;
  /** Reads what a batch needs to know of the rows of one page. */
  [ACTIVITY.openPage](input: OpenPageInput): Promise<OpenedPage>;
  /** Sends a group of creates, each at most once. */
  [ACTIVITY.createVideos](input: CreateVideosInput): Promise<CreateVideosResult>;
  /** Downloads, verifies and stores a group of results, one try each. */
  [ACTIVITY.downloadVideos](input: DownloadVideosInput): Promise<DownloadVideosResult>;
  /** Buys the images of one row, whose request is stored in a page. */
  [ACTIVITY.campaignImage](input: CampaignImageInput): Promise<ImageOutcome | WaitingImage>;
  /** Stores results of rows as a segment, and names it by its hash. */
  [ACTIVITY.recordRows](input: RecordRowsInput): Promise<{ readonly sha256: string }>;
  /** Stores an index of segments, and names it by its hash. */
  [ACTIVITY.foldResults](input: FoldResultsInput): Promise<{ readonly sha256: string }>;
  /** Performs one operation on the book of a campaign, once, also when it is repeated. */
  [ACTIVITY.keepBooks](input: KeepBooksInput): Promise<KeepBooksResult>;
  /** Counts from the journal what a batch that ended early has spent, and closes its part of the book. */
  [ACTIVITY.settleBatch](input: SettleBatchInput): Promise<SettleBatchResult>;
}
