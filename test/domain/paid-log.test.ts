import { play, problemsOf } from './paid-log/play';
import { BROKEN, type Broken } from './paid-log/rules';

const FIRST = Number(process.env['LOG_SEED'] ?? 1_000_003);
/** `LOG_SCHEDULES=1000000 npx jest test/domain/paid-log` plays a million in half an hour. */
const SCHEDULES = Number(process.env['LOG_SCHEDULES'] ?? 4_000);

/**
 * The rule of the paid path, played over random schedules of workers that die, activities that are reset, journals that
 * are replaced and set back, people that decide, and callers that come again.
 */
describe('the log of a creation key', () => {
  test('[C4.4a] [C4.4c] no schedule buys beyond authorisation, loses a purchase, or calls unsent what was accepted', () => {
    const counts = { schedules: 0, accepted: 0, fences: 0, decisions: 0, 'journals replaced or set back': 0 };
    for (let seed = FIRST; seed < FIRST + SCHEDULES; seed++) {
      const world = play(seed, null);
      const problems = problemsOf(world);
      if (problems.length > 0) throw new Error(`LOG_SEED=${seed}: ${problems.join('; ')}`);
      counts.schedules += 1;
      counts.accepted += world.accepted.length;
      counts.fences += world.journal.log.filter(({ kind }) => kind === 'fence').length;
      counts.decisions += world.journal.log.filter(({ kind }) => kind === 'decision').length;
      if (world.hasLost) counts['journals replaced or set back'] += 1;
    }
    expect(counts).toMatchObject({ schedules: SCHEDULES });
    // Nothing of it would be shown by schedules in which none of it happens.
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(SCHEDULES / 100);
    if (SCHEDULES > 4_000) process.stdout.write(`${JSON.stringify(counts)}\n`);
  });

  test.each(Object.entries(BROKEN))('is found wrong where it is broken: %s', (broken, seed) => {
    expect(problemsOf(play(seed, null))).toEqual([]);
    expect(problemsOf(play(seed, broken as Broken))).not.toEqual([]);
  });
});
