/**
 * When an activity was scheduled, for its first attempt. Both times come from one reading of the clock: where they
 * differ, even by a millisecond, the attempt is a later one, which answers "pending" instead of proving anything.
 */
export function firstAttempt(now = Date.now()): {
  readonly scheduledTimestampMs: number;
  readonly currentAttemptScheduledTimestampMs: number;
} {
  return { scheduledTimestampMs: now, currentAttemptScheduledTimestampMs: now };
}
