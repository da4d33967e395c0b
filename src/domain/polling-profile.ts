import { amount, type Check, must, messageOf } from './shape';

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

/** The contract has no family that is polled faster (C8.2). */
export const LEAST_POLL_SECONDS = 3;
/** A day. More would be no polling, and absurd numbers do not fit into a timer. */
export const MOST_POLL_SECONDS = 86_400;

const seconds = (least: number): Check<number> => amount(least, MOST_POLL_SECONDS);

/** A profile that a caller has stored and hands back. */
export const pollingProfileCheck: Check<PollingProfile> = (value, field) =>
  messageOf<PollingProfile>({
    minSeconds: seconds(LEAST_POLL_SECONDS),
    maxSeconds: seconds(LEAST_POLL_SECONDS),
    firstPollSeconds: seconds(0),
  })(value, field) ??
  must<PollingProfile>('a profile in which minSeconds does not exceed maxSeconds', (profile) => {
    const { minSeconds, maxSeconds } = profile as PollingProfile;
    return minSeconds <= maxSeconds;
  })(value, field);

/** Who polls a video: its own workflow, or a watcher that polls many. */
export type PollingMode = 'own' | 'shared';

/** The general family of contract section 8: 4 s with one second of jitter to each side. */
export const DEFAULT_POLLING: PollingProfile = { minSeconds: 3, maxSeconds: 5, firstPollSeconds: 4 };

/** Key of a cadence band: tasks of one account and one band share a timer and an activity (architecture: Wait). */
export function bandKey(profile: PollingProfile): string {
  return `${profile.minSeconds}-${profile.maxSeconds}`;
}
