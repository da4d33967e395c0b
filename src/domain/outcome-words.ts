import { type RowOutcome } from './campaign/row';

/** Color of an outcome: `good` is done, `wait` continues or was left out, `bad` needs a person. */
export type OutcomeTone = 'good' | 'wait' | 'bad';

interface OutcomeWords {
  /** As a page names it. */
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

/** Words of an outcome, or of the last status of a row without one. */
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
