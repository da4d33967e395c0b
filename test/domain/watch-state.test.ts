import { MAX_MISSED_AT_DEADLINE } from '../../src/domain/end-of-wait';
import { type PollingProfile } from '../../src/domain/video-task';
import { beginWatch, watchFacts, type WatchState } from '../../src/domain/watch-state';
import { FAMILIES, makeVideoTask } from './make-video-task';
import { driveOne, gapsOf, MINUTE, record, START, type Reply, type Service } from './poll-driver';

const always =
  (reply: Reply): Service =>
  () =>
    reply;
/** Replies in order; the last one for ever. */
const script =
  (...replies: Reply[]): Service =>
  ({ count }) =>
    replies[Math.min(count, replies.length - 1)] as Reply;

describe('the deadline', () => {
  it('[C8.5] a video that takes its fifteen minutes is still waited for', () => {
    const driven = driveOne({
      service: ({ at }) => (at >= 15 * MINUTE - 4000 ? record('completed') : record('in_progress')),
    });
    expect(driven.verdict.kind).toBe('completed');
    expect(driven.endedAt).toBeGreaterThanOrEqual(15 * MINUTE - 4000);
  });

  it('[C3.4] ends as still running after a last poll at or after it, and keeps the task', () => {
    const { verdict, state, polls, endedAt } = driveOne({ service: always(record('in_progress')) });
    expect(verdict).toEqual({ kind: 'still_running' });
    expect(polls.at(-1)).toBeGreaterThanOrEqual(15 * MINUTE);
    expect(endedAt).toBeLessThan(15 * MINUTE + 5000);
    expect(state).toMatchObject({ lastStatus: 'in_progress', lastError: null, video: { taskId: 'task-0' } });
  });

  it('[C8.7] has no last poll where Retry-After forbids it', () => {
    const { verdict, polls, endedAt } = driveOne({
      service: ({ at }) =>
        at > 14 * MINUTE ? { error: 'rate_limited', retryAfterMs: 10 * MINUTE } : 'unchanged',
    });
    expect(verdict.kind).toBe('still_running');
    expect(polls.at(-1)).toBeLessThan(15 * MINUTE);
    expect(endedAt).toBe(15 * MINUTE);
  });

  it('a wait that is shorter than the first delay still polls once', () => {
    const { polls, verdict } = driveOne({ service: always('unchanged'), waitMs: 1000 });
    expect(polls).toEqual([1000]);
    expect(verdict.kind).toBe('still_running');
  });

  it.each<Reply>([
    'missed',
    { error: 'late' },
    { error: 'late', unsent: true },
    { error: 'network', unsent: true },
    { error: 'account_not_configured', unsent: true },
  ])('[C8.6] ends after three lost ticks when nothing is answered any more (%j)', (reply) => {
    const { verdict, polls, endedAt } = driveOne({ service: always(reply) });
    expect(verdict.kind).toBe('still_running');
    expect(polls.filter((at) => at >= 15 * MINUTE)).toHaveLength(MAX_MISSED_AT_DEADLINE);
    expect(endedAt).toBeLessThan(15 * MINUTE + 20_000);
  });

  it('is cut off where the execution expires', () => {
    const { endedAt, verdict } = driveOne({
      service: always('missed'),
      waitMs: MINUTE,
      hardEndMs: MINUTE,
    });
    expect(verdict.kind).toBe('still_running');
    expect(endedAt).toBe(MINUTE);
  });

  it.each(['unchanged', record('completed')] as const)(
    'where the execution expires one last poll comes before still running is said (%j)',
    (last) => {
      const { verdict, polls } = driveOne({
        service: ({ at }) => (at >= MINUTE ? last : record('in_progress')),
        waitMs: MINUTE,
        hardEndMs: MINUTE,
        profile: FAMILIES['general'] as PollingProfile,
        random: () => 0.3,
      });
      expect(polls.filter((at) => at >= MINUTE)).toHaveLength(1);
      expect(polls.at(-1)).toBeLessThanOrEqual(MINUTE + 5000);
      expect(verdict.kind).toBe(last === 'unchanged' ? 'still_running' : 'completed');
    },
  );

  it('a last poll that takes longer than the interval still ends the wait', () => {
    const { verdict, endedAt } = driveOne({
      service: always({ error: 'late' }),
      waitMs: MINUTE,
      hardEndMs: MINUTE,
      tickMs: 9000,
    });
    expect(verdict.kind).toBe('still_running');
    expect(endedAt).toBeLessThan(MINUTE + 20_000);
  });
});

describe('what is final', () => {
  it('[C3.2] completed ends the watch at once, whatever came before', () => {
    const { verdict, polls } = driveOne({ service: script(record('queued'), record('completed')) });
    expect(verdict).toMatchObject({ kind: 'completed', record: { status: 'completed' } });
    expect(polls).toHaveLength(2);
  });

  it('[C2.2.8] failed without an error is a failure of unknown kind', () => {
    expect(driveOne({ service: always(record('failed')) }).verdict).toMatchObject({
      kind: 'failed',
      error: { kind: 'unknown', code: null, message: null },
    });
    const error = { kind: 'moderation', code: 'x', message: 'no' } as const;
    expect(driveOne({ service: always(record('failed', { error })) }).verdict).toMatchObject({ error });
  });

  it('[C2.2.2] a word that is not known is reported and never final', () => {
    const { verdict, state } = driveOne({ service: always(record('unknown', { status: 'dreaming' })) });
    expect(verdict.kind).toBe('still_running');
    expect(watchFacts(state).lastStatus).toBe('dreaming');
  });

  it('[C3.1] queued and in_progress are no errors and no failures', () => {
    for (const phase of ['queued', 'in_progress'] as const) {
      const { state, verdict } = driveOne({ service: always(record(phase)) });
      expect(verdict.kind).toBe('still_running');
      expect(watchFacts(state)).not.toHaveProperty('lastError');
    }
  });

  it('[C3.8] no order of states is assumed: backwards, skipped, final at the first poll', () => {
    const wild = [record('in_progress'), record('queued'), record('unknown'), record('in_progress')];
    expect(driveOne({ service: script(...wild, record('completed')) }).polls).toHaveLength(5);
    expect(driveOne({ service: script(record('failed')) }).polls).toHaveLength(1);
  });
});

describe('errors', () => {
  it.each(['not_found', 'bad_request'] as const)(
    '[C7.2] %s ends an id that a caller brought as task unknown after sixty seconds and three answers, never sooner',
    (error) => {
      const { verdict, polls } = driveOne({ service: always({ error, httpStatus: 404 }), source: 'unknown' });
      expect(verdict.kind).toBe('task_unknown');
      const times = polls as [number, ...number[]];
      expect((times.at(-1) as number) - times[0]).toBeGreaterThanOrEqual(MINUTE);
      expect((times.at(-2) as number) - times[0]).toBeLessThan(MINUTE);
      expect(times.length).toBeGreaterThanOrEqual(3);
    },
  );

  it.each(['create_reply', 'journal'] as const)(
    '[C2.2.1] [C3.4] a task that a create of ours made (%s) is polled to the deadline, whatever the service says of its id',
    (source) => {
      const service = always({ error: 'not_found', httpStatus: 404 });
      const { verdict, polls, states } = driveOne({ service, source, waitMs: 15 * MINUTE });
      expect(verdict.kind).toBe('still_running');
      expect(states.at(-1)?.lastError).toMatchObject({ class: 'not_found', httpStatus: 404 });
      expect((polls.at(-1) as number) - (polls[0] as number)).toBeGreaterThan(14 * MINUTE);
      // It keeps the ordinary cadence: the service may be slow to store what it has accepted.
      expect(Math.max(...gapsOf(polls))).toBeLessThanOrEqual(5_000);
    },
  );

  it('counts three answers even when they come a minute apart', () => {
    const { verdict, polls } = driveOne({
      service: always({ error: 'not_found', retryAfterMs: 2 * MINUTE }),
      source: 'unknown',
    });
    expect(verdict.kind).toBe('task_unknown');
    expect(polls).toHaveLength(3);
  });

  it('[C7.2] a record that appears within the grace is no unknown task', () => {
    const early: Reply[] = Array.from({ length: 10 }, () => ({ error: 'not_found' }));
    const { verdict } = driveOne({
      service: script(...early, record('queued'), ...early, record('completed')),
    });
    expect(verdict.kind).toBe('completed');
  });

  const forgotten: Reply = { error: 'not_found', httpStatus: 404 };

  it.each([undefined, 2])(
    '[C7.2] a task that was polled well and is forgotten for ten minutes is waited for (snapshots %p)',
    (snapshotEvery) => {
      const { verdict, polls, states } = driveOne({
        ...(snapshotEvery === undefined ? {} : { snapshotEvery }),
        service: ({ at, count }) => {
          if (count < 2) return record('in_progress');
          return at < 10 * MINUTE ? forgotten : record('completed');
        },
      });
      expect(verdict.kind).toBe('completed');
      // Slower than while all is well.
      expect(polls.length).toBeLessThan(25);
      expect(Math.max(...gapsOf(polls))).toBeLessThanOrEqual(MINUTE + 5_000);
      expect(states.at(-2)?.lastError).toEqual({ class: 'not_found', httpStatus: 404 });
    },
  );

  it('[C7.7] what the service said of the last poll is kept for the outcome, and gone with the next record', () => {
    const reason = {
      kind: 'moderation',
      code: 'guardrail',
      message: 'Guardrail blocked the prompt',
    } as const;
    const refused: Reply = { error: 'unavailable', httpStatus: 500, reason };
    const { state } = driveOne({ service: script(record('queued'), refused) });
    expect(watchFacts(state).lastError).toEqual({ class: 'unavailable', httpStatus: 500, reason });
    const { states } = driveOne({
      service: script(refused, record('completed', { expiresAt: '2027-01-15T08:00:00.000Z' })),
    });
    expect(watchFacts(states[1] as WatchState)).toMatchObject({ expiresAt: '2027-01-15T08:00:00.000Z' });
    expect(watchFacts(states[1] as WatchState)).not.toHaveProperty('lastError');
  });

  it('the word of the create is the last one until a poll brings another', () => {
    const started = { video: makeVideoTask(), now: START, deadlineAt: START + MINUTE, firstPollAt: START };
    expect(watchFacts(beginWatch({ ...started, lastStatus: 'queued' })).lastStatus).toBe('queued');
    expect(watchFacts(beginWatch({ ...started, lastStatus: '' })).lastStatus).toBeNull();
  });

  it('[C7.2] [C3.4] one that stays forgotten is still running at the deadline, and says why', () => {
    const { verdict, state, endedAt } = driveOne({
      service: ({ count }) => (count === 0 ? record('in_progress') : forgotten),
    });
    expect(verdict.kind).toBe('still_running');
    expect(endedAt).toBeGreaterThanOrEqual(15 * MINUTE);
    expect(watchFacts(state)).toMatchObject({
      lastStatus: 'in_progress',
      lastError: { class: 'not_found', httpStatus: 404 },
    });
  });

  it('[C7.3] refused credentials are tried once a minute, and the task is not lost', () => {
    const { polls, verdict, state } = driveOne({
      service: always({ error: 'credentials', httpStatus: 401 }),
    });
    const gaps = gapsOf(polls);
    expect(gaps.slice(0, -1).every((gap) => gap >= MINUTE && gap < MINUTE + 5000)).toBe(true);
    expect(polls.length).toBeLessThanOrEqual(17);
    expect(verdict.kind).toBe('still_running');
    expect(watchFacts(state).lastError).toEqual({ class: 'credentials', httpStatus: 401 });
    const mended = driveOne({ service: script({ error: 'credentials' }, record('completed')) });
    expect(mended.verdict.kind).toBe('completed');
  });

  it('an account that the worker lacks is a lost tick, made up for by the next, and named', () => {
    const { state } = driveOne({ service: always({ error: 'account_not_configured', unsent: true }) });
    const mended = driveOne({
      service: script({ error: 'account_not_configured', unsent: true }, record('completed')),
    });
    expect(mended.verdict.kind).toBe('completed');
    expect(gapsOf(mended.polls).every((gap) => gap < MINUTE / 2)).toBe(true);
    expect(state.lastError).toEqual({ class: 'account_not_configured' });
  });

  it.each(['unavailable', 'network', 'rate_limited', 'unreadable'] as const)(
    '[C7.4] %s is polled again with a backoff that ends at a minute, and never ends the watch',
    (error) => {
      const { polls, verdict } = driveOne({ service: always({ error }), random: () => 0.9999 });
      const gaps = gapsOf(polls).slice(0, -1);
      expect(verdict.kind).toBe('still_running');
      expect(Math.max(...gaps)).toBeLessThanOrEqual(MINUTE);
      expect(Math.max(...gaps)).toBeGreaterThan(50_000);
      expect(gaps.slice(0, 3).map((gap) => Math.round(gap / 1000))).toEqual([6, 12, 24]);
    },
  );

  it.each([0, 1000, 30_000, 5 * MINUTE])(
    '[C8.7] Retry-After of %p ms is a lower bound of the next poll',
    (retryAfterMs) => {
      const { polls } = driveOne({
        service: ({ count }) => (count === 0 ? { error: 'rate_limited', retryAfterMs } : 'unchanged'),
      });
      const [first, second] = polls as [number, number];
      expect(second - first).toBeGreaterThanOrEqual(Math.max(retryAfterMs, 3000));
    },
  );

  it('[C8.7] Retry-After counts from the reply, not from the start of the tick that brought it', () => {
    const { polls } = driveOne({
      tickMs: 2500,
      service: ({ count }) =>
        count === 0 ? { error: 'unavailable', httpStatus: 503, retryAfterMs: 20_000 } : 'unchanged',
    });
    const [first, second] = polls as [number, number];
    expect(second - first).toBeGreaterThanOrEqual(2500 + 20_000);
  });

  it('[C8.7] a Retry-After of centuries ends the wait at its deadline instead of being cut short', () => {
    const { polls, endedAt, verdict } = driveOne({
      service: always({ error: 'unavailable', retryAfterMs: 8e15 - START }),
    });
    expect(polls).toHaveLength(1);
    expect(verdict.kind).toBe('still_running');
    expect(endedAt).toBe(15 * MINUTE);
  });

  it('a tick that is lost costs one interval', () => {
    const { polls, verdict } = driveOne({ service: script('missed', 'missed', record('completed')) });
    expect(verdict.kind).toBe('completed');
    expect(gapsOf(polls)).toEqual([4000, 4000]);
  });

  it('late tasks are due again at once, and their last error stays what it was', () => {
    const { states, polls } = driveOne({
      service: script({ error: 'network' }, { error: 'late', unsent: true }, record('completed')),
    });
    expect(states[1]?.lastError).toEqual({ class: 'network' });
    expect(gapsOf(polls)[1]).toBe(4000);
  });
});

describe('progress', () => {
  it('[C2.2.3] is passed on as the record has it', () => {
    const { states } = driveOne({
      service: script(
        record('queued', { progress: 0 }),
        record('in_progress', { progress: 40 }),
        record('completed'),
      ),
    });
    expect(states.map((state) => watchFacts(state).progress)).toEqual([0, 40, undefined]);
  });

  it('[C2.2.4] is never invented: without a number there is none, also after one was there', () => {
    const { states } = driveOne({
      service: script(
        record('queued'),
        'unchanged',
        record('in_progress', { progress: 7 }),
        'unchanged',
        { error: 'network' },
        record('in_progress'),
        record('completed'),
      ),
    });
    const facts = states.map(watchFacts);
    expect(facts.map((fact) => fact.progress)).toEqual([undefined, undefined, 7, 7, 7, undefined, undefined]);
    expect(facts.filter((fact) => 'progress' in fact)).toHaveLength(3);
  });
});
