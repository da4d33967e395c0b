import { type Billing } from '../price';
import { type JsonValue } from '../json';
import { type ArtifactRef, type PaidOperation, type PaidRequest } from '../request';
import { type ReportedFacts } from '../poll-answers';
import { type ErrorKind } from '../video-task';

/**
 * One valid row of a manifest, as stored in a page. Contains the prompt: pages are artifacts and enter no history.
 */
export interface CampaignRow {
  /** Index in the manifest, from 0, blank lines not counted: the identity of the row within one manifest. */
  readonly row: number;
  /** Line in the manifest, from 1, for messages. */
  readonly line: number;
  /** Column `id`, else {@link contentKey}: never the line number, so that a manifest may be sorted or extended. */
  readonly key: string;
  /** SHA-256 of the call, lower-case hexadecimal: shows whether a row that was bought has changed since. */
  readonly content: string;
  readonly call: PaidRequest;
  /** Credential name; absent: that of the campaign. */
  readonly account?: string;
  /**
   * By the price rule when the page was planned, in micro-units of the campaign's currency; null means unknown
   * (C1.5).
   */
  readonly estimate: number | null;
  /** First attempt of this row in this page: attempts before it were made by an earlier plan. */
  readonly attempt: number;
  /** Set when the row was bought with another text before and is bought again on purpose: part of its creation keys. */
  readonly rebought?: true;
  /** Bought before with another text, and not to be bought again: ends as `changed`. */
  readonly changed?: true;
  /** Result of an earlier plan, when this row is resumed. */
  readonly was?: {
    readonly outcome: RowOutcome;
    readonly ledger: readonly LedgerLine[];
  };
}

/** A page of a plan: an artifact of the type `application/json`. */
export interface CampaignPage {
  readonly v: 1;
  readonly page: number;
  readonly rows: readonly CampaignRow[];
}

/** Outcome of a row: the outcomes of single calls, and two of campaigns. */
export type RowOutcome =
  | 'completed'
  | 'failed'
  | 'still_running'
  | 'content_unavailable'
  | 'task_unknown'
  | 'unconfirmed'
  | 'rejected'
  | 'results_lost'
  | 'cancelled'
  /** Not bought: the budget was spent. */
  | 'skipped_budget'
  /** Not bought: bought before with another text, and `rebuyChanged` was not given. */
  | 'changed';

export const ROW_OUTCOMES: readonly RowOutcome[] = [
  'completed',
  'failed',
  'still_running',
  'content_unavailable',
  'task_unknown',
  'unconfirmed',
  'rejected',
  'results_lost',
  'cancelled',
  'skipped_budget',
  'changed',
];

/** One attempt of a row in its ledger. Every attempt has its own creation key. */
export interface LedgerLine {
  /** From 0. */
  readonly attempt: number;
  /** Names the call in the journal. */
  readonly creationKey: string;
  /** Null for an image, and where no task is known to exist. */
  readonly taskId: string | null;
  /** Micro-units; null means unknown, never free (C1.5). */
  readonly estimate: number | null;
  /** `none`: provably nothing was accepted. */
  readonly state: Billing['state'];
}

/** One line of the results. No prompt and no address; text of the service only in `message`. */
export interface CampaignRowResult {
  /** Index in the manifest, from 0. */
  readonly row: number;
  /** Line in the manifest, from 1. */
  readonly line: number;
  /** Its `id`, else made from its content. */
  readonly key: string;
  /** SHA-256 of the call. */
  readonly content: string;
  /** Number of the plan that produced it: an older result never replaces a newer one. */
  readonly generation: number;
  /** Page, and index in the page, of that generation. */
  readonly page: number;
  /** Index in that page, from 0. */
  readonly index: number;
  /** What the row asks for. */
  readonly operation: PaidOperation;
  /** Public model id. */
  readonly model: string;
  /** How the newest attempt ended. */
  readonly outcome: RowOutcome;
  /** The newest attempt, from 0. */
  readonly attempt: number;
  /** As in its page: the creation keys of a later plan depend on it. */
  readonly rebought?: true;
  /** Of the newest attempt; null for an image, and where no task is known to exist. */
  readonly taskId: string | null;
  /** Credential name and digest of the address; null where the row was not sent. */
  readonly account: string | null;
  /** The video, or the images in their order. */
  readonly artifacts: readonly ArtifactRef[];
  /** What the row asks for; null for each that it does not name. */
  readonly requested: {
    readonly durationSeconds: number | null;
    readonly resolution: string | null;
    readonly referenceMode: string | null;
  };
  /** What the service's record says of the result; absent unless a video is completed. */
  readonly reported?: ReportedFacts;
  /** The service's own numbers of what it used, unchanged; absent where it sent none. */
  readonly usage?: JsonValue;
  /** Why it is not completed: reason of a rejection, of unavailable content, of an unconfirmed create. */
  readonly reason?: string;
  /** Absent unless the service gave an error. */
  readonly errorKind?: ErrorKind;
  /** One sentence for a person; absent for rows that are completed. */
  readonly message?: string;
  /** Of the refusal or of the last answer; absent where no HTTP reply decided. */
  readonly httpStatus?: number;
  /** Differences between what was requested and what came. */
  readonly warnings: readonly string[];
  /** All attempts of the row, also those of earlier plans. */
  readonly ledger: readonly LedgerLine[];
  /** ISO 8601. */
  readonly startedAt: string | null;
  /** ISO 8601. */
  readonly createdAt: string | null;
  /** ISO 8601. */
  readonly finishedAt: string;
  /** Polls of the newest attempt; 0 for an image. */
  readonly polls: number;
}

/** Key of a row without an `id`: its content, and its index among the rows with that content. */
export function contentKey(content: string, occurrence: number): string {
  return `${content.slice(0, 20)}.${occurrence}`;
}

/** Longest `id` of a row, in characters. */
export const MAX_ROW_ID_LENGTH = 128;
