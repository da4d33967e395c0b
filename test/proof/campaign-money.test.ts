import { proved, sized } from '../support/proof';
import { explore, type Explored, type Flaw } from './campaign-money/explore';
import { ALL_RULES, type Rules } from './campaign-money/world';

/**
 * The book of a campaign under terminates, resets to any earlier moment, killed and reset batches, killed workers,
 * activities that outlive their workflow, and bills that arrive at any time and in any order, with the rules of src/domain/campaign/budget-book.ts. `SIM_FROM=…` begins with another
 * seed.
 */
const SCHEDULES = sized({ change: 2_000, deep: 100_000 });
const FROM = Number(process.env['SIM_FROM'] ?? 1);
const LIMIT_MS = 5 * 60_000;

/** Each rule, left out, has to lead to this flaw; a rare one is looked for from a seed near which it is. */
const NEEDED: readonly (readonly [keyof Rules, Flaw, number])[] = [
  ['fence', 'over budget', 1],
  ['createIfAbsent', 'over budget', 1],
  ['freeRecord', 'over budget', 1],
  ['deductsClosedOnly', 'counted less than they cost', 1],
  ['decidesOnce', 'over budget', 34_001],
  ['owner', 'over budget', 1],
  ['waitsForSends', 'bought less than they could', 1],
  ['takesOver', 'bought less than they could', 1],
  ['waitsForOutcome', 'counted less than they cost', 1],
  ['returnsBilled', 'counted less than they cost', 1],
  ['countsUnchanged', 'counted less than they cost', 1_001],
  ['countsAtTheEnd', 'bought less than they could', 1],
];

let all: Explored;
let rulesNeeded = 0;

beforeAll(() => {
  all = explore(ALL_RULES, SCHEDULES, { from: FROM });
}, LIMIT_MS);

afterAll(() =>
  proved('campaign-money', {
    ...all.counts,
    'rules shown to be needed': rulesNeeded,
    'rules not shown to be needed': NEEDED.length - rulesNeeded,
  }),
);

describe('the book of a campaign, in random orders of events and faults', () => {
  it.each<Flaw>([
    'over budget',
    'counted less than they cost',
    'bought less than they could',
    'without an end',
  ])('none is %s', (flaw) => {
    expect({ flaw, first: all.first[flaw] }).toEqual({ flaw, first: undefined });
  });

  it('the schedules were full of trouble', () => {
    const struck = [
      'terminates',
      'resets',
      'batches killed',
      'batches reset',
      'creates lost',
      'bills',
    ] as const;
    for (const what of struck) expect(all.counts[what]).toBeGreaterThan(SCHEDULES / 20);
  });

  it('nothing goes wrong where nothing strikes', () => {
    expect(explore(ALL_RULES, SCHEDULES / 20, { calm: true }).first).toEqual({});
  });
});

describe('each rule is needed', () => {
  it.each(NEEDED)(
    'without %s: %s',
    (rule, flaw, from) => {
      const { first } = explore({ ...ALL_RULES, [rule]: false }, SCHEDULES, { from, until: flaw });
      expect(first[flaw]).toEqual(expect.any(Number));
      rulesNeeded += 1;
    },
    LIMIT_MS,
  );
});
