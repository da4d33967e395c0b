import { type TaskPhase } from '../domain/poll-answers';

/**
 * Every status word that services of this family are known to send (test/fixtures/wire), in lower case with underscores. Only
 * these decide anything (C2.2.2). A new word is one line here.
 */
export const STATUS_WORDS: { readonly [word: string]: Exclude<TaskPhase, 'unknown'> } = {
  queued: 'queued',
  pending: 'queued',
  submitted: 'queued',
  not_start: 'queued',
  preparing: 'queued',
  created: 'queued',
  starting: 'queued',
  unknown: 'queued',
  in_progress: 'in_progress',
  processing: 'in_progress',
  running: 'in_progress',
  generating: 'in_progress',
  completed: 'completed',
  success: 'completed',
  succeeded: 'completed',
  complete: 'completed',
  finished: 'completed',
  done: 'completed',
  failed: 'failed',
  fail: 'failed',
  failure: 'failed',
  error: 'failed',
  cancelled: 'failed',
  canceled: 'failed',
  expired: 'failed',
  deleted: 'failed',
};

/** A map, because a service may send `constructor`. */
const PHASE_OF: ReadonlyMap<string, TaskPhase> = new Map(Object.entries(STATUS_WORDS));

/** Longest status word that is reported, in characters. */
const MAX_WORD = 64;

/** The word as it is reported: lower case, without blanks around it or control characters, capped. */
export function statusWord(value: string): string {
  return value
    .slice(0, MAX_WORD * 4)
    .replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '')
    .trim()
    .toLowerCase()
    .slice(0, MAX_WORD);
}

/** Meaning of a status word; `unknown` is reported and is not final (C2.2.2). Blanks and dashes count as underscores. */
export function phaseOf(word: string): TaskPhase {
  return PHASE_OF.get(word.replace(/[ -]/g, '_')) ?? 'unknown';
}
