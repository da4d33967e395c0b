import { condition } from '@temporalio/workflow';
import { type PollingProfile, videoTaskById } from '../../../src/domain/video-task';
import { beginWatch } from '../../../src/domain/watch-state';
import { PollLoop } from '../../../src/workflows';

export interface LateWatch {
  readonly kinds: readonly string[];
  /** Task ids that the next run would go on with. */
  readonly carried: readonly string[];
}

/** A loop that hands over after its first tick, and a watch of another cadence that comes only then. */
export async function watchAfterHandOver(): Promise<LateWatch> {
  const kinds: string[] = [];
  const carried: string[] = [];
  const loop = new PollLoop({
    shouldHandOver: () => true,
    onEnd: ({ state }, end) => {
      kinds.push(end.kind);
      if (end.kind === 'handover') carried.push(state.video.taskId);
    },
  });
  loop.add({ state: watchOf('first', { minSeconds: 1, maxSeconds: 1, firstPollSeconds: 1 }) });
  await condition(() => kinds.length === 1);
  loop.add({ state: watchOf('late', { minSeconds: 2, maxSeconds: 2, firstPollSeconds: 1 }) });
  await condition(() => kinds.length === 2);
  return { kinds, carried };
}

function watchOf(taskId: string, polling: PollingProfile): ReturnType<typeof beginWatch> {
  const now = Date.now();
  const video = { ...videoTaskById(taskId, 'default@00000000'), polling };
  return beginWatch({ video, now, deadlineAt: now + 600_000, firstPollAt: now });
}
