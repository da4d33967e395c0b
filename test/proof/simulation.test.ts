import { proved, sized } from '../support/proof';
import { MUTANTS } from './simulation/mutants';
import { type ManyResult } from './simulation/run-many';
import { type CHECKED } from './simulation/run-schedule';
import { inThread, inThreads } from './simulation/threads';

/**
 * The real activities, the real paid exchange and the real `createOnce` in virtual time, under seeded faults of workers,
 * journal, service, server and people (failure model: The log).
 *
 * `SIM_SEED=… npx jest test/proof/simulation.test.ts` repeats one schedule and prints what happens in it;
 * `SIM_FROM=…` begins with another seed.
 */
const ONLY = process.env['SIM_SEED'] === undefined ? undefined : Number(process.env['SIM_SEED']);
const FROM = ONLY ?? Number(process.env['SIM_FROM'] ?? 1);
const SCHEDULES = ONLY === undefined ? sized({ change: 1_000, deep: 500_000 }) : 1;
const LIMIT_MS = sized({ change: 5, deep: 90 }) * 60_000;
/** Every mutant is to be found within the schedules that run with every change. */
const MUTANT_SCHEDULES = 20_000;

let result: ManyResult;
let found: ManyResult['found'] = {};

beforeAll(async () => {
  result = await inThreads(FROM, SCHEDULES);
  if (ONLY === undefined)
    ({ found } = await inThread({ from: 1, below: 1 + MUTANT_SCHEDULES, step: 1, mutants: true }));
  else process.stdout.write(`${(await traceOf(ONLY)).join('\n')}\n`);
}, LIMIT_MS);

afterAll(() => {
  if (ONLY === undefined)
    proved('simulation', {
      ...result.counts,
      'rules broken on purpose': MUTANTS.length,
      'of them not found': MUTANTS.filter(({ name }) => found[name] == null).length,
    });
});

async function traceOf(seed: number): Promise<readonly string[]> {
  return (await inThread({ from: seed, below: seed + 1, step: 1, traced: true })).trace;
}

/** Fails with the whole story of the first schedule that breaks it. */
async function expectHolds(invariant: (typeof CHECKED)[number]): Promise<void> {
  const all = result.broken.filter((violation) => violation.invariant === invariant);
  const [first] = all;
  if (first === undefined) return expect(result.counts[invariant]).toBe(0);
  const story = (await traceOf(first.seed)).join('\n');
  throw new Error(
    `${invariant}: ${result.counts[invariant]}. First: ${first.what}\n` +
      `Seeds: ${[...new Set(all.map(({ seed }) => seed))].join()}\n` +
      `Repeat: SIM_SEED=${first.seed} npx jest test/proof/simulation.test.ts\n${story}`,
  );
}

describe('after every schedule', () => {
  it('[C4.4a] no create was accepted beyond the first and one per authorisation', () =>
    expectHolds('accepted without authorisation'));

  it('[C4.4c] no place of a log was sent from twice, whatever became of the reply', () =>
    expectHolds('second sends from one place of a log'));

  it('[C8.7] nothing was sent before a Retry-After', () => expectHolds('sends before Retry-After'));

  it('[C2.2.1] an id that was recorded is found by everybody who asks under its key', () =>
    expectHolds('recorded ids lost'));

  it('nobody got the result of another request', () => expectHolds('results of another request handed out'));

  it('[C7.10] nobody was told "nothing owed" when a send of its own was accepted', () =>
    expectHolds('called free although a send of its own was accepted'));

  it('[C4.4c] a create that was called unsent for good was never sent', () =>
    expectHolds('called unsent although it was sent'));

  it('[C8.6] everything came to an end', () => expectHolds('schedules without an end'));

  it('the schedules were full of trouble', () => {
    if (ONLY !== undefined) return;
    const often = SCHEDULES / 20;
    for (const what of [
      ...['sends', 'accepted', 'kills', 'processes stopped and continued', 'journal faults'],
      'told unconfirmed',
    ])
      expect(result.counts[what]).toBeGreaterThan(often);
    expect(result.counts['recovered from the journal']).toBeGreaterThan(often);
    for (const what of [
      'journals lost',
      'journals restored',
      'journals rebound',
      'calls kept in the next journal',
    ])
      expect(result.counts[what]).toBeGreaterThan(often / 2);
  });
});

describe('a rule that is broken on purpose is found', () => {
  it.each(MUTANTS)('$name', ({ name }) => {
    if (ONLY === undefined) expect(found[name]).toEqual(expect.any(Number));
  });
});
