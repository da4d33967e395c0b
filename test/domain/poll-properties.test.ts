import fc from 'fast-check';
import { POLL_ERROR_CLASSES } from '../../src/domain/poll-answers';
import { FAMILIES } from './make-video-task';
import { drive, gapsOf, MINUTE, record, START, type Reply, type Service } from './poll-driver';

describe('whatever the service does', () => {
  const reply = fc.oneof(
    { weight: 4, arbitrary: fc.constant<Reply>('unchanged') },
    { weight: 1, arbitrary: fc.constant<Reply>('missed') },
    {
      weight: 3,
      arbitrary: fc
        .record({
          error: fc.constantFrom(...POLL_ERROR_CLASSES),
          retryAfterMs: fc.option(fc.nat(20 * MINUTE), { nil: undefined }),
          unsent: fc.option(fc.constant(true as const), { nil: undefined }),
        })
        .map((failure) => JSON.parse(JSON.stringify(failure)) as Reply),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(
          fc.constantFrom('queued', 'in_progress', 'unknown'),
          fc.option(fc.nat(100), { nil: undefined }),
        )
        .map(([phase, progress]): Reply =>
          record(phase as 'queued', progress === undefined ? {} : { progress }),
        ),
    },
  );
  const run = fc.record({
    replies: fc.array(reply, { minLength: 1, maxLength: 60 }),
    waitMs: fc.integer({ min: 1000, max: 20 * MINUTE }),
    family: fc.constantFrom('general', 'third', 'slow'),
    jitter: fc.double({ min: 0, max: 0.9999, noNaN: true }),
    tickMs: fc.nat(3000),
    tasks: fc.integer({ min: 1, max: 3 }),
    slow: fc.boolean(),
    pace: fc.record({ bandMargin: fc.double({ min: 0, max: 0.49, noNaN: true }), keepsPace: fc.boolean() }),
    late: fc.array(fc.nat(2_000), { minLength: 1, maxLength: 5 }),
  });
  const optionsOf = ({
    replies,
    family,
    jitter,
    slow,
    late,
    ...rest
  }: typeof run extends fc.Arbitrary<infer T> ? T : never) => ({
    ...rest,
    profile: FAMILIES[family] as (typeof FAMILIES)[string],
    random: () => jitter,
    lateMs: (wake: number) => late[wake % late.length] ?? 0,
    ...(slow ? { slow: { afterMs: 5 * MINUTE, intervalMs: MINUTE } } : {}),
    service: (({ count, task }) =>
      replies[(count + Number(task.taskId.slice(5))) % replies.length] as Reply) satisfies Service,
  });

  it('[C8.6] every wait ends, nothing spins, and a poll is never sooner than the minimum or Retry-After', () => {
    fc.assert(
      fc.property(run, (given) => {
        const options = optionsOf(given);
        const driven = drive(options);
        expect(driven).toHaveLength(given.tasks);
        for (const { polls, states, verdict, state, endedAt } of driven) {
          expect(['still_running', 'task_unknown']).toContain(verdict.kind);
          const minimum = options.profile.minSeconds * 1000;
          expect(gapsOf(polls).every((gap) => gap >= minimum)).toBe(true);
          states.slice(0, -1).forEach((before, index) => {
            const next = polls[index + 1] as number;
            expect(START + next).toBeGreaterThanOrEqual(before.notBefore);
          });
          expect(endedAt).toBeLessThanOrEqual(given.waitMs + 5 * 15_000 + 6 * (given.tickMs + 2_000));
          if (verdict.kind === 'still_running') {
            const last = polls.at(-1) ?? 0;
            expect(last >= given.waitMs || state.notBefore > START + given.waitMs).toBe(true);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('snapshots at any tick change nothing', () => {
    fc.assert(
      fc.property(run, fc.integer({ min: 1, max: 4 }), (given, snapshotEvery) => {
        const options = optionsOf(given);
        expect(drive({ ...options, snapshotEvery })).toEqual(drive(options));
      }),
      { numRuns: 100 },
    );
  });
});
