import { setTimeout as delay } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createMediaActivities } from '../../src/activities/create-media-activities';
import { createPollVideos } from '../../src/activities/poll-videos';
import { ACTIVITY } from '../../src/domain/names';
import {
  type PollShortage,
  type PollVideosInput,
  type PollVideosResult,
} from '../../src/domain/poll-answers';
import { type MediaClient } from '../../src/service/media-client';
import { accountRegistry } from '../../src/settings/accounts';
import { createModelSource } from '../../src/settings/model-source';
import { type ArtifactStore } from '../../src/stores/artifacts/artifact-store';

// Virtual time reaches the global timers alone.
jest.mock('node:timers/promises', () => ({
  setTimeout: (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)),
}));

const ACCOUNT = 'default@00000000';
const INTERVAL_MS = 4_000;

interface Given {
  readonly tasks: number;
  readonly connections: number;
  readonly latencyMs: number;
  readonly minutes: number;
}

/** What ticks say of the sockets; GETs beyond `connections` wait, as they do in a pool. */
async function shortagesOf({ tasks, connections, latencyMs, minutes }: Given): Promise<PollShortage[]> {
  jest.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
  try {
    const getVideo = async () => {
      await delay(latencyMs);
      return { kind: 'record', httpStatus: 200, record: { status: 'queued', phase: 'queued' } };
    };
    const accounts = accountRegistry([
      { name: ACCOUNT, client: { getVideo } as unknown as MediaClient, hasKey: async () => true },
    ]);
    const poll = createPollVideos({ accounts, pollConcurrency: connections });
    const ids = Array.from({ length: tasks }, (_, n) => `task_${n}`);
    const input: PollVideosInput = {
      account: ACCOUNT,
      byModel: [{ model: 'm', ids, seen: ids.map(() => '') }],
      budgetMs: INTERVAL_MS - 1_000,
      minIntervalMs: 3_000,
    };
    const found: PollShortage[] = [];
    const ended = (async () => {
      for (let tick = 0; tick < (minutes * 60_000) / INTERVAL_MS; tick++) {
        const [{ shortage }] = await Promise.all([poll(input), delay(INTERVAL_MS)]);
        if (shortage !== undefined) found.push(shortage);
      }
    })();
    await jest.advanceTimersByTimeAsync((minutes + 1) * 60_000);
    await ended;
    return found;
  } finally {
    jest.useRealTimers();
  }
}

describe('sockets for polls', () => {
  it('that are too few for the latency are said once in ten minutes, with the number that would do', async () => {
    const given = { tasks: 40, connections: 5, latencyMs: 3_450, minutes: 9 };
    const found = await shortagesOf(given);
    expect(found).toHaveLength(1);
    const [{ connections, needed } = { connections: 0, needed: 0 }] = found;
    expect(connections).toBe(5);
    expect(needed).toBeGreaterThanOrEqual((40 / 4) * 3.45);
    expect(needed).toBeLessThanOrEqual(1.3 * 40);
    expect(await shortagesOf({ ...given, connections: needed })).toEqual([]);
    expect(await shortagesOf({ ...given, minutes: 12 })).toHaveLength(2);
  });

  it.each([
    { tasks: 40, connections: 5, latencyMs: 100, minutes: 5 },
    { tasks: 1, connections: 64, latencyMs: 19_000, minutes: 5 },
    { tasks: 15, connections: 16, latencyMs: 12_000, minutes: 5 },
  ])('that do are not spoken of (%j)', async (given) => {
    expect(await shortagesOf(given)).toEqual([]);
  });

  it('[C5.4c] are a warning in the log of the worker that names the variable and no task', async () => {
    const lines: string[] = [];
    const environment = new MockActivityEnvironment(undefined, {
      logger: {
        log: () => undefined,
        trace: () => undefined,
        debug: () => undefined,
        info: () => undefined,
        error: () => undefined,
        warn: (message: string) => void lines.push(message),
      },
    });
    const result: PollVideosResult = { answers: [], shortage: { connections: 64, needed: 561 } };
    const activities = createMediaActivities({
      accounts: accountRegistry([]),
      artifacts: {} as ArtifactStore,
      journal: 'none',
      models: createModelSource(),
      pollVideos: () => Promise.resolve(result),
    });
    const input = { account: ACCOUNT, byModel: [], budgetMs: 1, minIntervalMs: 1 };
    const poll = (tick: PollVideosInput) => activities[ACTIVITY.pollVideos](tick);
    expect(await environment.run(poll, input)).toEqual(result);
    expect(lines).toEqual([expect.stringMatching(/MEDIA_POLL_CONNECTIONS=64 is too low.* at least 561/)]);
  });
});
