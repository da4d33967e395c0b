/** Control characters, and lone surrogates, which cannot be percent-encoded. */
// eslint-disable-next-line no-control-regex
const UNUSABLE = /[\u0000-\u001f\u007f]|\p{Cs}/u;

/** Longest task id that is accepted, in characters (failure model: row 33). */
export const MAX_TASK_ID_LENGTH = 512;

/**
 * Whether a value from the wire is usable as a task id; paths contain accepted ids percent-encoded
 * (failure model: row 33).
 */
export function isUsableTaskId(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.trim().length > 0 &&
    value.length <= MAX_TASK_ID_LENGTH &&
    !UNUSABLE.test(value) &&
    value !== '.' &&
    value !== '..'
  );
}
