import { condition, sleep } from '@temporalio/workflow';
import { PACE } from '../../../src/domain/poll-cadence';
import { videoTaskById } from '../../../src/domain/video-task';
import { beginWatch } from '../../../src/domain/watch-state';
import { PollLoop } from '../../../src/workflows';

/** Four tasks that join a group one after the other while it waits for its first poll; resolves with what they came to. */
export async function joiningWatches(keepsPace: boolean): Promise<string[]> {
  const ends: string[] = [];
  const loop = new PollLoop({
    pace: { ...PACE.own, keepsPace },
    onEnd: (_watch, end) => ends.push(end.kind === 'verdict' ? end.verdict.kind : end.kind),
  });
  for (let n = 0; n < 4; n += 1) {
    const polling = { minSeconds: 1, maxSeconds: 2, firstPollSeconds: 3 };
    const video = { ...videoTaskById(`task_${n}`, 'default@00000000'), polling };
    const now = Date.now();
    loop.add({ state: beginWatch({ video, now, deadlineAt: now + 60_000, firstPollAt: now + 3_000 }) });
    await sleep(200);
  }
  await condition(() => ends.length === 4);
  return ends;
}
