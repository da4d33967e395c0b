/**
 * The Temporal server's time in an activity attempt, in milliseconds since the Unix epoch: when the server scheduled the
 * attempt, and what has passed here since then. It is late by the wait for this worker, but no clock of this worker can
 * make it wrong: it is for times that a workflow or the server has set.
 * @param info of the activity
 * @param now milliseconds of a clock that never steps, such as `performance.now`
 */
export function attemptClock(
  { currentAttemptScheduledTimestampMs }: { readonly currentAttemptScheduledTimestampMs: number },
  now: () => number,
): () => number {
  const began = now();
  return () => currentAttemptScheduledTimestampMs + now() - began;
}
