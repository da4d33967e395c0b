import { type BookEntry } from '../../../src/domain/campaign/budget-book';
import { Random } from '../simulation/random';
import { batch } from './batch';
import { Parent } from './parent';
import { costOf, type Rules, World } from './world';

export type Flaw =
  | 'over budget'
  | 'counted less than they cost'
  | 'bought less than they could'
  | 'without an end';

export interface Explored {
  readonly counts: Readonly<Record<Struck | 'schedules' | Flaw, number>>;
  /** The first schedule with this flaw. */
  readonly first: Partial<Record<Flaw, number>>;
}

type Struck = 'terminates' | 'resets' | 'batches killed' | 'batches reset' | 'creates lost' | 'bills';

const MOST_STEPS = 40_000;
const MOST_FAULTS = 8;

/** Random schedules of one campaign, from this seed on. */
export function explore(
  rules: Rules,
  schedules: number,
  { from = 1, until, calm = false }: { from?: number; until?: Flaw; calm?: boolean } = {},
): Explored {
  const counts = {
    schedules: 0,
    terminates: 0,
    resets: 0,
    'batches killed': 0,
    'batches reset': 0,
    'creates lost': 0,
    bills: 0,
    'over budget': 0,
    'counted less than they cost': 0,
    'bought less than they could': 0,
    'without an end': 0,
  };
  const first: Partial<Record<Flaw, number>> = {};
  for (let seed = from; seed < from + schedules; seed += 1) {
    const flaws = play(rules, seed, calm, (what) => (counts[what] += 1));
    counts.schedules += 1;
    for (const flaw of flaws) {
      counts[flaw] += 1;
      first[flaw] ??= seed;
    }
    if (until !== undefined && flaws.has(until)) break;
  }
  return { counts, first };
}

function play(
  rules: Rules,
  seed: number,
  isCalm: boolean,
  strike: (what: Struck) => void,
): ReadonlySet<Flaw> {
  const random = new Random(seed);
  const rows = Array.from({ length: random.between(4, 13) }, (_, row) => `r${row}`);
  const budget = random.between(1, Math.ceil(rows.length * 1.2));
  const world = new World(random, rules, rows, budget, random.between(1, 5), random.chance(0.4));
  let faults = isCalm ? 0 : random.between(0, MOST_FAULTS);
  const bills = random.chance(0.5) ? random.between(1, 40) / 1_000 : 0;
  let parent = new Parent(world);
  const flaws = new Set<Flaw>();
  for (; world.actors.size > 0; world.steps += 1) {
    if (world.steps === MOST_STEPS) return flaws.add('without an end');
    const actor = random.pick([...world.actors]);
    if (actor.steps.next().done === true) world.actors.delete(actor);
    if (bills > 0 && random.chance(bills) && bill(world)) strike('bills');
    if (world.cost > committedBy(world.newest().book)) flaws.add('counted less than they cost');
    if (world.cost > budget + world.risen) return flaws.add('over budget');
    if (faults > 0 && random.chance(0.02)) {
      faults -= 1;
      parent = struck(world, parent, strike);
    }
  }
  if (!parent.isFinished) flaws.add('without an end');
  else if (couldHaveBoughtMore(world)) flaws.add('bought less than they could');
  return flaws;
}

const committedBy = ({ closed, billed, open }: BookEntry): number =>
  open.reduce((sum, [, granted]) => sum + (granted ?? 0), closed + billed);

/** Whether a row was left out although there was money, with each bill counted that was there at the last close. */
function couldHaveBoughtMore({ claims, closedAt, isPerfect, rows, budget }: World): boolean {
  const sends = [...claims.values()].filter((claim) => claim !== 'fence');
  if (!isPerfect || sends.some(({ outcome }) => outcome === null)) return false;
  let cost = 0;
  for (const send of sends) {
    const billed = costOf({ ...send, counted: send.bill });
    // A later bill may be counted or not.
    cost += send.billedAt < closedAt ? billed : Math.max(billed, costOf(send));
  }
  return sends.filter(({ isAccepted }) => isAccepted).length < rows.length && budget - cost >= 1;
}

/** A bill arrives, for any send: in flight, of unknown fate, refused, bought, or free; cheaper, dearer, or corrected. */
function bill({ random, claims, steps }: World): boolean {
  const sends = [...claims.values()].filter((claim) => claim !== 'fence');
  if (sends.length === 0) return false;
  Object.assign(random.pick(sends), { bill: random.pick([0, 0.5, 1, 3]), billedAt: steps });
  return true;
}

/** Something strikes now; the parent that lives then. */
function struck(world: World, parent: Parent, strike: (what: Struck) => void): Parent {
  const { random } = world;
  const running = [...parent.open.values()].filter(({ end, isDead }) => end === null && !isDead);
  switch (random.weighted({ terminate: 22, reset: 22, kill: 16, resetBatch: 16, loseWorker: 24 })) {
    case 'terminate':
      // Some of its batches live on: the server does not find those of a run that was reset.
      strike('terminates');
      parent.isDead = true;
      for (const own of parent.open.values()) if (random.chance(0.8)) own.isDead = true;
      return new Parent(world);
    case 'reset':
      if (parent.history.length === 0) return parent;
      strike('resets');
      parent.isDead = true;
      return new Parent(world, random.pick(parent.history));
    case 'kill':
      if (running.length === 0) return parent;
      strike('batches killed');
      random.pick(running).isDead = true;
      return parent;
    case 'resetBatch': {
      if (running.length === 0) return parent;
      strike('batches reset');
      const own = random.pick(running);
      own.run += 1;
      world.spawn(batch(world, own, own.run));
      return parent;
    }
    case 'loseWorker':
      for (const actor of world.actors)
        if (actor.create !== undefined && random.chance(0.6)) {
          world.actors.delete(actor);
          if (actor.create.done === null) actor.create.isLost = true;
          strike('creates lost');
        }
      return parent;
  }
}
