import { Logs } from './read-log';
import { successors } from './successors';
import { bitsOf, firstWorld, type Bounds, type Rules, type World } from './world';
import { keyOf } from './world-key';

export interface Exploration {
  readonly states: number;
  /** Worlds with more accepted creates than the first and one per authorisation. */
  readonly unauthorised: number;
  /**
   * Worlds in which a workflow says "rejected" although a send of its own was accepted and nobody decided, or in which a
   * create was called unsent although its send was accepted.
   */
  readonly falseRejections: number;
  /** Worlds in which somebody was given the result of another request. */
  readonly mixedUp: number;
  /** Worlds in which somebody was told "unconfirmed", or that it was given up, while the journal had the task. */
  readonly lostIds: number;
  /** Words that a workflow ended with, all walks together. */
  readonly ends: ReadonlySet<string>;
  /** Whether some walk ended with every workflow having the one created video. */
  readonly shared: boolean;
}

/** A flaw that a walk can meet. */
export type Flaw = 'unauthorised' | 'falseRejections' | 'mixedUp' | 'lostIds';

export const FLAWS: Readonly<Record<Flaw, (world: World) => boolean>> = {
  unauthorised: ({ accepted, authorised }) => accepted > 1 + authorised,
  falseRejections: ({ callers, acceptedOf, unsentOf, decisions }) =>
    (acceptedOf & unsentOf) !== 0 ||
    (decisions === 0 &&
      callers.some(
        ({ end }, index) => end !== null && end.startsWith('rejected') && (acceptedOf & bitsOf(index)) !== 0,
      )),
  mixedUp: ({ mixedUp }) => mixedUp,
  lostIds: ({ lostId }) => lostId,
};

/** Walks every order of events, or until the flaw is met. */
export function explore(rules: Rules, bounds: Bounds, until?: Flaw): Exploration {
  const seen = new Set<string>();
  const open: World[] = [];
  const ends = new Set<string>();
  const found: Record<Flaw, number> = { unauthorised: 0, falseRejections: 0, mixedUp: 0, lostIds: 0 };
  const logs = new Logs(bounds, rules);
  let shared = false;
  const visit = (world: World): void => {
    const key = keyOf(world, bounds, logs);
    if (seen.has(key)) return;
    seen.add(key);
    open.push(world);
  };
  visit(firstWorld(bounds));
  for (let world = open.pop(); world !== undefined; world = open.pop()) {
    for (const flaw of Object.keys(FLAWS) as Flaw[]) if (FLAWS[flaw](world)) found[flaw] += 1;
    for (const { end } of world.callers) if (end !== null) ends.add(end);
    shared ||= world.accepted === 1 && world.callers.every(({ end }) => end === 'created');
    if (until !== undefined && found[until] > 0) break;
    // In reverse, most flaws are met in a tenth of the states.
    for (const next of successors(world, rules, bounds, logs).reverse()) visit(next);
  }
  return { states: seen.size, ...found, ends, shared };
}
