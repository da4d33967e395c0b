import { type Batch, type Create, type Intent, placeOf, type Steps, wasCharged, type World } from './world';

const AT_ONCE = 3;

/** `media.createVideos` for one row: it lives on although its batch is gone, unless its worker dies. */
export function* create(world: World, one: Create): Steps {
  const { claims, random, rules } = world;
  for (;;) {
    const place = placeOf(one.row, one.at);
    const claim = claims.get(place);
    yield;
    if (claim === undefined) {
      if (!claims.has(place)) break;
      continue;
    }
    while (claim !== 'fence' && world.isUnderWay(claim)) yield;
    if (wasCharged(claim)) {
      one.done = claim;
      return;
    }
    one.at += 1;
  }
  const intent: Intent = {
    ...{ payer: one.batch, outcome: null, fails: false },
    ...{ isFree: false, isAccepted: false, bill: null, counted: null, billedAt: 0 },
  };
  claims.set(placeOf(one.row, one.at), intent);
  one.intent = intent;
  yield;
  const isOwner = !rules.owner || world.ownerOf(one.batch, one.run) === one.run;
  yield;
  if (!isOwner || (rules.fence && world.fences.has(one.batch))) {
    intent.outcome = 'none';
    one.done = 'closed';
    return;
  }
  yield;
  const isAccepted = world.isPerfect || random.chance(0.75);
  if (isAccepted) {
    world.change(intent, { isAccepted: true });
    intent.fails = !world.isPerfect && random.chance(0.35);
  }
  yield;
  intent.outcome = isAccepted ? 'created' : 'none';
  yield;
  one.done = isAccepted ? intent : 'refused';
}

/**
 * The workflow of a batch: it takes the price of a row from its account before it orders a create, and gives back only what
 * the journal has as bought by nobody, or by another.
 */
export function* batch(world: World, own: Batch, run: number): Steps {
  const isGone = () => own.isDead || own.run !== run;
  const todo = [...own.rows];
  const ended = new Set<string>();
  const creates = new Set<Create>();
  const free: string[] = [];
  let [spent, isSuperseded] = [0, false];

  /** What a create came to that was answered, or whose worker is gone. */
  function* settled(one: Create): Steps {
    creates.delete(one);
    const place = placeOf(one.row, one.at);
    let came = one.done;
    if (came === null) {
      yield;
      const claim = world.claims.get(place) ?? 'fence';
      if (claim === 'fence') world.claims.set(place, claim);
      else while (world.isUnderWay(claim)) yield;
      if (claim === 'fence' || (claim.outcome === 'none' && claim.payer !== own.n)) {
        spent -= 1;
        todo.unshift(one.row);
        return;
      }
      came = claim.outcome === 'none' ? 'refused' : claim;
    }
    if (came === 'closed' || came === 'refused') {
      spent -= 1;
      if (came === 'closed') isSuperseded = true;
      else ended.add(one.row);
      return;
    }
    ended.add(one.row);
    const isFree = came.outcome === 'created' && came.fails;
    // Its own charge is given back by its close.
    if (isFree) noteFree(place, came);
    if (came.payer !== own.n) spent -= 1;
  }

  function noteFree(place: string, intent: Intent): void {
    world.change(intent, { isFree: true });
    free.push(place);
    if (world.random.chance(0.8)) world.unpaid.add(place);
  }

  while (!isGone()) {
    for (const one of [...creates])
      if (one.done !== null || one.isLost) {
        yield* settled(one);
        if (isGone()) return;
      }
    const isLeaving = isSuperseded || own.handBack;
    const next = todo[0];
    if (!isLeaving && next !== undefined && creates.size < AT_ONCE && spent + 1 <= own.granted) {
      todo.shift();
      spent += 1;
      const one: Create = {
        row: next,
        batch: own.n,
        run,
        at: 0,
        intent: null,
        done: null,
        isLost: false,
      };
      creates.add(one);
      world.spawn(create(world, one), one);
    } else if (creates.size === 0) {
      if (!isLeaving) yield* adoptRest();
      if (isGone()) return;
      const left = own.rows.filter((row) => !ended.has(row));
      own.end = { run, spent, left, handedBack: isSuperseded || own.handBack, free };
      return;
    }
    own.needs = next !== undefined && spent + 1 > own.granted;
    yield;
  }

  /** Without money rows are only looked up. */
  function* adoptRest(): Steps {
    for (const row of todo)
      for (let at = 0; ; at += 1) {
        const claim = world.claims.get(placeOf(row, at));
        yield;
        while (claim !== undefined && claim !== 'fence' && world.isUnderWay(claim)) yield;
        if (claim === undefined || isGone()) break;
        if (wasCharged(claim)) {
          ended.add(row);
          break;
        }
      }
  }
}
