import { watchFacts, type WatchState } from './poll-watch';
import { type VideoState } from './video-state';

type PollFacts = Pick<
  VideoState,
  'watch' | 'lastChangeAt' | 'lastPollAt' | 'polls' | 'lastHttpStatus' | 'consecutiveErrors'
>;

/** What a watch tells about its polls; `undefined` before there is one (architecture: Poll). */
export function pollFacts(state: WatchState | undefined): PollFacts {
  if (state === undefined) {
    const none = { watch: null, lastChangeAt: null, lastPollAt: null, lastHttpStatus: null };
    return { ...none, polls: 0, consecutiveErrors: 0 };
  }
  const watch = watchFacts(state);
  const { lastChangeAt, lastPollAt, polls } = watch;
  const lastHttpStatus = lastStatusOf(state);
  return { watch, lastChangeAt, lastPollAt, polls, lastHttpStatus, consecutiveErrors: state.errors };
}

function lastStatusOf({ lastError, lastPollAt }: WatchState): number | null {
  if (lastError !== null) return lastError.httpStatus ?? null;
  return lastPollAt === null ? null : 200;
}
