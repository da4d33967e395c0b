import { type Check, isName, must } from './shape';

/** Longest task id that is accepted, in characters (failure model: row 33). */
export const MAX_TASK_ID_LENGTH = 512;

/**
 * Whether a value from the wire is usable as a task id; paths contain accepted ids percent-encoded
 * (failure model: row 33).
 */
export function isUsableTaskId(value: unknown): value is string {
  return isName(value, MAX_TASK_ID_LENGTH) && value !== '.' && value !== '..';
}

export const taskIdCheck: Check<string> = must(
  `the id of a task at the service, a text of at most ${MAX_TASK_ID_LENGTH} characters`,
  isUsableTaskId,
);
