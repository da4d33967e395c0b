import { sleep } from '@temporalio/workflow';
import { PollLoop } from '../../../src/workflows';
import { beginWatch } from '../../../src/domain/watch-state';
import { videoTaskById } from '../../../src/domain/video-task';

/** Four tasks that join a group one after the other while it waits for its first poll; resolves with what they came to. */
export async function joiningWatches(keepsPace: boolean): Promise<string[]> {
  const loop = new PollLoop({ keepsPace });
  const ends: Promise<string>[] = [];
  for (let n = 0; n < 4; n += 1) {
    const polling = { minSeconds: 1, maxSeconds: 2, firstPollSeconds: 3 };
    const video = { ...videoTaskById(`task_${n}`, 'default@00000000'), polling };
    const now = Date.now();
    const state = beginWatch({ video, now, deadlineAt: now + 60_000, firstPollAt: now + 3_000 });
    ends.push(
      new Promise((resolve) =>
        loop.follow({
          state,
          settle: (end) => resolve(end.kind === 'verdict' ? end.verdict.kind : end.kind),
        }),
      ),
    );
    await sleep(200);
  }
  return Promise.all(ends);
}
