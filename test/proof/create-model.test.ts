import { proved, sized } from '../support/proof';
import { explore, type Exploration, type Flaw } from './create-model/explore';
import { SOUND, type Bounds, type Rules } from './create-model/world';

/** Two sends hold every race between two callers, their zombies, kills and a refusal of an earlier run. */
const TWO: Bounds = {
  sends: 2,
  requests: [0, 0],
  creates: sized({ change: [2, 1], deep: [2, 2] }),
  decisions: 0,
  lateWrites: 0,
  losses: 0,
};
/** A journal that is lost, or set back to a copy, at any moment. */
const LOST: Bounds = { ...TWO, losses: 1 };

interface Space {
  readonly name: string;
  readonly bounds: Bounds;
}
const SPACES: readonly Space[] = [
  { name: 'two callers with one request', bounds: TWO },
  { name: 'two callers with two requests', bounds: { ...TWO, requests: [0, 1] } },
  { name: 'one caller and a journal that is lost or set back', bounds: { ...LOST, requests: [0] } },
  {
    name: 'one caller and a journal that is set back unnoticed',
    bounds: { ...LOST, requests: [0], unnoticed: true },
  },
  ...sized<readonly Space[]>({
    change: [],
    deep: [
      { name: 'a person who wants the refused request sent again', bounds: { ...TWO, again: [1] } },
      {
        name: 'a correction, and a person who wants the refused request sent again',
        bounds: { ...TWO, requests: [0, 1, 0], again: [2], creates: [1, 1, 1] },
      },
      {
        name: 'a correction and three sends',
        bounds: { ...TWO, requests: [0, 1], again: [0], sends: 3 },
      },
      { name: 'a correction and a decision', bounds: { ...TWO, requests: [0, 1], again: [0], decisions: 1 } },
      { name: 'two callers and a decision', bounds: { ...TWO, decisions: 1 } },
      { name: 'two callers and an intent that is written late', bounds: { ...TWO, lateWrites: 1 } },
      { name: 'two callers, three sends', bounds: { ...TWO, sends: 3 } },
      { name: 'two callers and a journal that is lost or set back', bounds: { ...LOST, creates: [1, 1, 1] } },
      { name: 'three callers with one request', bounds: { ...TWO, requests: [0, 0, 0], creates: [1, 1, 1] } },
      {
        name: 'three callers with two requests',
        bounds: { ...TWO, requests: [0, 0, 1], creates: [1, 1, 1] },
      },
    ],
  }),
];

/** Each rule, switched off, has to lead to this flaw. */
const NEEDED: readonly (readonly [keyof Rules, Flaw, Partial<Bounds>?])[] = [
  ['fence', 'falseRejections'],
  ['fenceLooks', 'falseRejections'],
  ['placeIsLicence', 'unauthorised'],
  ['journal', 'unauthorised'],
  ['pendingIsUnknown', 'falseRejections'],
  ['unsureIsUnsent', 'unauthorised'],
  ['ownSends', 'falseRejections', { decisions: 1 }],
  ['comparesAgain', 'mixedUp', { requests: [0, 0, 1], creates: [1, 1, 1] }],
  ['comparesPurchases', 'mixedUp', { requests: [0, 1] }],
  ['leavesForeign', 'mixedUp', { requests: [0, 1] }],
  ['shutsOut', 'falseRejections', { requests: [0, 1] }],
  ['latePurchases', 'lostIds', { decisions: 1 }],
];

/** The same, where a journal is lost or set back; most of them take a second caller, and so half a minute each. */
const NEEDED_AFTER_A_LOSS: readonly (readonly [keyof Rules, Flaw, Bounds])[] = [
  ['ownJournal', 'unauthorised', { ...LOST, requests: [0], unnoticed: true }],
  ['boundBefore', 'unauthorised', { ...LOST, requests: [0] }],
  ...sized<readonly (readonly [keyof Rules, Flaw, Bounds])[]>({
    change: [],
    deep: [
      ['announces', 'unauthorised', LOST],
      ['standsIn', 'unauthorised', LOST],
      ['eachDecided', 'unauthorised', { ...LOST, decisions: 1 }],
    ],
  }),
];

const LIMIT_MS = sized({ change: 5, deep: 60 }) * 60_000;
const walked: Exploration[] = [];
let rulesNeeded = 0;

const sum = (count: (walk: Exploration) => number): number =>
  walked.reduce((total, walk) => total + count(walk), 0);

afterAll(() =>
  proved('create-model', {
    'spaces walked': walked.length,
    states: sum(({ states }) => states),
    'worlds with a create accepted without authorisation': sum(({ unauthorised }) => unauthorised),
    'worlds with a false rejection': sum(({ falseRejections }) => falseRejections),
    'worlds with the result of another request': sum(({ mixedUp }) => mixedUp),
    'worlds with a recorded task that somebody was not told': sum(({ lostIds }) => lostIds),
    'rules shown to be needed': rulesNeeded,
    'rules not shown to be needed': NEEDED.length + NEEDED_AFTER_A_LOSS.length - rulesNeeded,
  }),
);

describe('callers with one creation key, in every order of events', () => {
  it.each(SPACES)(
    '[C4.4a] [C4.4c] $name: one accepted create, no false rejection, nothing mixed up',
    ({ bounds }) => {
      const walk = explore(SOUND, bounds);
      walked.push(walk);
      expect(walk).toMatchObject({ unauthorised: 0, falseRejections: 0, mixedUp: 0, lostIds: 0 });
      expect(walk.states).toBeGreaterThan(1_000);
    },
    LIMIT_MS,
  );

  it('every end is reached, and both callers can get the one video', () => {
    const [same, other] = walked;
    const ends = ['bound', 'created', 'rejected credentials', 'rejected moderation', 'unconfirmed'];
    expect([...(same?.ends ?? [])].sort()).toEqual(ends);
    expect([...(other?.ends ?? [])]).toContain('rejected creation_key_conflict');
    expect(same?.shared).toBe(true);
  });
});

describe('each rule is needed', () => {
  it.each(NEEDED.map(([rule, flaw, bounds = {}]) => [rule, flaw, bounds] as const))(
    'without %s: %s',
    (rule, flaw, bounds) => {
      const walk = explore({ ...SOUND, [rule]: false }, { ...TWO, ...bounds }, flaw);
      expect(walk[flaw]).toBeGreaterThan(0);
      rulesNeeded += 1;
    },
    LIMIT_MS,
  );

  it.each(NEEDED_AFTER_A_LOSS)(
    'without %s, where a journal was lost: %s',
    (rule, flaw, bounds) => {
      expect(explore({ ...SOUND, [rule]: false }, bounds, flaw)[flaw]).toBeGreaterThan(0);
      rulesNeeded += 1;
    },
    LIMIT_MS,
  );
});
