import { billInReply, isPaid } from '../../../src/domain/log-entries';
import { answers } from '../../domain/create-answers';
import { billEntry, decisionEntry } from '../../support/log-entries';
import { decideBy, end, reconcile, sender, settle } from './protocol';
import { type Broken } from './rules';
import { type Activity, type Run, timeOf, World } from './world';

const created = answers.created(0);
const declareLost = answers.rejected(0, 'declared_lost');

const STEPS = 260;
/** Steps within which everything that lives has to come to its end. */
const LONGEST_END = 3_000;

/** Plays one schedule; the problems that it found are those of {@link problemsOf}. */
export function play(seed: number, broken: Broken): World {
  const world = new World(randomOf(seed), broken);
  world.startRun('A');
  for (; world.steps < STEPS;) {
    world.steps++;
    if (world.chance(0.05)) bill(world);
    happen(world);
  }
  for (let i = 0; i < LONGEST_END && world.living.length > 0; i++) {
    world.bound = world.journal.id;
    world.step(world.pick(world.living));
    for (const run of world.runs) finish(world, run);
  }
  return world;
}

/** One event: a step of a process, or something that a workflow, an operator, a person or a machine does. */
function happen(world: World): void {
  const { living } = world;
  const open = world.runs.filter(({ state }) => state !== 'ended');
  const event = world.random();
  if (living.length > 0 && event < 0.62) world.step(world.pick(living));
  else if (open.length > 0 && event < 0.8) goOn(world, world.pick(open));
  else if (living.length > 0 && event < 0.86) world.kill(world.pick(living));
  else if (event < 0.9 && world.runs.length < 5) comeAgain(world);
  else if (event < 0.96) decideAbout(world, world.pick(world.runs));
  else if (event < 0.975 && world.chance(0.02)) replaceJournal(world);
  else if (world.journal.id !== world.bound && world.chance(0.5)) world.bound = world.journal.id;
  else if (world.chance(0.05) && world.journal.log.length > 0) {
    // An older copy of the journal is restored: the newest entries are gone, its identity is the same.
    world.journal.log.length = Math.floor(world.random() * world.journal.log.length);
    world.hasLost = true;
    world.isRestored = true;
  }
}

function goOn(world: World, run: Run): void {
  const activity = run.activities.at(-1);
  if (run.state === 'idle') return schedule(world, run);
  if (activity === undefined) return;
  if (run.state === 'timed_out') return startReconciling(world, run, activity);
  if (run.state === 'reconciling') {
    // Its retry, while the first one still runs.
    if (world.chance(0.1)) spawnReconcile(world, run, activity);
  } else if (world.chance(0.15) && activity.isOpen) {
    // An operator resets the activity: the same one is handed out again while its earlier try may live.
    activity.turn++;
    activity.attemptAt = world.steps;
    if (world.chance(0.5)) {
      activity.heartbeat = null;
      world.isCleared = true;
    }
    activity.process = world.spawn(sender(world, activity), activity);
  } else if (world.chance(0.3) && activity.isOpen) {
    activity.isOpen = false;
    run.state = 'timed_out';
  }
}

function schedule(world: World, run: Run): void {
  run.state = 'creating';
  const activity: Activity = {
    id: `${run.id}/${run.activities.length}`,
    run,
    at: world.steps,
    attemptAt: world.steps,
    isOpen: true,
    turn: 0,
    heartbeat: null,
    toldNotSent: null,
    wasAccepted: false,
    process: null,
  };
  run.activities.push(activity);
  activity.process = world.spawn(sender(world, activity), activity);
}

function startReconciling(world: World, run: Run, activity: Activity): void {
  run.state = 'reconciling';
  spawnReconcile(world, run, activity);
}

function spawnReconcile(world: World, run: Run, activity: Activity): void {
  world.spawn(
    reconcile(world, activity, (said) => {
      if (run.state === 'reconciling' && run.activities.at(-1) === activity)
        settle(run, said, 'reconciliation');
    }),
  );
}

/** A reset, a retry, or a second caller under the same key, with the same request or another one. */
function comeAgain(world: World): void {
  const from = world.pick(world.runs);
  const activity = from.activities.at(-1);
  if (!world.chance(0.6)) {
    world.startRun(world.chance(0.7) ? 'A' : 'B');
    return;
  }
  if (activity !== undefined) activity.isOpen = false;
  end(from, from.outcome ?? 'terminated');
  const next = world.startRun(from.fingerprint);
  // A reset applies the Updates of the run before again.
  next.decisions.push(...from.decisions);
  for (const decision of next.decisions) world.spawn(decideBy(world, decision));
}

function decideAbout(world: World, run: Run): void {
  const { sends, unknown, bought } = world.rule.stateOf(world.journal.log);
  if (unknown === null || bought !== null || world.journal.id !== world.bound) return;
  const decision = world.pick(['adopt', 'declareLost', 'resubmit'] as const);
  const answer = { adopt: created, declareLost, resubmit: null }[decision];
  const entry = decisionEntry({ about: sends[unknown]!.sent.nonce, decision, answer });
  run.decisions.push(entry);
  world.spawn(decideBy(world, entry));
}

/**
 * A bill arrives, at any time: for a send in flight, of unknown fate, refused, bought or decided, for one that this
 * journal does not have, and the same one again. Its writer reads on until it has a place.
 */
function bill(world: World): void {
  const { log } = world.journal;
  const sent = log.flatMap((entry) => (entry.kind === 'intent' || entry.kind === 'lost' ? entry.nonce : []));
  if (sent.length === 0) return;
  const about = world.chance(0.05) ? 'elsewhere' : world.pick(sent);
  const microUnits = world.pick([350_000, 0, -350_000]);
  world.append(world.journal, log.length, billEntry({ about, microUnits, at: timeOf(world.steps) }));
}

/** The journal is lost, and a person rebinds the queue to an empty one, at once or later. */
function replaceJournal(world: World): void {
  world.earlier.push(world.journal);
  world.journal = { id: `J${world.nonce()}`, log: [], since: world.steps };
  world.hasLost = true;
  if (world.chance(0.9)) world.bound = world.journal.id;
}

/** Nothing new happens: what waits for an answer gets one. */
function finish(world: World, run: Run): void {
  const activity = run.activities.at(-1);
  if (activity === undefined) return;
  if (run.state === 'creating' && activity.process?.isDead === true) {
    activity.isOpen = false;
    run.state = 'timed_out';
  }
  if (run.state === 'timed_out') startReconciling(world, run, activity);
}

/** What went wrong in a schedule; empty for a right one. */
export function problemsOf(world: World): string[] {
  const { accepted, authorised, runs, hasLost, journal, rule } = world;
  const problems = [...world.problems];
  const state = rule.stateOf(journal.log);
  const { bought, unknown, open } = state;
  const isDecided = journal.log.some(({ kind }) => kind === 'decision');
  // Entries lost from the journal and the announcement lost too: nothing is left that could prove anything (A1).
  const hasWitness = !(world.isRestored && (world.isCleared || world.isSplit || world.isShifted));
  const check = (isRight: boolean, problem: string): void => {
    if (!isRight) problems.push(problem);
  };
  // A replaced journal loses finished keys; a later run may then buy again: that is A1, and told at the rebind.
  check(hasLost || accepted.length <= authorised, 'accepted more than was authorised');
  for (const run of runs) {
    const own = accepted.filter((id) => id === run.id).length;
    check(!hasWitness || own <= authorised, 'one run accepted more than was authorised');
    for (const { id, toldNotSent, wasAccepted } of run.activities) {
      // A later try that was let go on by a decision tells of itself; what was sent before is owed.
      const isExempt = !hasWitness || (toldNotSent === 'itself' && isDecidedAbout(world, id));
      check(isExempt || toldNotSent === null || !wasAccepted, 'told as not sent, and accepted');
    }
  }
  const isKnown = bought !== null || unknown !== null || open !== null || isDecided;
  check(hasLost || accepted.length === 0 || isKnown, 'accepted, and the key says that nothing was');
  const isTold = runs.some(({ outcome }) => outcome === 'created');
  check(hasLost || !isTold || bought !== null, 'a purchase was told, and the log has lost it');
  const isRecorded = journal.log.some(
    (entry) => entry.kind === 'answer' && entry.answer.outcome === 'created',
  );
  check(world.isShifted || !isRecorded || bought !== null, 'a recorded purchase is not known');
  for (const { sent, bill, answer } of state.sends) {
    const bills = journal.log.filter((entry) => entry.kind === 'bill' && entry.about === sent.nonce);
    const inReply = answer === null ? null : billInReply(answer);
    const expected = bills.at(-1) ?? (isPaid(answer?.answer) ? inReply : null);
    check(JSON.stringify(bill) === JSON.stringify(expected), 'a bill is lost, or an amount of a reply is');
  }
  check(world.living.length === 0, 'it does not end');
  return problems;
}

/** Whether a person has decided about a send of this activity. */
function isDecidedAbout({ journal, earlier }: World, sender: string): boolean {
  return [journal, ...earlier].some(({ log }) => {
    const sent = log.flatMap((entry) =>
      entry.kind === 'intent' && entry.sender === sender ? entry.nonce : [],
    );
    return log.some((entry) => entry.kind === 'decision' && sent.includes(entry.about));
  });
}

/** Mulberry32: the same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
