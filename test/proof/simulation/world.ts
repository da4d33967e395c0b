import { createCreateVideo } from '../../../src/activities/create-video';
import { type PaidDeps } from '../../../src/activities/paid-context';
import { createReconcileCreate } from '../../../src/activities/reconcile-create';
import { RefusalGate } from '../../../src/activities/refusal-gate';
import { createResolveUnconfirmed } from '../../../src/activities/unconfirmed-calls';
import { type CreateJournal } from '../../../src/domain/journal';
import { ACTIVITY, RECORDED_BY_ANOTHER_RUN } from '../../../src/domain/names';
import { type CreateVideoAnswer } from '../../../src/domain/paid-call';
import { createMediaClient } from '../../../src/service/create-media-client';
import { type MediaClient } from '../../../src/service/media-client';
import { accountRegistry } from '../../../src/settings/accounts';
import { type ArtifactStore } from '../../../src/stores/artifacts/artifact-store';
import { type JournalChange } from '../../support/changed-journal';
import { execution } from './activity-sdk';
import { idsIn } from './invariants';
import { Journals } from './journals';
import { Observations } from './observations';
import { PaidService } from './paid-service';
import { type Plan } from './plan';
import { TemporalServer } from './temporal-server';
import { currentTime } from './virtual-globals';
import { makeProcess, type VirtualTime } from './virtual-time';

/** A rule broken on purpose, at the seams of the code under test: a suite that cannot fail proves nothing. */
export interface Mutant {
  readonly name: string;
  /** The invariant that has to notice. */
  readonly breaks: string;
  readonly journal?: (journal: CreateJournal) => CreateJournal;
  readonly client?: (client: MediaClient) => MediaClient;
  /** Whether a rebind writes down what histories tell. @default true */
  readonly keeps?: false;
  /** Whether a decision is about the send whose evidence was shown, and about no other. @default true */
  readonly namesSend?: false;
}

/** One deployment: a server, workers with the real activities, a journal and a service. */
export interface World {
  readonly time: VirtualTime;
  readonly plan: Plan;
  readonly observations: Observations;
  readonly server: TemporalServer;
  readonly service: PaidService;
  /** The send that a decision is about, from the one whose evidence was shown. */
  decidedAbout(key: string, shown: string): string;
  /** Ids that the journal holds now under a key, also by a write that came after its sender was gone. */
  held(key: string): readonly string[];
  startWorker(skewMs: number): void;
  /** Another journal comes under the workers, and a person binds it. */
  changeJournal(how: JournalChange): void;
  /** From now on nothing fails any more. */
  calm(): void;
}

export function makeWorld(time: VirtualTime, plan: Plan, mutant: Mutant | undefined): World {
  const observations = new Observations();
  const faults = {
    probability: plan.journalFaults,
    left: plan.journalFaultsAtMost,
    latestMs: plan.latestWriteMs,
  };
  const journals = new Journals(faults, observations);
  const service = new PaidService(observations, plan.weights, plan.honoursForMs, () => journals.bound.life);
  const client = createMediaClient({
    baseUrl: 'http://service.test',
    apiKey: () => 'simulated-key',
    connectionFactory: service.connectionFactory,
  });
  const asked: MediaClient = {
    ...client,
    getVideo: async (taskId) => {
      await currentTime().pause(2);
      return service.recordOf(taskId);
    },
  };
  let modelsDown = plan.modelsDown;
  const depsNow = (): PaidDeps => ({
    accounts: accountRegistry([
      {
        name: 'default@00000000',
        client: mutant?.client?.(asked) ?? asked,
        hasKey: () =>
          currentTime()
            .pause(0)
            .then(() => true),
      },
    ]),
    artifacts: {} as ArtifactStore,
    models: {
      lookup: async () => {
        await currentTime().pause(0);
        return currentTime().random.chance(modelsDown)
          ? { found: 'unavailable', message: 'The configuration is down.', retryAfterMs: 1000 }
          : { found: 'unlisted' };
      },
      all: () => Promise.resolve(undefined),
      fingerprint: () => 'none',
    },
    journal: observed(mutant?.journal?.(journals.bound) ?? journals.bound, observations),
    checkBinding: journals.checkBinding,
    taskRecords: plan.taskRecords ? service.records((at) => journals.bound.nonceOf(at)) : undefined,
    policy: undefined,
    gate: new OwnWaitsGate(),
    inputRoots: [],
  });
  const server = new TemporalServer(
    time,
    observations,
    {
      pollLost: plan.pollLost,
      stuck: plan.stuck,
      slowestMs: plan.slowestMs,
      beatLost: plan.beatLost,
      split: plan.split,
    },
    functionsOf(depsNow(), observations),
  );
  time.beats = plan.beats;
  /** Workers that start when the journal is bound again. */
  let late: number[] | undefined;
  const startWorker = (skewMs: number): void => {
    if (late === undefined) server.startWorker(skewMs);
    else late.push(skewMs);
  };
  const changeJournal = (how: JournalChange): void => {
    // Until a person has bound one, there is none that could be lost.
    if (late !== undefined) return;
    for (const worker of [...server.workers]) server.kill(worker);
    late = Array.from({ length: plan.workers }, () => skewOf(time, plan));
    journals.change(how);
    const person = { process: makeProcess('person') };
    const rebind = (): void => {
      journals.rebind(mutant?.keeps === false ? [] : server.paidCalls()).then(
        () => {
          server.functions = functionsOf(depsNow(), observations);
          for (const skewMs of late ?? []) server.startWorker(skewMs);
          late = undefined;
        },
        // The store failed: the person tries again.
        () => time.after(5_000, person, rebind),
      );
    };
    time.after(time.random.pick([0, 5_000, 400_000]), person, rebind);
  };
  for (let worker = 0; worker < plan.workers; worker += 1) startWorker(skewOf(time, plan));
  return {
    time,
    plan,
    observations,
    server,
    service,
    startWorker,
    changeJournal,
    decidedAbout: (key, shown) =>
      mutant?.namesSend === false ? (journals.bound.undecided(key) ?? shown) : shown,
    held: (key) => idsIn(journals.bound.recorded(), key),
    calm() {
      faults.left = 0;
      modelsDown = 0;
      Object.assign(server.faults, { pollLost: 0, stuck: 0, slowestMs: 4, beatLost: 0, split: 0 });
      service.weights = { accepts: 1 };
    },
  };
}

export function skewOf(time: VirtualTime, plan: Plan): number {
  return plan.maxSkewMs === 0 ? 0 : time.random.between(-plan.maxSkewMs, plan.maxSkewMs);
}

/** Whoever was let in by the end of another call's wait goes on as itself. */
class OwnWaitsGate extends RefusalGate {
  override async enter(call: Parameters<RefusalGate['enter']>[0]): ReturnType<RefusalGate['enter']> {
    const time = currentTime();
    const caller = time.current;
    const answer = await super.enter(call);
    return new Promise((resolve) => void time.after(0, caller, () => resolve(answer)));
  }
}

function functionsOf(deps: PaidDeps, observations: Observations): TemporalServer['functions'] {
  return {
    [ACTIVITY.createVideo]: counting(
      createCreateVideo(deps),
      observations,
      ({ outcome, sent }) => outcome === 'created' && !sent,
    ),
    [ACTIVITY.reconcileCreate]: counting(
      fencing(createReconcileCreate(deps), observations),
      observations,
      ({ outcome }) => outcome === 'created',
    ),
    [ACTIVITY.resolveUnconfirmed]: createResolveUnconfirmed(deps),
  };
}

/** Notes which creates a reconciliation has called unsent for good. */
function fencing(
  reconcile: ReturnType<typeof createReconcileCreate>,
  observations: Observations,
): ReturnType<typeof createReconcileCreate> {
  return async (input) => {
    const answer = await reconcile(input);
    const isFenced = answer.outcome === 'not_sent' && FENCES.has(answer.cause);
    if (isFenced) observations.fenced.add(input.trace.sender);
    return answer;
  };
}

const FENCES: ReadonlySet<string> = new Set(['fenced', RECORDED_BY_ANOTHER_RUN]);

/** Notes which place an execution tries to take, and which answers its journal says are durable. */
function observed(journal: CreateJournal, observations: Observations): CreateJournal {
  return {
    kind: journal.kind,
    identity: () => journal.identity(),
    sealingKey: () => journal.sealingKey(),
    putMark: (mark) => journal.putMark(mark),
    hasMark: (mark) => journal.hasMark(mark),
    read: (key) => journal.read(key),
    append: async (key, n, entry) => {
      if (entry.kind === 'intent') execution().intent = { place: n, nonce: entry.nonce };
      if (entry.kind === 'lost') observations.notes += 1;
      const end = await journal.append(key, n, entry);
      if (end === 'won' && entry.kind === 'answer')
        observations.recorded.push({ key: key.creationKey, record: entry });
      return end;
    },
    scan: (after, limit) => journal.scan(after, limit),
    findOpenByBody: (hash) => journal.findOpenByBody(hash),
    forgetOpen: (place, hash) => journal.forgetOpen(place, hash),
    indexTask: (entry) => journal.indexTask(entry),
    findTask: (id) => journal.findTask(id),
    readRecord: (log, n) => journal.readRecord(log, n),
    putRecord: (log, n, record) => journal.putRecord(log, n, record),
    checkWritable: () => journal.checkWritable(),
  };
}

function counting<Input>(
  activity: (input: Input) => Promise<CreateVideoAnswer>,
  observations: Observations,
  isRecovered: (answer: CreateVideoAnswer) => boolean,
): (input: Input) => Promise<CreateVideoAnswer> {
  return async (input) => {
    const answer = await activity(input);
    if (isRecovered(answer)) observations.recovered += 1;
    return answer;
  };
}
