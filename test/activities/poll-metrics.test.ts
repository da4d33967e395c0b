import { PollMetrics } from '../../src/activities/media-metrics';
import { type MetricKey, type Metrics } from '../../src/domain/metrics';
import { type PollAnswer, type PollVideosInput } from '../../src/domain/poll-answers';

const ACCOUNT = 'default@00000000';
const RUNNING = { status: 'in_progress', phase: 'in_progress' } as const;
const DONE = { status: 'completed', phase: 'completed' } as const;

describe('what the ticks of polls count', () => {
  let now: number;
  let seen: { key: MetricKey; value: number; labels: object }[];
  let polls: PollMetrics;
  const metrics: Metrics = { record: (key, value, labels) => void seen.push({ key, value, labels }) };
  const of = (key: MetricKey) => seen.filter((one) => one.key === key);
  const inFlight = () => of('inFlight').at(-1)?.value;
  const tick = (ids: readonly string[]): PollVideosInput => ({
    account: ACCOUNT,
    byModel: [{ model: 'cine-1', ids, seen: ids.map(() => '') }],
    budgetMs: 3_000,
    minIntervalMs: 3_000,
  });
  const count = (ids: readonly string[], answers: readonly PollAnswer[]) =>
    polls.count(ACCOUNT, tick(ids), { answers });

  beforeEach(() => {
    [now, seen] = [1_000_000, []];
    polls = new PollMetrics(metrics, () => now);
  });
  afterEach(() => {
    // Ends the timer.
    now += 10 * 60_000;
    polls.sample();
  });

  it('counts each task by its answer; one that is not mentioned is unchanged', () => {
    count(
      ['a', 'b', 'c', 'd', 'e', 'f'],
      [
        { index: 0, digest: 'x', record: RUNNING },
        { index: 1, error: 'late', unsent: true },
        { index: 2, error: 'rate_limited', httpStatus: 429 },
        { index: 3, error: 'rate_limited', retryAfterMs: 1_000, unsent: true },
        { index: 4, unchanged: true, askedMsAgo: 10 },
      ],
    );
    expect(of('polls').map(({ value, labels }) => [labels, value])).toEqual(
      [
        ['record', 1],
        ['late', 1],
        ['rate_limited', 1],
        ['held', 1],
        ['unchanged', 2],
      ].map(([answer, polled]) => [{ account: ACCOUNT, answer }, polled]),
    );
    expect(inFlight()).toBe(6);
  });

  it('knows for how long an end may have gone unnoticed, if it has polled the video before', () => {
    count(['a', 'b'], []);
    now += 4_100;
    count(
      ['a', 'b', 'c'],
      [0, 2].map((index) => ({ index, digest: 'x', record: DONE })),
    );
    expect(of('detection')).toEqual([{ key: 'detection', value: 4_100, labels: { account: ACCOUNT } }]);
    expect(inFlight()).toBe(1);
  });

  it('forgets videos that no tick names any more', () => {
    count(['a', 'b'], []);
    now += 50_000;
    count(['b'], []);
    now += 20_000;
    polls.sample();
    expect(inFlight()).toBe(1);
    now += 60_000;
    polls.sample();
    expect(inFlight()).toBe(0);
  });
});
