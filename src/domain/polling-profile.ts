/**
 * How often one model family is polled (contract 8): general 3-5 s, a third family about 10 s, the slow one 10-15 s.
 */
export interface PollingProfile {
  /** Shortest time between two polls of one task, jitter included, in seconds (C8.2). */
  readonly minSeconds: number;
  /** Longest time between two polls while nothing is wrong, in seconds. */
  readonly maxSeconds: number;
  /** Time from creation to the first poll, in seconds. */
  readonly firstPollSeconds: number;
}

/** Who polls a video: its own workflow, or a watcher that polls many. */
export type PollingMode = 'own' | 'shared';

/** The general family of contract section 8: 4 s with one second of jitter to each side. */
export const DEFAULT_POLLING: PollingProfile = { minSeconds: 3, maxSeconds: 5, firstPollSeconds: 4 };

/** Key of a cadence band: tasks of one account and one band share a timer and an activity (architecture: Poll). */
export function bandKey(profile: PollingProfile): string {
  return `${profile.minSeconds}-${profile.maxSeconds}`;
}
