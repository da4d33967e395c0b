import { type JsonValue } from '../json';
import { type Billing, type Labels } from '../money';
import { type ReportedFacts } from '../poll-answers';
import { type ArtifactRef, type PaidOperation, type PaidRequest } from '../request';
import { type ErrorKind } from '../video-task';

/**
 * A valid manifest row, as stored in a page. Contains the prompt. Pages are artifacts and never enter a history.
 */
export interface CampaignRow {
  /** Index in the manifest, from 0, not counting blank lines. Identifies the row within one manifest. */
  readonly row: number;
  /** Line in the manifest, from 1, for messages. */
  readonly line: number;
  /** Column `id`, or else {@link contentKey}. Never the line number, so a manifest can be sorted or extended. */
  readonly key: string;
  /** SHA-256 of the call, lowercase hexadecimal. Shows whether a row has changed since it was bought. */
  readonly content: string;
  readonly call: PaidRequest;
  /** Credential name. If absent, the campaign's credential is used. */
  readonly account?: string;
  /** The campaign's labels, and those of its columns. */
  readonly labels?: Labels;
  /**
   * Estimate from the price rule when the page was planned, in micro-units of the campaign's currency; null means
   * unknown.
   */
  readonly estimate: number | null;
  /** Number of this row's first attempt in this plan. Earlier attempts belong to an earlier plan. */
  readonly attempt: number;
  /**
   * Set if the row was previously bought with different text and is deliberately bought again. Part of the row's
   * creation keys.
   */
  readonly rebought?: true;
  /**
   * Set if the row was previously bought with different text and must not be bought again. Its outcome is `changed`.
   */
  readonly changed?: true;
  /** Result from an earlier plan, if this row is resumed. */
  readonly was?: { readonly outcome: RowOutcome; readonly ledger: readonly LedgerLine[] };
}

/** A page of a plan. Stored as an artifact of type `application/json`. */
export interface CampaignPage {
  readonly v: 1;
  readonly page: number;
  readonly rows: readonly CampaignRow[];
}

/** A row's outcome: any outcome of a single call, or one of two that only campaigns have. */
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
  /** Not bought, because the budget was spent. */
  | 'skipped_budget'
  /** Not bought again, because it was previously bought with different text and `rebuyChanged` was not set. */
  | 'changed';

/** One attempt in a row's ledger. Every attempt has its own creation key. */
export interface LedgerLine {
  /** Number of the attempt, from 0. */
  readonly attempt: number;
  /** Identifies the call in the journal. */
  readonly creationKey: string;
  /** Null for an image, and if no task is known to exist. */
  readonly taskId: string | null;
  /** How it ended. */
  readonly outcome: RowOutcome;
  /** Micro-units; null means unknown, never free. */
  readonly estimate: number | null;
  /** Micro-units, according to a bill when the attempt ended; null if there was none, or the row has no price. */
  readonly actual: number | null;
  /** `none`: provably, nothing was accepted. */
  readonly state: Billing['state'];
}

/** One line of the results. Contains no prompts or URLs, and text from the service only in `message`. */
export interface CampaignRowResult {
  /** Index in the manifest, from 0. */
  readonly row: number;
  /** Line in the manifest, from 1. */
  readonly line: number;
  /** The row's `id`, or else a key derived from its content. */
  readonly key: string;
  /** SHA-256 of the call. */
  readonly content: string;
  /** Number of the plan that produced this result. An older result never replaces a newer one. */
  readonly generation: number;
  /** Page of that plan. */
  readonly page: number;
  /** Index in that page, from 0. */
  readonly index: number;
  /** The kind of call that the row makes. */
  readonly operation: PaidOperation;
  /** Public model id. */
  readonly model: string;
  /** Outcome of the latest attempt. */
  readonly outcome: RowOutcome;
  /** Number of the latest attempt, from 0. */
  readonly attempt: number;
  /** Same as in the row's page. A later plan's creation keys depend on it. */
  readonly rebought?: true;
  /** Task of the latest attempt; null for an image, and if no task is known to exist. */
  readonly taskId: string | null;
  /** Credential name and digest of the base address; null if the row was not sent. */
  readonly account: string | null;
  /** Absent if the row has none. */
  readonly labels?: Labels;
  /** The video, or the images in order. */
  readonly artifacts: readonly ArtifactRef[];
  /** The requested values; null for each value that the row does not specify. */
  readonly requested: {
    readonly durationSeconds: number | null;
    readonly resolution: string | null;
    readonly referenceMode: string | null;
  };
  /** The service's description of the result; absent unless a video is completed. */
  readonly reported?: ReportedFacts;
  /** The service's usage data, unchanged; absent if it sent none. */
  readonly usage?: JsonValue;
  /** Why the row is not completed: the reason for a rejection, unavailable content or an unconfirmed create. */
  readonly reason?: string;
  /** Absent unless the service returned an error. */
  readonly errorKind?: ErrorKind;
  /** One human-readable sentence; absent for completed rows. */
  readonly message?: string;
  /** HTTP status of the refusal or the last answer; absent if no HTTP reply decided the outcome. */
  readonly httpStatus?: number;
  /** Differences between the request and the result. */
  readonly warnings: readonly string[];
  /** All attempts of the row, including attempts from earlier plans. */
  readonly ledger: readonly LedgerLine[];
  /** ISO 8601. */
  readonly startedAt: string | null;
  /** ISO 8601. */
  readonly createdAt: string | null;
  /** ISO 8601. */
  readonly finishedAt: string;
  /** Polls of the latest attempt; 0 for an image. */
  readonly polls: number;
}

/** Returns the key for a row without an `id`: its content hash, and its index among rows with the same content. */
export function contentKey(content: string, occurrence: number): string {
  return `${content.slice(0, 20)}.${occurrence}`;
}

/** Maximum length of a row's `id`, in characters. */
export const MAX_ROW_ID_LENGTH = 128;

/**
 * Tone of an outcome: `good` means done, `wait` means still running or skipped, and `bad` means that it needs a person.
 */
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
  // For a campaign whose plan was rejected.
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
 * Returns the worst tone of these outcomes. For a campaign, also pass its rows' outcomes, so that it is green only if
 * no row needs attention.
 */
export function worstTone(outcomes: readonly string[]): OutcomeTone {
  const tones = new Set(outcomes.map((outcome) => outcomeWords(outcome).tone));
  return WORST_FIRST.find((tone) => tones.has(tone)) ?? 'good';
}

/** Returns the number of rows whose outcome needs a person's attention. @param counts rows by outcome */
export function needingPerson(counts: { readonly [outcome: string]: number }): number {
  return Object.entries(counts).reduce(
    (sum, [outcome, rows]) => sum + (outcomeWords(outcome).tone === 'bad' ? rows : 0),
    0,
  );
}

/** The fields in a row's result that show why it was not completed. */
export interface RowFailure {
  readonly outcome: string;
  readonly reason?: string | null | undefined;
  readonly errorKind?: string | null | undefined;
}

/**
 * Returns a one-word reason why a row has no result, such as `capacity` or `moderation`, regardless of who rejected it.
 * Returns null if the reason is unknown.
 */
export function failureKind({ outcome, reason, errorKind }: RowFailure): string | null {
  if (outcome === 'completed') return null;
  // A failed row's reason is the service's code.
  if (outcome === 'failed') return errorKind ?? 'unknown';
  return reason === 'invalid_request' ? 'invalid' : (reason ?? null);
}
