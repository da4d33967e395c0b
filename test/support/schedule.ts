import { type Info } from '@temporalio/activity';

/** The first try of an activity that the server schedules at this time, in milliseconds since the Unix epoch. */
export function scheduledAt(
  time: number,
): Pick<Info, 'scheduledTimestampMs' | 'currentAttemptScheduledTimestampMs'> {
  return { scheduledTimestampMs: time, currentAttemptScheduledTimestampMs: time };
}

/** A later try of an activity, which an operator has reset: its number, and the heartbeat of the earlier one, are gone. */
export function afterReset(
  time: number,
  agoMs = 1_000,
): Pick<Info, 'attempt' | 'scheduledTimestampMs' | 'currentAttemptScheduledTimestampMs'> {
  return { attempt: 1, scheduledTimestampMs: time - agoMs, currentAttemptScheduledTimestampMs: time };
}
