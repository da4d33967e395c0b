import { type WatchState } from './poll-watch';

/** A PollLoop between two ticks: everything that continue-as-new must carry (architecture: Poll). */
export interface PollLoopSnapshot {
  readonly v: 1;
  readonly groups: readonly PollGroupSnapshot[];
}

export interface PollGroupSnapshot {
  readonly account: string;
  /** Start of the last tick in workflow time, milliseconds; 0 before the first. */
  readonly lastTickAt: number;
  readonly intervalMs: number;
  readonly watches: readonly WatchState[];
}
