import { type CreatePolicy } from '../create-policy';
import { type Downloaded, type FailedTry } from '../download';
import { type Labels } from '../money';
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

/** Identifies a page by its plan's index artifact and the page's number in it. */
export interface PageAddress {
  readonly index: string;
  readonly page: number;
}

export interface OpenPageInput extends PageAddress {
  /**
   * The campaign's id, which is part of its rows' creation keys. Used to look up which of the page's rows were bought.
   * @default nothing is looked up
   */
  readonly campaign?: string;
  /** The rows to look up, packed by `packRows`. @default all */
  readonly rows?: string;
  /** The calling batch. Only one of its runs gets the rows. @default none */
  readonly payer?: string;
}

/** The facts that a batch needs about a page's rows. Prompts stay in the artifact. */
export interface OpenedPage {
  readonly specs: readonly RowSpec[];
  /** In page order; null for rows that were not requested. */
  readonly rows: readonly (OpenedRow | null)[];
  /** Videos that this plan's batches have bought for started rows, by row index. They need no further lookup. */
  readonly created?: readonly (readonly [row: number, created: CreatedVideo])[];
  /** Set if another run of the batch has opened its pages. This run then gets no rows and must spend nothing. */
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
  readonly labels?: Labels;
}

export interface OpenedRow extends Pick<
  CampaignRow,
  'row' | 'line' | 'key' | 'content' | 'rebought' | 'was' | 'changed'
> {
  /** Index into `specs`. */
  readonly spec: number;
  /** Number of the row's first attempt in this plan; absent means 0. */
  readonly attempt?: number;
  /** Number of the row's last attempt in the journal. A batch that has ended may have started it. */
  readonly started?: number;
  /** Number of the row's attempts that may have cost money and are not in a ledger. */
  readonly bought?: number;
  /** When the latest request of the last started attempt was about to be sent, ISO 8601. */
  readonly since?: string;
}

/** One create in a group. The activity reads its request from the page. */
export interface GroupedCreate {
  readonly page: PageAddress;
  readonly index: number;
  readonly creationKey: string;
  /** If true, returns the recorded answer and sends nothing. */
  readonly recordedOnly?: true;
  /** The send with an unknown outcome that may be resent under its idempotency key. */
  readonly sameKey?: string;
}

/**
 * Input of `media.createVideos`: up to 25 creates, each with its own key, log and answer, or up to 500 if all of them
 * are `recordedOnly`.
 */
export interface CreateVideosInput extends Ancestry, NamedSender {
  readonly rows: readonly GroupedCreate[];
  readonly payer?: string;
  /** The campaign's credential. A row can name its own. */
  readonly account?: string;
  readonly policy?: CreatePolicy;
}

export interface CreateVideosResult {
  /** In the order of `rows`. */
  readonly answers: readonly CreateVideoAnswer[];
}

/** Input of `media.downloadVideos`, which makes one attempt per video and leaves failures to `media.downloadVideo`. */
export interface DownloadVideosInput {
  readonly videos: readonly VideoTask[];
}

export interface DownloadVideosResult {
  /** In the order of `videos`; null if nothing is known about the video's file. */
  readonly results: readonly (Downloaded | FailedTry | null)[];
}

/** Input of `media.campaignImage`, which makes one image call whose request is stored in a page. */
export interface CampaignImageInput
  extends Ancestry, Omit<GroupedCreate, 'sameKey'>, Pick<CreateVideosInput, 'payer' | 'account' | 'policy'> {
  /** Same as for `media.generateImage`. */
  readonly recordedSince?: string;
}

export interface RecordRowsInput {
  readonly rows: readonly CampaignRowResult[];
}

export interface FoldResultsInput {
  readonly segments: readonly string[];
}

/** Input of `media.keepBooks`: one operation on a campaign's book. */
export interface KeepBooksInput {
  readonly campaign: string;
  /** Number of the newest entry that the caller knows; null for none. */
  readonly known: number | null;
  /** Cost of the existing results, in micro-units: the opening balance of a new book. */
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
      /**
       * Open batches of earlier runs. A fence stops their sends, so that the new batches find all of their purchases.
       */
      readonly fences: readonly number[];
      /**
       * Amount to grant each batch, in micro-units; null to grant the cost of its rows that have not been bought yet.
       */
      readonly want: number | null;
    }
  | { readonly do: 'raise'; readonly batch: number; readonly want: number }
  /** Replaces the book's `billed`, if it is still what it was when the count began. */
  | { readonly do: 'bill'; readonly was: number; readonly billed: number }
  | {
      readonly do: 'close';
      readonly batch: number;
      /** Micro-units. */
      readonly spent: number;
      /** The run of the batch's workflow that calculated `spent`; null if `media.settleBatch` calculated it. */
      readonly run: string | null;
      /** Creation keys of attempts that are known to have cost nothing. */
      readonly free: readonly string[];
    };

/** The book's latest state, and the result of the operation. */
export interface KeptBooks {
  /** Number of the newest entry; null while there is none. */
  readonly n: number | null;
  readonly book: BookEntry;
  /** Set if another writer has added an entry after `known`. Nothing was changed. */
  readonly conflict?: true;
  /**
   * Set if another run of the batch has sent a request. Nothing was changed, and `media.settleBatch` must calculate the
   * cost.
   */
  readonly unsettled?: true;
  /** Result of `open`: the numbers of the new batches, in the order of `batches`. */
  readonly opened?: readonly number[];
}

/** The book is temporarily unavailable. Nothing was changed. */
export interface BooksUnavailable {
  /** Human-readable reason. */
  readonly unavailable: string;
}

export type KeepBooksResult = KeptBooks | BooksUnavailable;

export interface SettleBatchInput {
  readonly campaign: string;
  readonly batch: number;
  /** Segments that contain its rows' results. */
  readonly segments: readonly string[];
}

export interface SettledBatch {
  /** Cost of the batch in micro-units, including charges that are possible but not proven. */
  readonly spent: number;
  /** Creation keys of attempts that are known to have cost nothing. */
  readonly free: readonly string[];
}

export type SettleBatchResult = SettledBatch | BooksUnavailable;

/** Input of `media.countBills`: a range of batches by number. Long ranges are counted in several calls. */
export interface CountBillsInput {
  readonly campaign: string;
  readonly from: number;
  /** Excluded. */
  readonly until: number;
}

/** The bills of some batches' sends. */
export interface CountedBills {
  /** How much more than their estimates the sends cost, in micro-units; negative for cheaper bills. */
  readonly billed: number;
  /** First batch that was not counted; null if all were. */
  readonly next: number | null;
  /** Set if the pages of some batches are gone, so that their bills are missing from the sum. */
  readonly isPartial?: true;
}

export type CountBillsResult = CountedBills | BooksUnavailable;

export interface CampaignActivities {
  /** Reads a manifest, validates its rows, and stores the plan as artifacts. Buys nothing. */
  [ACTIVITY.planCampaign](input: PlanCampaignInput): Promise<CampaignPlan>;
  /** Returns the facts that a batch needs about the rows of one page. */
  [ACTIVITY.openPage](input: OpenPageInput): Promise<OpenedPage>;
  /** Sends a group of creates, each at most once. */
  [ACTIVITY.createVideos](input: CreateVideosInput): Promise<CreateVideosResult>;
  /** Downloads, verifies and stores a group of results, with one attempt each. */
  [ACTIVITY.downloadVideos](input: DownloadVideosInput): Promise<DownloadVideosResult>;
  /** Buys the images of one row, whose request is stored in a page. */
  [ACTIVITY.campaignImage](input: CampaignImageInput): Promise<ImageOutcome | WaitingImage>;
  /** Stores row results as a segment, and returns its hash. */
  [ACTIVITY.recordRows](input: RecordRowsInput): Promise<{ readonly sha256: string }>;
  /** Stores an index of segments, and returns its hash. */
  [ACTIVITY.foldResults](input: FoldResultsInput): Promise<{ readonly sha256: string }>;
  /** Performs one operation on a campaign's book. Idempotent. */
  [ACTIVITY.keepBooks](input: KeepBooksInput): Promise<KeepBooksResult>;
  /** Fences a batch that ended early, and calculates from the journal what it has spent. */
  [ACTIVITY.settleBatch](input: SettleBatchInput): Promise<SettleBatchResult>;
  /** Adds up the bills of batches' sends from the journal. Changes nothing. */
  [ACTIVITY.countBills](input: CountBillsInput): Promise<CountBillsResult>;
}
