import { proved, sized } from '../support/proof';
import { play, problemsOf } from './paid-log/play';
import { BROKEN, type Broken } from './paid-log/rules';

const FIRST = Number(process.env['LOG_SEED'] ?? 1_000_003);
/** `LOG_SCHEDULES=1000000 npx jest test/proof/paid-log` plays a million in ten minutes. */
const SCHEDULES = Number(process.env['LOG_SCHEDULES'] ?? sized({ change: 2_000, deep: 1_000_000 }));
const LIMIT_MS = Math.max(60_000, SCHEDULES * 20);

const counts = { schedules: 0, accepted: 0, fences: 0, decisions: 0, bills: 0, changed: 0, wrong: 0 };
let found = 0;

afterAll(() =>
  proved('paid-log', {
    schedules: counts.schedules,
    'accepted requests': counts.accepted,
    fences: counts.fences,
    decisions: counts.decisions,
    bills: counts.bills,
    'journals replaced or set back': counts.changed,
    'schedules that bought beyond authorisation, lost a purchase, or called unsent what was accepted':
      counts.wrong,
    'rules broken on purpose': Object.keys(BROKEN).length,
    'of them not found': Object.keys(BROKEN).length - found,
  }),
);

/**
 * The rule of the paid path (src/domain/paid-log), played over random schedules of workers that die, activities that are
 * reset, journals that are replaced and set back, people that decide, bills, and callers that come again.
 */
describe('the log of a creation key', () => {
  test(
    '[C4.4a] [C4.4c] no schedule buys beyond authorisation, loses a purchase, or calls unsent what was accepted',
    () => {
      const wrong: string[] = [];
      for (let seed = FIRST; seed < FIRST + SCHEDULES; seed++) {
        const world = play(seed, null);
        const problems = problemsOf(world);
        if (problems.length > 0) wrong.push(`LOG_SEED=${seed}: ${problems.join('; ')}`);
        counts.schedules += 1;
        counts.accepted += world.accepted.length;
        counts.fences += world.journal.log.filter(({ kind }) => kind === 'fence').length;
        counts.decisions += world.journal.log.filter(({ kind }) => kind === 'decision').length;
        counts.bills += world.journal.log.filter(({ kind }) => kind === 'bill').length;
        if (world.hasLost) counts.changed += 1;
      }
      counts.wrong = wrong.length;
      expect(wrong).toEqual([]);
      // Nothing of it would be shown by schedules in which none of it happens.
      const { wrong: _, ...happened } = counts;
      for (const count of Object.values(happened)) expect(count).toBeGreaterThan(SCHEDULES / 100);
    },
    LIMIT_MS,
  );

  test.each(Object.entries(BROKEN))('is found wrong where it is broken: %s', (broken, seed) => {
    expect(problemsOf(play(seed, null))).toEqual([]);
    expect(problemsOf(play(seed, broken as Broken))).not.toEqual([]);
    found += 1;
  });
});
