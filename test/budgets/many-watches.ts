import { condition } from '@temporalio/workflow';
import { type PollingProfile } from '../../src/domain/video-task';
import { beginWatch } from '../../src/domain/watch-state';
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
  const now = Date.now();
  const polls: number[] = [];
  const loop = new PollLoop({
    onEnd: (_watch, end) => polls.push(end.kind === 'verdict' ? end.state.polls : -1),
  });
  for (const taskId of taskIds) {
    const video = {
      taskId,
      model: 'cine-1',
      durationSeconds: 2,
      resolution: '480p',
      referenceMode: 'none',
      account: 'default@0a1b2c3d',
      polling,
      createdAt: null,
      source: 'create_reply',
    } as const;
    loop.add({ state: beginWatch({ video, now, deadlineAt: now + waitMs, firstPollAt: now + 500 }) });
  }
  await condition(() => polls.length === taskIds.length);
  return polls;
}
