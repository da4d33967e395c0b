import { type TaskPhase } from '../domain/poll-answers';

/** Every status word that services of this family are known to send (wire-facts). Only these decide anything. */
const PHASES: { readonly [phase in Exclude<TaskPhase, 'unknown'>]: readonly string[] } = {
  queued: ['queued', 'pending', 'submitted', 'not_start', 'preparing', 'created', 'starting', 'unknown'],
  in_progress: ['in_progress', 'processing', 'running', 'generating'],
  completed: ['completed', 'success', 'succeeded', 'complete', 'finished', 'done'],
  failed: ['failed', 'fail', 'failure', 'error', 'cancelled', 'canceled', 'expired', 'deleted'],
};

const PHASE_OF: ReadonlyMap<string, TaskPhase> = new Map(
  Object.entries(PHASES).flatMap(([phase, words]) => words.map((word) => [word, phase as TaskPhase])),
);

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
