import { Random } from '../simulation/random';
import { batch } from './batch';
import { Parent } from './parent';
import { World, type Rules } from './world';

export type Flaw = 'over budget' | 'bought less than they could' | 'without an end';

export interface Explored {
  readonly counts: Readonly<Record<Struck | 'schedules' | Flaw, number>>;
  /** The first schedule with this flaw. */
  readonly first: Partial<Record<Flaw, number>>;
}

type Struck = 'terminates' | 'resets' | 'batches killed' | 'batches reset' | 'creates lost';

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
    'over budget': 0,
    'bought less than they could': 0,
    'without an end': 0,
  };
  const first: Partial<Record<Flaw, number>> = {};
  for (let seed = from; seed < from + schedules; seed += 1) {
    const flaw = play(rules, seed, calm, (what) => (counts[what] += 1));
    counts.schedules += 1;
    if (flaw === undefined) continue;
    counts[flaw] += 1;
    first[flaw] ??= seed;
    if (flaw === until) break;
  }
  return { counts, first };
}

function play(rules: Rules, seed: number, isCalm: boolean, strike: (what: Struck) => void): Flaw | undefined {
  const random = new Random(seed);
  const rows = Array.from({ length: random.between(4, 13) }, (_, row) => `r${row}`);
  const budget = random.between(1, Math.ceil(rows.length * 1.2));
  const world = new World(random, rules, rows, budget, random.between(1, 5), random.chance(0.4));
  let faults = isCalm ? 0 : random.between(0, MOST_FAULTS);
  let parent = new Parent(world);
  for (let step = 0; world.actors.size > 0; step += 1) {
    if (step === MOST_STEPS) return 'without an end';
    const actor = random.pick([...world.actors]);
    if (actor.steps.next().done === true) world.actors.delete(actor);
    if (world.cost > budget) return 'over budget';
    if (faults > 0 && random.chance(0.02)) {
      faults -= 1;
      parent = struck(world, parent, strike);
    }
  }
  if (!parent.isFinished) return 'without an end';
  const isUnknown = [...world.claims.values()].some((claim) => claim !== 'fence' && claim.outcome === null);
  const couldBuy = Math.min(budget, rows.length);
  return world.isPerfect && !isUnknown && world.cost < couldBuy ? 'bought less than they could' : undefined;
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
