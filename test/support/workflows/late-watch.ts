import { PollLoop } from '../../../src/workflows';
import { beginWatch } from '../../../src/domain/watch-state';
import { type PollingProfile } from '../../../src/domain/polling-profile';
import { videoTaskById } from '../../../src/domain/video-task';

export interface LateWatch {
  readonly kinds: readonly string[];
  /** Task ids that the next run would go on with. */
  readonly carried: readonly string[];
}

/** A loop that hands over after its first tick, and a watch of another cadence that comes only then. */
export async function watchAfterHandOver(): Promise<LateWatch> {
  const loop = new PollLoop({ shouldHandOver: () => true });
  const first = await loop.watch(watchOf('first', { minSeconds: 1, maxSeconds: 1, firstPollSeconds: 1 }));
  const late = await loop.watch(watchOf('late', { minSeconds: 2, maxSeconds: 2, firstPollSeconds: 1 }));
  const carried = loop.snapshot().groups.flatMap((group) => group.watches.map(({ video }) => video.taskId));
  return { kinds: [first.kind, late.kind], carried };
}

function watchOf(taskId: string, polling: PollingProfile): ReturnType<typeof beginWatch> {
  const now = Date.now();
  const video = { ...videoTaskById(taskId, 'default@00000000'), polling };
  return beginWatch({ video, now, deadlineAt: now + 600_000, firstPollAt: now });
}
