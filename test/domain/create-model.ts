import {
  decideEpoch,
  type EpochView,
  type RecordedAnswer,
  type SlotIntent,
} from '../../src/domain/create-journal';
import { beginCreate, DEFAULT_START_LIMIT_MS, nextStep } from '../../src/domain/create-once';
import { type CreateVideoAnswer } from '../../src/domain/paid-call';
import { answers } from './create-answers';

/**
 * A small model of create-once that is walked exhaustively: two workflows with one creation key, their activities
 * (which go on as zombies when their workflow has given them up), one journal and a service that may accept a send and
 * lose its reply. The decisions are the real ones; only the order of events is free.
 */
export interface Rules {
  /** Whether "the slot is empty" is made true for ever before it counts as "not sent". */
  readonly fence: boolean;
  /** Whether a slot is taken by create-if-absent, or simply written. */
  readonly createIfAbsent: boolean;
  /** Whether there is a journal: records are looked at, and slots taken, before a send. */
  readonly journal: boolean;
  /** Whether a reconciliation goes on where a sender of its run would go on, or looks at one epoch only. */
  readonly goesForward: boolean;
}

export const SOUND: Rules = { fence: true, createIfAbsent: true, journal: true, goesForward: true };

type Fate = 'created' | 'unconfirmed' | 'refused' | 'credentials' | 'not_sent';
/** One epoch: who holds its slot (`fence`, or the run that means to send), and what was recorded. */
interface Epoch {
  slot: string | null;
  outcome: Fate | null;
}
interface Sender {
  readonly run: string;
  /** Its workflow has given it up, or it is the one that the workflow waits for. */
  zombie: boolean;
  epoch: number;
  step: 'read' | 'claim' | 'send' | 'record';
  fate: Fate | null;
}
interface Driver {
  readonly run: string;
  epoch: number;
  phase: 'creating' | 'reconcile' | 'fencing' | 'done';
  end: string | null;
}
export interface World {
  epochs: Epoch[];
  senders: Sender[];
  drivers: Driver[];
  accepted: number;
  /** Runs of which a send was accepted. */
  acceptedBy: string[];
}

const RUNS = ['first', 'later'];
const FATES: readonly { readonly fate: Fate; readonly accepted: boolean }[] = [
  { fate: 'created', accepted: true },
  { fate: 'unconfirmed', accepted: true },
  { fate: 'unconfirmed', accepted: false },
  { fate: 'refused', accepted: false },
  { fate: 'credentials', accepted: false },
  { fate: 'not_sent', accepted: false },
];

export function firstWorld(epochs: number): World {
  return {
    epochs: Array.from({ length: epochs }, () => ({ slot: null, outcome: null })),
    senders: RUNS.map((run) => ({ run, zombie: false, epoch: 0, step: 'read', fate: null })),
    drivers: RUNS.map((run) => ({ run, epoch: 0, phase: 'creating', end: null })),
    accepted: 0,
    acceptedBy: [],
  };
}

/** Every world that one event can lead to. A killed sender is one that never moves again, which every walk allows. */
export function successors(world: World, rules: Rules): World[] {
  const next: World[] = [];
  const fork = (change: (copy: World) => void): void => {
    const copy = JSON.parse(JSON.stringify(world)) as World;
    change(copy);
    next.push(copy);
  };
  world.senders.forEach((sender, index) => {
    const own = (copy: World): Sender => copy.senders[index] as Sender;
    if (sender.step === 'read') fork((copy) => read(copy, own(copy), rules));
    if (sender.step === 'claim') fork((copy) => claim(copy, own(copy), rules));
    if (sender.step === 'record') fork((copy) => record(copy, own(copy)));
    if (sender.step === 'send')
      for (const { fate, accepted } of FATES)
        fork((copy) => {
          if (accepted) {
            copy.accepted += 1;
            copy.acceptedBy.push(sender.run);
          }
          Object.assign(own(copy), { step: 'record', fate });
        });
  });
  world.drivers.forEach((driver, index) => {
    const own = (copy: World): Driver => copy.drivers[index] as Driver;
    // A timeout of the create, whether its sender is dead or slow.
    if (driver.phase === 'creating') fork((copy) => giveUp(copy, own(copy)));
    if (driver.phase === 'reconcile') fork((copy) => reconcile(copy, own(copy), rules));
    if (driver.phase === 'fencing') fork((copy) => fence(copy, own(copy), rules));
  });
  return next;
}

function viewOf(epoch: Epoch): EpochView {
  const slot =
    epoch.slot === null
      ? null
      : epoch.slot === 'fence'
        ? ({ v: 1, kind: 'fence', nonce: 'f', at: '' } as const)
        : ({ kind: 'intent', fingerprint: 'same', runId: epoch.slot } as SlotIntent);
  const outcome =
    epoch.outcome === null
      ? null
      : { v: 1 as const, nonce: 'n', at: '', answer: answerOf(epoch.outcome, 0) as RecordedAnswer };
  return { slot, outcome };
}

function answerOf(fate: Fate, epoch: number): CreateVideoAnswer {
  return fate === 'created' || fate === 'unconfirmed'
    ? answers[fate](epoch)
    : fate === 'refused'
      ? answers.refused(epoch)
      : fate === 'credentials'
        ? answers.rejected(epoch, 'credentials')
        : answers.notSent(epoch);
}

const epochAt = (world: World, index: number): Epoch => world.epochs[index] as Epoch;

function read(world: World, sender: Sender, rules: Rules): void {
  if (!rules.journal) {
    sender.step = 'claim';
    return;
  }
  const asker = { fingerprint: 'same', runId: sender.run, now: 0 };
  const decision = decideEpoch(viewOf(epochAt(world, sender.epoch)), asker);
  switch (decision.do) {
    case 'send':
      sender.step = 'claim';
      return;
    case 'next_epoch':
      sender.epoch += 1;
      if (sender.epoch >= world.epochs.length) leave(world, sender);
      return;
    case 'return':
      return deliver(world, sender, { ...decision.outcome.answer, epoch: sender.epoch } as CreateVideoAnswer);
    case 'fenced':
      return deliver(world, sender, answers.notSent(sender.epoch, { cause: 'fenced' }));
    default:
      return deliver(world, sender, answers.pending(sender.epoch));
  }
}

function claim(world: World, sender: Sender, rules: Rules): void {
  const epoch = epochAt(world, sender.epoch);
  if (rules.journal && rules.createIfAbsent && epoch.slot !== null)
    return deliver(world, sender, answers.pending(sender.epoch));
  epoch.slot = sender.run;
  sender.step = 'send';
}

function record(world: World, sender: Sender): void {
  const epoch = epochAt(world, sender.epoch);
  epoch.outcome ??= sender.fate;
  deliver(world, sender, answerOf(epoch.outcome as Fate, sender.epoch));
}

/** The answer reaches the workflow, unless the workflow has given this activity up. */
function deliver(world: World, sender: Sender, answer: CreateVideoAnswer): void {
  leave(world, sender);
  const driver = world.drivers.find(({ run }) => run === sender.run) as Driver;
  if (!sender.zombie) step(world, driver, answer, false);
}

function leave(world: World, sender: Sender): void {
  world.senders.splice(world.senders.indexOf(sender), 1);
}

function giveUp(world: World, driver: Driver): void {
  for (const sender of world.senders) if (sender.run === driver.run) sender.zombie = true;
  driver.phase = 'reconcile';
}

function step(world: World, driver: Driver, answer: CreateVideoAnswer, reconciled: boolean): void {
  const state = { ...beginCreate('key', 0), epoch: driver.epoch };
  const context = { now: 0, random: 0, startLimitMs: DEFAULT_START_LIMIT_MS, reconciled };
  const decided = nextStep(state, answer, context);
  if (decided.do === 'settle') Object.assign(driver, { phase: 'done', end: decided.answer.outcome });
  else if (decided.do === 'reconcile') driver.phase = 'reconcile';
  else if (decided.state.epoch >= world.epochs.length) Object.assign(driver, { phase: 'done', end: 'bound' });
  else {
    Object.assign(driver, { phase: 'creating', epoch: decided.state.epoch });
    world.senders.push({ run: driver.run, zombie: false, epoch: driver.epoch, step: 'read', fate: null });
  }
}

/** Follows the way that a sender of this run may have taken, and stands where that one would stand. */
function reconcile(world: World, driver: Driver, rules: Rules): void {
  const asker = { fingerprint: null, runId: driver.run, now: 0 };
  for (let at = driver.epoch; at < world.epochs.length; at++) {
    const { slot, outcome } = epochAt(world, at);
    const decision = decideEpoch(viewOf(epochAt(world, at)), asker);
    if (rules.goesForward && decision.do === 'next_epoch') continue;
    if (outcome !== null) return step(world, driver, answerOf(outcome, at), true);
    if (slot === 'fence') return step(world, driver, answers.notSent(at, { cause: 'fenced' }), true);
    // The sender may be alive: the real one waits; "unconfirmed" is what it says when nothing comes.
    if (slot !== null) return step(world, driver, answers.unconfirmed(at), true);
    Object.assign(driver, { phase: 'fencing', epoch: at });
    return;
  }
  Object.assign(driver, { phase: 'done', end: 'bound' });
}

function fence(world: World, driver: Driver, rules: Rules): void {
  const epoch = epochAt(world, driver.epoch);
  if (rules.fence && epoch.slot !== null) {
    driver.phase = 'reconcile';
    return;
  }
  if (rules.fence) epoch.slot = 'fence';
  step(world, driver, answers.notSent(driver.epoch, { cause: 'fenced' }), true);
}

/** Whether a workflow says "rejected" although a send of its own was accepted. */
export function isFalselyRejected({ drivers, acceptedBy }: World): boolean {
  return drivers.some(({ run, end }) => end === 'rejected' && acceptedBy.includes(run));
}

const keyOf = (sender: Sender): string => JSON.stringify(sender);

export interface Exploration {
  readonly states: number;
  readonly mostAccepted: number;
  /** Worlds in which a workflow says "rejected" although a send of its own was accepted. */
  readonly falseRejections: number;
  /** Words that a workflow ended with, all walks together. */
  readonly ends: ReadonlySet<string>;
  /** Whether some walk ended with both workflows having the one created video. */
  readonly shared: boolean;
}

/** Walks every order of events, or until `enough`. */
export function explore(
  rules: Rules,
  epochs: number,
  enough: (world: World) => boolean = () => false,
): Exploration {
  const seen = new Set<string>();
  const open = [firstWorld(epochs)];
  const ends = new Set<string>();
  let mostAccepted = 0;
  let falseRejections = 0;
  let shared = false;
  for (let world = open.pop(); world !== undefined; world = open.pop()) {
    world.senders.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    const key = JSON.stringify(world);
    if (seen.has(key)) continue;
    seen.add(key);
    mostAccepted = Math.max(mostAccepted, world.accepted);
    for (const { end } of world.drivers) if (end !== null) ends.add(end);
    if (isFalselyRejected(world)) falseRejections += 1;
    shared ||= world.accepted === 1 && world.drivers.every(({ end }) => end === 'created');
    if (enough(world)) break;
    open.push(...successors(world, rules));
  }
  return { states: seen.size, mostAccepted, falseRejections, ends, shared };
}
