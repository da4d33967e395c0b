import { isoOf } from '../domain/answer-times';

/** The time after this many milliseconds, as answers and records contain it (ISO 8601). */
export function timeAfter(ms: number): string {
  return isoOf(Date.now() + ms);
}

/** Milliseconds until a time that this worker has just written; 0 where it has passed. */
export function msUntil(time: string): number {
  // oxlint-disable-next-line house/no-wall-clock-durations -- the same clock, a moment later
  return Math.max(0, Date.parse(time) - Date.now());
}
