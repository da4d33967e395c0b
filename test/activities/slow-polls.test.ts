import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { createPollVideos } from '../../src/activities/poll-videos';
import { verdictWithoutRecord, type WatchVerdict } from '../../src/domain/end-of-wait';
import { PACE, PollGroup, type PollPace } from '../../src/domain/poll-cadence';
import { type PollingProfile } from '../../src/domain/video-task';
import { beginWatch, type WatchState } from '../../src/domain/watch-state';
import { type GetVideoResult, type MediaClient } from '../../src/service/media-client';
import { accountRegistry } from '../../src/settings/accounts';
import { makeVideoTask } from '../domain/make-video-task';

// Virtual time reaches the global timers alone.
jest.mock('node:timers/promises', () => ({
  setTimeout: (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)),
}));

const MINUTE = 60_000;
/** Longest GET there is: ten seconds for the headers and ten for the body. */
const LONGEST_MS = 20_000;

interface Given {
  /** Of one GET after the other. */
  readonly latenciesMs: readonly number[];
  readonly completedAfterMs: number;
  readonly profile: PollingProfile;
  readonly pace: PollPace;
  /** When each watcher of the task begins. */
  readonly watchers: readonly number[];
  readonly jitter: number;
  readonly waitMs: number;
}

interface Watched {
  readonly verdict: WatchVerdict;
  readonly state: WatchState;
  readonly ticks: readonly number[];
  readonly endedAt: number;
}

/** Sends and replies of one task, and what its watchers saw: the real cadence and the real poller in virtual time. */
async function watchAll(given: Given) {
  jest.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
  try {
    const start = Date.now();
    const sent: number[] = [];
    const replied: { readonly at: number; readonly final: boolean }[] = [];
    const getVideo = async (): Promise<GetVideoResult> => {
      const final = Date.now() - start >= given.completedAfterMs;
      const latency = given.latenciesMs[sent.length % given.latenciesMs.length] as number;
      sent.push(Date.now() - start);
      await delay(latency);
      replied.push({ at: Date.now() - start, final });
      const record = final
        ? ({ status: 'completed', phase: 'completed' } as const)
        : ({ status: 'queued', phase: 'queued' } as const);
      return { kind: 'record', httpStatus: 200, record, resultUrls: [] };
    };
    const client = { getVideo } as unknown as MediaClient;
    const video = makeVideoTask({ polling: given.profile });
    const poll = createPollVideos({
      accounts: accountRegistry([{ name: video.account, client, hasKey: async () => true }]),
    });

    const watch = async (beginsAt: number): Promise<Watched> => {
      await delay(beginsAt);
      const group = new PollGroup(video.polling, undefined, given.pace);
      const now = Date.now();
      const times = { now, deadlineAt: now + given.waitMs, firstPollAt: now };
      let state = beginWatch({ video, ...times });
      const ticks: number[] = [];
      const ended = (verdict: WatchVerdict): Watched => ({
        verdict,
        state,
        ticks,
        endedAt: Date.now() - start,
      });
      for (;;) {
        const verdict = verdictWithoutRecord(state, Date.now());
        if (verdict !== undefined) return ended(verdict);
        const wait = group.nextWakeAt([{ state }]) - Date.now();
        if (wait > 0) await delay(wait);
        const at = Date.now();
        if (group.beginTick([{ state }], at, given.jitter).length === 0) continue;
        ticks.push(at - start);
        const { answers } = await poll(group.tickInput(video.account, [{ state }]).input);
        const next = group.apply(state, answers[0], at, given.jitter, Date.now());
        state = next.state;
        if (next.verdict !== undefined) return ended(next.verdict);
      }
    };
    const watched = Promise.all(given.watchers.map(watch));
    await jest.advanceTimersByTimeAsync(given.waitMs + 2 * MINUTE);
    const hangs = Promise.reject(new Error('A watcher has not ended.'));
    return { watched: await Promise.race([watched, hangs]), sent, replied, start };
  } finally {
    jest.useRealTimers();
  }
}

const profile = fc
  .tuple(fc.integer({ min: 3, max: 15 }), fc.integer({ min: 0, max: 5 }))
  .map(([min, band]): PollingProfile => ({ minSeconds: min, maxSeconds: min + band, firstPollSeconds: min }));

const given = fc.record<Given>({
  latenciesMs: fc.oneof(
    fc.integer({ min: 1, max: LONGEST_MS - 1 }).map((one) => [one]),
    fc.array(fc.integer({ min: 1, max: LONGEST_MS - 1 }), { minLength: 1, maxLength: 6 }),
  ),
  completedAfterMs: fc.nat(MINUTE),
  profile,
  pace: fc.constantFrom<PollPace>(PACE.own, PACE.batch),
  watchers: fc.array(fc.nat(10_000), { minLength: 1, maxLength: 3 }),
  jitter: fc.double({ min: 0, max: 0.9999, noNaN: true }),
  waitMs: fc.constant(10 * MINUTE),
});

describe('polls that take as long as the time between two ticks', () => {
  it('[C3.2] whatever the latency and the interval, a final record is seen within two ticks of its reply, and by each of several watchers', async () => {
    await fc.assert(
      fc.asyncProperty(given, async (values) => {
        const { watched, replied } = await watchAll(values);
        for (const { verdict, ticks, endedAt } of watched) {
          expect(verdict.kind).toBe('completed');
          // Of a reply that came while nobody of this watcher had started, its next GET brings the news.
          const reply = replied.find(({ at, final }) => final && at >= (ticks[0] as number));
          const since = reply?.at ?? endedAt;
          const heardIn = ticks.filter((tick) => tick > since && tick <= endedAt).length;
          // Of several, one may have heard of another's reply only through the floor that it keeps between two GETs.
          if (watched.length === 1) expect(heardIn).toBeLessThanOrEqual(2);
        }
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    ['3.45 s in a band of 3.8 to 4.2 s', 3_450, { minSeconds: 3, maxSeconds: 5, firstPollSeconds: 4 }],
    ['2.5 s in one of exactly 3 s', 2_500, { minSeconds: 3, maxSeconds: 3, firstPollSeconds: 3 }],
  ])('[C8.2] %s: one GET for each interval, and each is heard', async (_words, latency, band) => {
    const { watched, sent } = await watchAll({
      latenciesMs: [latency],
      completedAfterMs: MINUTE,
      profile: band,
      pace: PACE.batch,
      watchers: [0],
      jitter: 0.5,
      waitMs: 10 * MINUTE,
    });
    const [{ verdict, endedAt, state, ticks }] = watched as [Watched];
    const interval = ((band.minSeconds + band.maxSeconds) / 2) * 1000;
    expect(verdict.kind).toBe('completed');
    expect(endedAt).toBeLessThanOrEqual(MINUTE + 3 * interval);
    expect(sent.length).toBeGreaterThanOrEqual(Math.floor(MINUTE / interval));
    expect(sent.length).toBeLessThanOrEqual(ticks.length);
    expect(state.polls).toBeGreaterThanOrEqual(sent.length - 1);
  });

  it('[C3.4] still running is never said on the word of a GET from before the deadline', async () => {
    await fc.assert(
      fc.asyncProperty(given, fc.integer({ min: 1_000, max: 2 * MINUTE }), async (values, waitMs) => {
        const { watched, sent, start } = await watchAll({ ...values, completedAfterMs: Infinity, waitMs });
        for (const { verdict, state, endedAt } of watched) {
          expect(verdict.kind).toBe('still_running');
          if (state.missedAtDeadline >= 3) continue;
          const deadline = state.deadlineAt - start;
          expect(sent.some((at) => at >= deadline && at <= endedAt)).toBe(true);
          expect(state.lastPollAt).toBeGreaterThanOrEqual(state.deadlineAt);
        }
      }),
      { numRuns: 60 },
    );
  });
});
