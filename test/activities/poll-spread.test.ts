import fc from 'fast-check';
import { dueAt } from '../../src/activities/poll-videos';

const SPREAD = { everyMs: 4000, overMs: 1500 };

describe('when a task of a tick is asked for', () => {
  it('is at once without a spread, and never outside of the part of the tick that a spread names', () => {
    expect(dueAt('a task', 1_000, 5_000, undefined)).toBe(5_000);
    fc.assert(
      fc.property(
        fc.string(),
        fc.nat(100_000),
        fc.nat(100_000),
        fc.nat(10_000),
        fc.nat(10_000),
        (task, last, tickAt, everyMs, overMs) => {
          const due = dueAt(task, last, tickAt, { everyMs, overMs });
          expect(due).toBeGreaterThanOrEqual(tickAt);
          expect(due).toBeLessThanOrEqual(tickAt + overMs);
          // Half a step of the clock early or late.
          if (last + everyMs >= tickAt && last + everyMs <= tickAt + overMs)
            expect(Math.abs(due - (last + everyMs))).toBeLessThanOrEqual(10);
        },
      ),
    );
  });

  it('[C4.7] keeps the gap of a task whose ticks come early and late in turn', () => {
    // A tick every four seconds, give or take 0.3: what is asked for in the middle of a tick is not touched by it.
    const late = fc.array(fc.integer({ min: -300, max: 300 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(late, (delays) => {
        let last = 760;
        delays.forEach((delay, tick) => {
          const due = dueAt('a task', last, 4000 * (tick + 1) + delay, SPREAD);
          expect(due - last).toBe(4000);
          last = due;
        });
      }),
    );
  });

  it('falls together with that of tasks near it, whatever ticks they are of, and does not drift when polls are late', () => {
    const late = fc.array(fc.nat(9), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(late, fc.integer({ min: -9, max: 9 }), (delays, apart) => {
        let last = 760;
        delays.forEach((delay, tick) => {
          const due = dueAt('a task', last, 4000 * (tick + 1), SPREAD);
          expect(due).toBe(760 + 4000 * (tick + 1));
          expect(dueAt('another', 760 + 4000 * tick + apart, 4000 * (tick + 1) + 50, SPREAD)).toBe(due);
          last = due + delay;
        });
      }),
    );
  });

  it('is a place of its own for a task that is new here, the same for every worker', () => {
    const places = Array.from({ length: 1000 }, (_, n) => dueAt(`default task_${n}`, 0, 1e12, SPREAD) - 1e12);
    expect(
      Array.from({ length: 1000 }, (_, n) => dueAt(`default task_${n}`, 7, 2e12, SPREAD) - 2e12),
    ).toEqual(places);
    const tenths = Array.from({ length: 10 }, (_, tenth) =>
      places.filter((place) => Math.floor(place / 150) === tenth),
    );
    for (const tenth of tenths) {
      expect(tenth.length).toBeGreaterThan(50);
      expect(tenth.length).toBeLessThan(160);
    }
  });
});
