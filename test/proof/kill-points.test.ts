import { CHANGED, JOURNAL_CHANGES, type JournalChange } from '../support/changed-journal';
import { proved } from '../support/proof';
import { STORES } from '../support/store-places';
import { CHANGED_POINTS, type ChangedPoint } from './kills/changed-journals';
import {
  CRASH_POINTS,
  STRIKES,
  isTooSlow,
  isUnfenced,
  type CrashPoint,
  type Strike,
} from './kills/crash-points';
import { stopGroups, strikeGroup, type StruckCell } from './kills/strike-group';

const LIMIT_MS = 600_000;

/**
 * Points whose create is over, or whose attempt is given up after half a minute only. The others are stopped in a
 * process of their own, so that they are continued while their create still has time for its reply.
 */
const STOPPED_APART: readonly string[] = [
  'completion_reported',
  'poll',
  'part_before_publish',
  'part_published',
  'reconcile',
  'before_decision',
  'decision_durable',
];

const WORDS: Readonly<Record<Strike, string>> = {
  SIGKILL: 'SIGKILL',
  SIGTERM: 'SIGTERM',
  SIGSTOP: 'SIGSTOP, and SIGCONT after the timeouts,',
};

const groups = new Map<string, Promise<ReadonlyMap<string, StruckCell>>>();

afterAll(stopGroups);

/**
 * A worker process is struck while it is at a named point of a paid video: killed, told to stop, or stopped until the
 * server has given up what it held and then continued. Another worker takes over on the same queue and journal.
 */
describe('a worker struck', () => {
  const proven: StruckCell[] = [];

  // All at once, from the first test that asks: they wait for timeouts of the server side by side.
  function begin(): void {
    const names = CRASH_POINTS.map(({ name }) => name);
    const [long, short] = [
      names.filter((name) => STOPPED_APART.includes(name)),
      names.filter((name) => !STOPPED_APART.includes(name)),
    ];
    for (const strike of STRIKES) {
      for (const points of strike === 'SIGSTOP' ? [short, long] : [names]) {
        const group = strikeGroup(strike, points);
        // Each of its tests reports the failure.
        group.catch(() => undefined);
        for (const point of points) groups.set(`${strike} ${point}`, group);
      }
    }
  }

  async function cell(strike: Strike, { name }: CrashPoint): Promise<StruckCell> {
    if (groups.size === 0) begin();
    const struck = (await groups.get(`${strike} ${name}`))?.get(name);
    if (struck === undefined) throw new Error(`${strike} ${name} did not run`);
    proven.push(struck);
    return struck;
  }

  for (const strike of STRIKES) {
    for (const point of CRASH_POINTS) {
      const rules = strike === 'SIGKILL' ? point.rules.map((rule) => `[${rule}] `).join('') : '';
      it.concurrent(
        `${rules}by ${WORDS[strike]} ${point.when}`,
        async () => {
          const { heldMs, ...struck } = await cell(strike, point);
          const expected = point.expected[strike];
          const facts =
            isTooSlow(strike, struck.facts, expected, heldMs) || isUnfenced(point, strike, struck.facts)
              ? struck.facts
              : expected;
          const fate = expected.outcome === 'completed' ? 'known' : 'no_outcome_recorded, needs_review';
          const isExpected = facts.outcome === expected.outcome;
          expect(struck).toEqual({
            facts,
            kept: ['cine-1', 4, '720p', 'none', ...(isExpected ? [fate] : struck.kept.slice(-1))],
            acceptedBeyondOne: 0,
            sentAgainUnproved: 0,
            idsLost: 0,
          });
        },
        LIMIT_MS,
      );
    }
  }

  afterAll(() => {
    const sum = (count: (struck: StruckCell) => number) =>
      proven.reduce((total, struck) => total + count(struck), 0);
    proved('kill-points', {
      'crash points': CRASH_POINTS.length,
      'combinations of point and signal': proven.length,
      'creates sent': sum(({ facts }) => facts.sends),
      accepted: sum(({ facts }) => facts.accepted),
      'ended without a person': sum(({ facts }) => Number(facts.outcome === 'completed')),
      unconfirmed: sum(({ facts }) => Number(facts.outcome === 'unconfirmed')),
      'sent again by themselves after a possible send': sum((struck) => struck.sentAgainUnproved),
      'accepted beyond one': sum((struck) => struck.acceptedBeyondOne),
      'task ids lost after a recorded reply': sum(({ idsLost }) => idsLost),
    });
  });
});

/**
 * A worker process is killed at a point of a create, and the next worker starts with `--rebind` on another journal. Nothing
 * is sent again without a proof of the very journal that the create wrote to.
 */
(STORES === 'files' ? describe : describe.skip)('a worker killed', () => {
  const changed = new Map<JournalChange, Promise<ReadonlyMap<string, StruckCell>>>();
  const proven: { readonly change: JournalChange; readonly struck: StruckCell }[] = [];

  function begin(): void {
    // The others are held by the second: they have the machine to themselves.
    const alone = Promise.allSettled(groups.values());
    const names = CHANGED_POINTS.map(({ name }) => name);
    for (const change of JOURNAL_CHANGES) {
      const group = alone.then(() => strikeGroup('SIGKILL', names, change));
      group.catch(() => undefined);
      changed.set(change, group);
    }
  }

  async function cell(change: JournalChange, { name }: ChangedPoint): Promise<StruckCell> {
    if (changed.size === 0) begin();
    const struck = (await changed.get(change))?.get(name);
    if (struck === undefined) throw new Error(`${change} ${name} did not run`);
    proven.push({ change, struck });
    return struck;
  }

  for (const change of JOURNAL_CHANGES) {
    for (const point of CHANGED_POINTS) {
      it.concurrent(
        `[C4.4c] ${point.when}, ${CHANGED[change]}`,
        async () => {
          const { heldMs: _, kept, ...struck } = await cell(change, point);
          const facts = point.expected;
          const fate = facts.outcome === 'completed' ? 'known' : 'journal_changed, needs_review';
          expect({ ...struck, fate: kept.at(-1) }).toEqual({
            facts,
            fate,
            acceptedBeyondOne: 0,
            sentAgainUnproved: 0,
            idsLost: 0,
          });
        },
        LIMIT_MS,
      );
    }
  }

  afterAll(() => {
    const sum = (count: (struck: StruckCell) => number) =>
      proven.reduce((total, { struck }) => total + count(struck), 0);
    proved('kill-points/journals', {
      ...Object.fromEntries(
        JOURNAL_CHANGES.map((how) => [
          `creates with their journal ${how}`,
          proven.filter(({ change }) => change === how).length,
        ]),
      ),
      'creates sent': sum(({ facts }) => facts.sends),
      accepted: sum(({ facts }) => facts.accepted),
      'left to a person': sum(({ facts }) => Number(facts.outcome === 'unconfirmed')),
      'accepted without authorisation': sum((struck) => struck.acceptedBeyondOne),
    });
  });
});
