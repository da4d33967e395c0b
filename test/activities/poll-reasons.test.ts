import { createPollVideos } from '../../src/activities/poll-videos';
import { type PollVideosInput } from '../../src/domain/poll-answers';
import { createMediaClient } from '../../src/service/create-media-client';
import { accountRegistry } from '../../src/settings/accounts';
import { json, loopback } from '../service/loopback-service';

const ACCOUNT = 'default@00000000';
const KEY = 'key-1234567890';

/**
 * One tick over so many tasks against a service that answers each with this body and 500.
 * @param mistaken the task that a mistake of ours keeps from being polled
 */
async function tick(tasks: number, body: unknown, mistaken?: string) {
  const service = await loopback((_request, response) => json(response, 500, body));
  const client = createMediaClient({ baseUrl: service.origin, apiKey: () => KEY });
  const getVideo: typeof client.getVideo = (id) =>
    id === mistaken ? Promise.reject(new TypeError('undefined is not a function')) : client.getVideo(id);
  const polled = { ...client, getVideo };
  const accounts = accountRegistry([{ name: ACCOUNT, client: polled, hasKey: () => Promise.resolve(true) }]);
  const ids = Array.from({ length: tasks }, (_, n) => `task_${n}`);
  const byModel = [{ model: 'm', ids, seen: ids.map(() => '') }];
  const input: PollVideosInput = { account: ACCOUNT, byModel, budgetMs: 30_000, minIntervalMs: 0 };
  try {
    return (await createPollVideos({ accounts })(input)).answers;
  } finally {
    await client.close();
    await service.close();
  }
}

describe('why a poll brought no record', () => {
  it('[C7.7] [C5.4a] is told in the words of the service, cleaned and short', async () => {
    const message = `Guardrail blocked the prompt, key ${KEY}, see https://x.example/a?sig=abc ${'and more '.repeat(100)}`;
    const [answer] = await tick(1, { error: { message, code: 'guardrail_blocked' } });
    expect(answer).toMatchObject({
      index: 0,
      error: 'unavailable',
      httpStatus: 500,
      reason: {
        code: 'guardrail_blocked',
        message: expect.stringMatching(/^Guardrail blocked the prompt/) as string,
      },
    });
    expect(JSON.stringify(answer)).not.toMatch(/1234567890|sig=abc/);
    expect(JSON.stringify(answer).length).toBeLessThan(400);
  });

  it('may be a mistake of ours, which keeps no other task of its tick from being polled', async () => {
    const answers = await tick(3, { error: { message: 'the database is down' } }, 'task_1');
    const byIndex = answers.toSorted((a, b) => a.index - b.index);
    expect(byIndex).toMatchObject([
      { error: 'unavailable' },
      { error: 'unreadable', reason: { code: 'internal_error' } },
      { error: 'unavailable' },
    ]);
  });

  it('is told of some tasks where a service fails for all, and not where it says nothing', async () => {
    const answers = await tick(200, { error: { message: 'the database is down' } });
    expect(answers).toHaveLength(200);
    expect(answers.filter((answer) => 'reason' in answer)).toHaveLength(50);
    expect((await tick(1, {}))[0]).not.toHaveProperty('reason');
  });
});
