import { MockActivityEnvironment } from '@temporalio/testing';
import { createPollVideos, dueAt } from '../../src/activities/poll-videos';
import { type PollVideosInput, type PollVideosResult } from '../../src/domain/poll-answers';
import { type MediaClient } from '../../src/service/media-client';
import { accountRegistry } from '../../src/settings/accounts';

describe('the order of polls in a tick', () => {
  it('begins with the tasks that waited longest, and answers each under its own place', async () => {
    const asked: string[] = [];
    const client = {
      getVideo: (taskId: string) => {
        asked.push(taskId);
        return Promise.resolve({ kind: 'error', error: 'network' });
      },
    } as unknown as MediaClient;
    const accounts = accountRegistry([{ name: 'a@00000000', client, hasKey: async () => true }]);
    const poll = createPollVideos({ accounts, pollConcurrency: 1 });
    const tick = (ids: readonly string[], spread?: PollVideosInput['spread']): Promise<PollVideosResult> => {
      const input: PollVideosInput = {
        ...(spread !== undefined && { spread }),
        account: 'a@00000000',
        byModel: [{ model: 'm', ids, seen: ids.map(() => '') }],
        budgetMs: 60_000,
        minIntervalMs: 0,
      };
      return new MockActivityEnvironment().run<[PollVideosInput], PollVideosResult, typeof poll>(poll, input);
    };
    await tick(['one', 'two']);
    asked.length = 0;
    const { answers } = await tick(['one', 'two', 'three', 'four']);
    expect(asked).toEqual(['three', 'four', 'one', 'two']);
    expect(answers.map(({ index }) => index)).toEqual([2, 3, 0, 1]);
    // Spread over a part of the tick, each at its own time.
    asked.length = 0;
    // Their places are further from each other than a step of the clock.
    const spread = { everyMs: 1_600, overMs: 800 };
    const fresh = ['five', 'six', 'nine', 'ten'];
    const times = new Map(fresh.map((id) => [id, dueAt(`a@00000000 ${id}`, 0, 1e12, spread)]));
    expect(new Set(times.values()).size).toBe(fresh.length);
    await tick(fresh, spread);
    expect(asked).toEqual([...times].sort(([, a], [, b]) => a - b).map(([id]) => id));
  });
});
