import { type TaskPhase } from '../domain/poll-answers';

/**
 * All status values that services of this family are known to send (test/fixtures/wire), in lower case with
 * underscores. Other values determine nothing (C2.2.2). A new value is one entry here.
 */
export const STATUS_VALUES: { readonly [word: string]: Exclude<TaskPhase, 'unknown'> } = {
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
  rejected: 'failed',
  timed_out: 'failed',
  timeout: 'failed',
  aborted: 'failed',
  moderated: 'failed',
  nsfw: 'failed',
};

/** A Map, because a service may send `constructor`. */
const PHASE_OF: ReadonlyMap<string, TaskPhase> = new Map(Object.entries(STATUS_VALUES));

/** Longest status value that is reported, in characters. */
const MAX_WORD = 64;

/** A status value as it is reported: lower case, trimmed, without control characters, capped. */
export function statusValue(value: string): string {
  return value
    .slice(0, MAX_WORD * 4)
    .replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '')
    .trim()
    .toLowerCase()
    .slice(0, MAX_WORD);
}

/** Phase of a status value; `unknown` is reported and is not final (C2.2.2). Blanks and dashes count as underscores. */
export function phaseOf(word: string): TaskPhase {
  return PHASE_OF.get(word.replace(/[ -]/g, '_')) ?? 'unknown';
}
