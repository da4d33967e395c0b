import { type CreatePolicy } from '../../../src/domain/create-policy';
import { type JournalChange } from '../../support/changed-journal';
import { type Reaction, type ReactionWeights } from './paid-service';
import { type Random } from './random';

/** What is done to a schedule from outside, at the n-th of its events. */
export interface Blow {
  readonly at: number;
  readonly kind:
    | 'kill'
    | 'freeze'
    | 'silence'
    | 'reset activity'
    | 'cancel'
    | 'terminate'
    | 'reset'
    | 'second caller'
    | 'caller without a workflow'
    | 'other request'
    | `journal ${JournalChange}`
    | 'calm';
}

/** Everything that chance decides before a schedule begins: which faults it knows, and how often. */
export interface Plan {
  readonly workers: number;
  readonly maxSkewMs: number;
  readonly weights: ReactionWeights;
  readonly policy: CreatePolicy | undefined;
  /** How long the service keeps its promise that calls with one key are one purchase, in milliseconds; 0 = no promise. */
  readonly honoursForMs: number;
  readonly startLimitMs: number;
  readonly journalFaults: number;
  readonly journalFaultsAtMost: number;
  readonly latestWriteMs: number;
  readonly pollLost: number;
  readonly stuck: number;
  readonly slowestMs: number;
  readonly beatLost: number;
  /** How often a server that was set back answers for an attempt that it has given up. */
  readonly split: number;
  /** Whether workers beat in the background too. */
  readonly beats: boolean;
  readonly modelsDown: number;
  readonly handOver: number;
  readonly startsAgain: number;
  /** How often somebody decides about a create of unknown fate. */
  readonly decides: number;
  /** Whether the service has records of its tasks that a worker can read. */
  readonly taskRecords: boolean;
  readonly blows: readonly Blow[];
}

const PROVEN_REFUSALS: readonly Reaction[] = [
  '429',
  '429 with Retry-After',
  '503 with Retry-After',
  '425',
  '401',
  '402',
  'connection refused',
  'no answer to the connection',
];
const FINAL_REFUSALS: readonly Reaction[] = ['400', 'moderation'];
const ACCEPTED_AND_LOST: readonly Reaction[] = [
  'accepts, reply lost',
  'accepts, reply too late',
  'accepts long after, reply lost',
  'accepts, unreadable reply',
  'accepts, then 500',
  'accepts, then 502',
  'accepts, then 503',
  'accepts, then 504',
];
const NOT_ACCEPTED_UNPROVEN: readonly Reaction[] = ['lost on the way', '500', '502', '503'];

const BLOWS: Readonly<Partial<Record<Blow['kind'], number>>> = {
  kill: 6,
  freeze: 4,
  silence: 2,
  'reset activity': 2,
  cancel: 2,
  terminate: 1,
  reset: 3,
  'second caller': 4,
  'caller without a workflow': 2,
  'other request': 1,
  'journal lost': 1,
  'journal restored': 1,
  'journal rebound': 1,
  calm: 1,
};

/** Each schedule has some kinds of trouble in plenty and others not at all: mixtures of everything hide what few can do. */
export function drawPlan(random: Random): Plan {
  const some = (probability: number, from: readonly number[]): number =>
    random.chance(probability) ? random.pick(from) : 0;
  const blows = Array.from({ length: random.pick([0, 1, 1, 2, 2, 3, 4, 6]) }, () => ({
    at: 1 + Math.floor(random.next() ** 1.5 * 140),
    kind: random.weighted<Blow['kind']>(BLOWS),
  })).sort((one, other) => one.at - other.at);
  const drawn = drawPolicy(random);
  const maxSkewMs = some(0.3, [50, 2_000, 90_000]);
  const windowSeconds = some(0.3, [300, 3_600, 86_400]);
  const idempotency = { header: 'Idempotency-Key', honoured: true, windowSeconds } as const;
  const policy = windowSeconds === 0 ? drawn : { ...drawn, idempotency };
  return {
    workers: random.between(1, 3),
    maxSkewMs,
    // It counts by its own clock, which no worker knows.
    honoursForMs: windowSeconds === 0 ? 0 : windowSeconds * 1000 + 2 * maxSkewMs,
    weights: drawWeights(random, policy),
    policy,
    startLimitMs: random.pick([60_000, 10 * 60_000, 24 * 3_600_000]),
    journalFaults: some(0.35, [0.03, 0.1, 0.3, 0.6]),
    journalFaultsAtMost: random.pick([1, 3, 12, 40]),
    latestWriteMs: random.pick([20, 5_000, 600_000]),
    pollLost: some(0.1, [0.05, 0.4]),
    stuck: some(0.05, [0.3]),
    slowestMs: random.pick([4, 400, 60_000]),
    beatLost: some(0.2, [0.05, 0.4]),
    // With entries of the journal lost as well, nothing would be left of a send (assumption A1).
    split: blows.some(({ kind }) => kind.startsWith('journal')) ? 0 : some(0.15, [0.5, 1]),
    beats: random.chance(0.03),
    modelsDown: some(0.08, [0.3]),
    handOver: some(0.15, [0.5]),
    startsAgain: some(0.4, [0.5, 0.9]),
    decides: some(0.3, [0.5, 1]),
    taskRecords: random.chance(0.15),
    blows,
  };
}

function drawWeights(random: Random, policy: CreatePolicy | undefined): ReactionWeights {
  const weights: Partial<Record<Reaction, number>> = { accepts: random.pick([0, 1, 4, 10]) };
  const add = (from: readonly Reaction[], most: number): void => {
    for (let left = random.between(0, most); left > 0; left -= 1)
      weights[random.pick(from)] = random.between(1, 4);
  };
  add(PROVEN_REFUSALS, 4);
  add(ACCEPTED_AND_LOST, 3);
  add(NOT_ACCEPTED_UNPROVEN, 2);
  if (random.chance(0.25)) add(FINAL_REFUSALS, 1);
  // What an operator vouches for is true: those replies come from a service that accepted nothing.
  if (policy?.on502 === 'resend') delete weights['accepts, then 502'];
  if (policy?.on503 === 'resend') delete weights['accepts, then 503'];
  if (policy?.on500 === 'fail') delete weights['accepts, then 500'];
  if (Object.keys(weights).length === 1) weights.accepts = 1;
  return weights;
}

function drawPolicy(random: Random): CreatePolicy | undefined {
  if (random.chance(0.6)) return undefined;
  return {
    on429: random.pick(['resend', 'fail']),
    on503: random.pick(['header', 'resend', 'inspect']),
    on502: random.pick(['inspect', 'resend']),
    on500: random.pick(['inspect', 'fail']),
    onAbsent: random.pick(['unconfirmed', 'resend']),
  };
}
