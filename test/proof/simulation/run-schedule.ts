import { type JournalChange } from '../../support/changed-journal';
import { auditBroken, idsIn, INVARIANTS } from './invariants';
import { Lives, type Life } from './lives';
import { type Observations, type Told } from './observations';
import { type Blow, drawPlan, type Plan } from './plan';
import { Random } from './random';
import { useTime } from './virtual-globals';
import { makeProcess, type Actor, VirtualTime } from './virtual-time';
import { makeWorld, type Mutant, skewOf, type World } from './world';

export interface Violation {
  readonly invariant: string;
  readonly what: string;
}

export interface ScheduleReport {
  readonly seed: number;
  readonly plan: Plan;
  readonly observations: Observations;
  readonly events: number;
  readonly violations: readonly Violation[];
  readonly trace: readonly string[] | undefined;
}

const KEYS = ['order-1', 'order-2'] as const;
const LOST_ID = 'recorded ids lost';
/**
 * After this many lives, nobody decides or starts again. If no create is ever answered, each answer would begin more
 * than one new life on average, and the schedule would never end.
 */
const MOST_LIVES = 40;
/** Longer than any Retry-After of the simulated service. */
const MUCH_LATER_MS = 26 * 3_600_000;

/** Everything that one seed brings: some workflows with one key, every kind of fault, and an audit at the end. */
export async function runSchedule(
  seed: number,
  options: { readonly mutant?: Mutant | undefined; readonly traced?: boolean } = {},
): Promise<ScheduleReport> {
  const random = new Random(seed);
  const time = new VirtualTime(random, { process: makeProcess('world') }, options.traced === true);
  useTime(time);
  const plan = drawPlan(random);
  time.say(() => JSON.stringify(plan));
  const world = makeWorld(time, plan, options.mutant);
  const lives = new Lives(world, (life) => {
    // After the schedule is over somebody asks, and nobody does anything.
    if (life.workflowId.startsWith('audit') || lives.all.length >= MOST_LIVES) return;
    const { answer } = world.observations.told.at(-1) as Told;
    if (answer.outcome === 'unconfirmed' && random.chance(plan.decides))
      time.after(random.pick([0, 60_000, 300_000]), time.world, () =>
        decide(world, lives, life, answer.evidence.sendId),
      );
    if (!random.chance(plan.startsAgain)) return;
    // The same id is started again, by a person or by a parent that is retried.
    const soon = random.pick([0, 5_000, 400_000]);
    time.after(soon, time.world, () => void (random.chance(0.5) && lives.start(life.key, life.prompt)));
  });
  time.before = strike(world, lives);
  lives.start(random.chance(0.9) ? KEYS[0] : KEYS[1], 'a lighthouse');
  const violations: Violation[] = [];
  await quiet(world, time.run());
  for (const life of lives.all)
    if (!life.over && !life.ended)
      world.observations.failures.push(`${life.workflowId} was never told anything`);
  for (const what of await audit(world, lives)) violations.push({ invariant: LOST_ID, what });
  for (const { name, broken } of INVARIANTS)
    for (const what of broken(world.observations, plan.maxSkewMs)) violations.push({ invariant: name, what });
  return { seed, plan, observations: world.observations, events: time.events, violations, trace: time.trace };
}

/** Names of everything that is checked after a schedule. */
export const CHECKED: readonly string[] = [...INVARIANTS.map(({ name }) => name), LOST_ID];

async function quiet({ observations }: World, running: Promise<void>): Promise<void> {
  await running.catch((error: unknown) => observations.failures.push(String(error)));
}

/** Does what the plan has for this event. */
function strike(world: World, lives: Lives): (actor: Actor) => void {
  const { time, plan } = world;
  let next = 0;
  let count = 0;
  return (actor) => {
    count += 1;
    for (let blow = plan.blows[next]; blow !== undefined && blow.at <= count; blow = plan.blows[next]) {
      next += 1;
      deal(blow, actor, world, lives);
      time.current = time.world;
    }
  };
}

function deal({ kind }: Blow, actor: Actor, world: World, lives: Lives): void {
  const { time, plan, server } = world;
  const { random } = time;
  const workers = server.workers;
  const running = workers.includes(actor.process)
    ? actor.process
    : workers[random.between(0, workers.length - 1)];
  const life: Life = random.pick(lives.all);
  const open = !life.over && !life.ended;
  switch (kind) {
    case 'kill':
      if (running === undefined) return;
      server.kill(running);
      time.after(random.pick([0, 3_000, 60_000, 400_000]), time.world, () =>
        world.startWorker(skewOf(time, plan)),
      );
      return;
    case 'freeze':
      if (running !== undefined) server.freeze(running, random.pick([500, 12_000, 75_000, 200_000, 900_000]));
      return;
    case 'silence':
      if (running !== undefined) server.silence(running);
      return;
    case 'reset activity': {
      const [first] = server.open;
      if (first !== undefined) server.resetActivity(first);
      return;
    }
    case 'cancel':
      if (open) lives.cancel(life);
      return;
    case 'terminate':
      if (open) lives.terminate(life);
      return;
    case 'reset':
      return lives.reset(life);
    case 'second caller':
      return void lives.start(life.key, life.prompt);
    case 'caller without a workflow':
      return lives.startStandalone(life);
    case 'other request':
      return void lives.start(life.key, 'a windmill');
    case 'journal lost':
    case 'journal restored':
    case 'journal rebound':
      return world.changeJournal(kind.slice('journal '.length) as JournalChange);
    case 'calm':
      return world.calm();
  }
}

/** Whoever adopts names the task that there is, or mistypes; whoever gives up or buys again may be wrong. */
function decide({ time, observations }: World, lives: Lives, life: Life, sendId: string | null): void {
  const task = observations.accepted.find(({ send }) => send.key === life.key && send.prompt === life.prompt);
  const taskId = task === undefined || time.random.chance(0.2) ? 'video_999' : task.taskId;
  const decision = time.random.pick(['adopt', 'declareLost', 'resubmit', 'resubmit'] as const);
  lives.decide(life, sendId, decision, taskId);
}

/** Much later, when nothing fails any more, the same id is started once more; sometimes with another request as well. */
async function audit(world: World, lives: Lives): Promise<readonly string[]> {
  const { time, observations } = world;
  time.before = undefined;
  world.calm();
  time.now += MUCH_LATER_MS;
  world.startWorker(0);
  const first = lives.all[0] as Life;
  // Who was first with this key has it: the other requests are in conflict. Beyond a call that stands for any request,
  // because its journal was lost, a person may have let another one be sent.
  const claimed = observations.recorded[0];
  const prompt =
    boughtBy(first.key, observations) ??
    observations.accepted[0]?.send.prompt ??
    promptOf(claimed?.record.nonce, observations) ??
    first.prompt;
  const sent = observations.sends.length;
  const told = observations.told.length;
  const asked = lives.start(first.key, prompt, 'audit');
  await quiet(world, time.run());
  const answer = observations.told.slice(told).find(({ runIds }) => runIds.includes(asked.run.runId))?.answer;
  const { key } = first;
  const asking = { key, prompt, answer, held: world.held(key), sends: observations.sends.slice(sent) };
  const broken = auditBroken(observations, asking);
  if (time.random.chance(0.2)) {
    lives.start(first.key, 'a third request', 'audit-2');
    await quiet(world, time.run());
  }
  return broken;
}

/** The request of a task that is recorded. */
function boughtBy(key: string, { recorded, accepted }: Observations): string | undefined {
  const ids = idsIn(recorded, key);
  return accepted.find(({ taskId }) => ids.includes(taskId))?.send.prompt;
}

function promptOf(nonce: string | undefined, { sends }: Observations): string | undefined {
  return sends.find((send) => send.nonce === nonce)?.prompt;
}
