import { type JsonValue } from '../json';
import { type Billing } from '../money';
import { type ReportedFacts } from '../poll-answers';
import { type ArtifactRef, type PaidOperation, type PaidRequest } from '../request';
import { type ErrorKind } from '../video-task';

/** One valid row of a manifest, as stored in a page. Contains the prompt: pages are artifacts and enter no history. */
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
  /** By the price rule when the page was planned, in micro-units of the campaign's currency; null means unknown. */
  readonly estimate: number | null;
  /** First attempt of this row in this page: attempts before it were made by an earlier plan. */
  readonly attempt: number;
  /** Set when the row was bought with another text before and is bought again on purpose: part of its creation keys. */
  readonly rebought?: true;
  /** Bought before with another text, and not to be bought again: ends as `changed`. */
  readonly changed?: true;
  /** Result of an earlier plan, when this row is resumed. */
  readonly was?: { readonly outcome: RowOutcome; readonly ledger: readonly LedgerLine[] };
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

/** One attempt of a row in its ledger. Every attempt has its own creation key. */
export interface LedgerLine {
  /** From 0. */
  readonly attempt: number;
  /** Names the call in the journal. */
  readonly creationKey: string;
  /** Null for an image, and where no task is known to exist. */
  readonly taskId: string | null;
  /** Micro-units; null means unknown, never free. */
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

/** Color of an outcome: `good` is done, `wait` continues or was left out, `bad` needs a person. */
export type OutcomeTone = 'good' | 'wait' | 'bad';

interface OutcomeWords {
  readonly label: string;
  readonly tone: OutcomeTone;
}

const WORDS: { readonly [outcome in RowOutcome | 'refused']: OutcomeWords } = {
  completed: { label: 'Completed', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  still_running: { label: 'Still running', tone: 'wait' },
  content_unavailable: { label: 'File unavailable', tone: 'bad' },
  task_unknown: { label: 'Task unknown', tone: 'bad' },
  unconfirmed: { label: 'Unconfirmed', tone: 'bad' },
  rejected: { label: 'Rejected', tone: 'bad' },
  results_lost: { label: 'Results lost', tone: 'bad' },
  cancelled: { label: 'Cancelled', tone: 'wait' },
  skipped_budget: { label: 'Not bought', tone: 'wait' },
  changed: { label: 'Text changed', tone: 'wait' },
  // Of a campaign: its plan was refused.
  refused: { label: 'Refused', tone: 'bad' },
};

export function outcomeWords(outcome: string): OutcomeWords {
  const words: { readonly [outcome: string]: OutcomeWords } = WORDS;
  const known = Object.hasOwn(WORDS, outcome) ? words[outcome] : undefined;
  const plain = outcome.replaceAll('_', ' ');
  return known ?? { label: plain.charAt(0).toUpperCase() + plain.slice(1), tone: 'wait' };
}

const WORST_FIRST: readonly OutcomeTone[] = ['bad', 'wait', 'good'];

/**
 * The worst tone of these outcomes. A campaign is given with the outcomes of its rows, so that it is green only when no row
 * is left to look at.
 */
export function worstTone(outcomes: readonly string[]): OutcomeTone {
  const tones = new Set(outcomes.map((outcome) => outcomeWords(outcome).tone));
  return WORST_FIRST.find((tone) => tones.has(tone)) ?? 'good';
}

/** Rows with an outcome that needs a person. @param counts rows by outcome */
export function needingPerson(counts: { readonly [outcome: string]: number }): number {
  return Object.entries(counts).reduce(
    (sum, [outcome, rows]) => sum + (outcomeWords(outcome).tone === 'bad' ? rows : 0),
    0,
  );
}

/** Why a row has no result, as its result says it. */
export interface RowFailure {
  readonly outcome: string;
  readonly reason?: string | null | undefined;
  readonly errorKind?: string | null | undefined;
}

/** Why a row has no result, in one word such as `capacity` or `moderation`, independent of who refused it; null when nothing is known. */
export function failureKind({ outcome, reason, errorKind }: RowFailure): string | null {
  if (outcome === 'completed') return null;
  // The reason of a failed row is the code of the service.
  if (outcome === 'failed') return errorKind ?? 'unknown';
  return reason === 'invalid_request' ? 'invalid' : (reason ?? null);
}
