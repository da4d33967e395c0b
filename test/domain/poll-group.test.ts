import { PACE, PollGroup } from '../../src/domain/poll-cadence';
import { bandKey, DEFAULT_POLLING } from '../../src/domain/video-task';
import { beginWatch } from '../../src/domain/watch-state';
import { FAMILIES, makeVideoTask } from './make-video-task';
import { drive, driveOne, gapsOf, MINUTE, record, START } from './poll-driver';

/** A generator with a seed: the same jitter in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

const gapsIn = (family: string, random: () => number): number[] =>
  gapsOf(
    driveOne({ service: () => 'unchanged', profile: FAMILIES[family] as (typeof FAMILIES)[string], random })
      .polls,
  ).slice(0, -1);

describe('the cadence', () => {
  it.each([
    ['[C8.2] the general family is polled every 3 to 5 s, jitter included', 'general', 3000, 5000],
    ['[C8.3] the slow family every 10 to 15 s', 'slow', 10_000, 15_000],
    ['[C8.4] the third family about every 10 s', 'third', 9000, 11_000],
  ])('%s', (_, family, least, most) => {
    for (const random of [() => 0, () => 0.999_999, seeded(7), seeded(99)]) {
      const gaps = gapsIn(family, random);
      expect(gaps.length).toBeGreaterThan(50);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(least);
      expect(Math.max(...gaps)).toBeLessThanOrEqual(most);
    }
    const spread = gapsIn(family, seeded(7));
    expect(Math.max(...spread) - Math.min(...spread)).toBeGreaterThan((most - least) / 2);
  });

  it('the default is the general family', () => {
    expect(DEFAULT_POLLING).toEqual(FAMILIES['general']);
    expect(bandKey(DEFAULT_POLLING)).toBe('3-5');
  });

  it('counts from the start of a tick, however long the tick takes', () => {
    const { polls } = driveOne({ service: () => 'unchanged', tickMs: 2500 });
    expect(new Set(gapsOf(polls).slice(0, -1))).toEqual(new Set([4000]));
  });

  it('[C3.5] a queued task is asked for again after the delay', () => {
    const { polls } = driveOne({ service: () => record('queued'), waitMs: MINUTE });
    expect(polls[0]).toBe(4000);
    expect(
      gapsOf(polls)
        .slice(0, -1)
        .every((gap) => gap === 4000),
    ).toBe(true);
  });

  it('[C3.6] so is one in progress, and its progress is passed on', () => {
    const { polls, state } = driveOne({
      service: () => record('in_progress', { progress: 12 }),
      waitMs: MINUTE,
    });
    expect(polls.length).toBeGreaterThan(10);
    expect(state.progress).toBe(12);
  });

  it('[C8.2] many watched tasks share one tick, and none is polled more often for it', () => {
    const driven = drive({ service: () => 'unchanged', tasks: 20, random: seeded(3) });
    expect(new Set(driven.map(({ polls }) => polls.join())).size).toBe(1);
    expect(Math.min(...gapsOf(driven[0]?.polls ?? []))).toBeGreaterThanOrEqual(3000);
  });

  it('slows down once a wait is long, and still polls at the deadline', () => {
    const { polls } = driveOne({
      service: () => 'unchanged',
      waitMs: 3 * 60 * MINUTE,
      slow: { afterMs: 60 * MINUTE, intervalMs: 2 * MINUTE },
    });
    const late = gapsOf(polls.filter((at) => at > 61 * MINUTE));
    expect(late.slice(0, -1).every((gap) => gap === 2 * MINUTE)).toBe(true);
    expect(polls.at(-1)).toBe(3 * 60 * MINUTE);
  });
});

describe('a tick', () => {
  const watchOf = (taskId: string, model: string | null, firstPollAt = START) => ({
    state: beginWatch({
      video: makeVideoTask({ taskId, model }),
      now: START,
      deadlineAt: START + 60_000,
      firstPollAt,
    }),
  });

  it('asks for all tasks in one activity, grouped by model, and leads every answer back', () => {
    const group = new PollGroup(DEFAULT_POLLING);
    const states = [watchOf('a', 'x'), watchOf('b', 'y'), watchOf('c', 'x'), watchOf('d', null)];
    expect(group.beginTick(states, START, 0.5)).toEqual(states);
    const { input, ordered } = group.tickInput('account', states);
    expect(input).toEqual({
      account: 'account',
      budgetMs: 3000,
      minIntervalMs: 3000,
      byModel: [
        { model: 'x', ids: ['a', 'c'], seen: [], seenRuns: [['', 2]] },
        { model: 'y', ids: ['b'], seen: [''] },
        { model: null, ids: ['d'], seen: [''] },
      ],
    });
    expect(ordered.map((watch) => states.indexOf(watch))).toEqual([0, 2, 1, 3]);
  });

  it('an answer with the record that is known changes nothing but the time of the poll', () => {
    const group = new PollGroup(DEFAULT_POLLING);
    const record = { status: 'in_progress', phase: 'in_progress' } as const;
    const answer = { index: 0, digest: 'AbCdEf12', record };
    const first = group.apply(watchOf('a', 'x').state, answer, START, 0.5).state;
    const again = group.apply(first, answer, START + 4_000, 0.5).state;
    expect(again).toEqual({ ...first, dueAt: START + 4_000, lastPollAt: START + 4_000, polls: 2 });
    expect(again.lastChangeAt).toBe(START);
  });

  it('[C4.7] that keeps pace gives each task its own time in the first half of its budget', () => {
    const states = Array.from({ length: 500 }, (_, n) => watchOf(`task_${n}`, 'x'));
    const spreadOf = (tasks: number) => {
      const group = new PollGroup(DEFAULT_POLLING, undefined, PACE.batch);
      const due = group.beginTick(states.slice(0, tasks), START, 0.5);
      return group.tickInput('account', due).input.spread;
    };
    expect(spreadOf(500)).toEqual({ everyMs: 4000, overMs: 1500 });
    // Few tasks are asked for at once: whoever waits for one of them should not wait for the others.
    expect(spreadOf(2)).toEqual({ everyMs: 4000, overMs: 8 });
  });

  it('leaves out tasks that are not due, and is none when no task is', () => {
    const group = new PollGroup(DEFAULT_POLLING);
    const [now, later] = [watchOf('now', 'x'), watchOf('later', 'x', START + 4000)];
    expect(group.beginTick([now, later], START, 0.5)).toEqual([now]);
    expect(group.beginTick([later], START + 1000, 0.5)).toEqual([]);
    expect(group.last.lastTickAt).toBe(START);
  });

  it('a task that joins waits for the first tick after its delay', () => {
    const last = { lastTickAt: START, intervalMs: 4000 };
    const group = new PollGroup(DEFAULT_POLLING, undefined, PACE.own, last);
    expect(group.nextWakeAt([watchOf('new', 'x', START + 1000)])).toBe(START + 4000);
    expect(group.nextWakeAt([watchOf('new', 'x', START + 9000)])).toBe(START + 9000);
  });

  it.each([
    [undefined, 3200, 4800],
    [0.3, 3600, 4400],
  ])('[C4.7] with a margin of %s intervals stay between %i and %i ms', (margin, shortest, longest) => {
    const intervalAt = (random: number) => {
      const group = new PollGroup(DEFAULT_POLLING, undefined, {
        ...PACE.own,
        ...(margin !== undefined && { bandMargin: margin }),
      });
      group.beginTick([watchOf('a', 'x')], START, random);
      return group.last.intervalMs;
    };
    expect([intervalAt(0), intervalAt(0.5), intervalAt(1)]).toEqual([shortest, 4000, longest]);
  });

  it.each([
    [false, 4_500],
    [true, 4_000],
  ])('[C4.7] timers that come 0.5 s late: gaps when it keeps pace (%s) are %i ms', (keepsPace, gap) => {
    const service = ({ count }: { readonly count: number }) =>
      count < 9 ? 'unchanged' : record('completed');
    const [driven] = drive({ service, pace: { bandMargin: 0.4, keepsPace }, lateMs: () => 500 });
    const [, ...regular] = gapsOf(driven?.polls ?? []);
    expect(regular).toEqual(Array<number>(8).fill(gap));
  });

  it('makes up for no more than the margin, whatever a timer does', () => {
    const service = ({ count }: { readonly count: number }) =>
      count < 9 ? 'unchanged' : record('completed');
    const [driven] = drive({
      service,
      pace: { bandMargin: 0.4, keepsPace: true },
      lateMs: (wake) => (wake === 3 ? 60_000 : 0),
    });
    expect(gapsOf(driven?.polls ?? [])).toEqual([4_000, 64_000, 3_200, ...Array<number>(6).fill(4_000)]);
  });

  it('an empty group has nothing to wake for', () => {
    expect(new PollGroup(DEFAULT_POLLING).nextWakeAt([])).toBe(Infinity);
  });
});
