import { beginWatch } from '../../src/domain/watch-state';
import { type PollingProfile } from '../../src/domain/polling-profile';
import { PollLoop } from '../../src/workflows';

export * from '../../src/workflows';

export interface ManyWatchesInput {
  readonly taskIds: readonly string[];
  readonly polling: PollingProfile;
  /** Milliseconds until every watch ends. */
  readonly waitMs: number;
}

/** One loop for many tasks, as a batch of a campaign runs it; the number of polls of each task. */
export async function manyWatches({ taskIds, polling, waitMs }: ManyWatchesInput): Promise<number[]> {
  const loop = new PollLoop();
  const now = Date.now();
  const results = await Promise.all(
    taskIds.map((taskId) =>
      loop.watch(
        beginWatch({
          video: {
            taskId,
            model: 'cine-1',
            durationSeconds: 2,
            resolution: '480p',
            referenceMode: 'none',
            account: 'default@0a1b2c3d',
            polling,
            createdAt: null,
            source: 'create_reply',
          },
          now,
          deadlineAt: now + waitMs,
          firstPollAt: now + 500,
        }),
      ),
    ),
  );
  return results.map((result) => (result.kind === 'verdict' ? result.state.polls : -1));
}
