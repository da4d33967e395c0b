import { ExternalStorage } from '@temporalio/common';
import { Worker, type WorkerOptions, type WorkerPlugin } from '@temporalio/worker';
import { isOfHeartbeat } from '../activities/heartbeat';
import { type ActivityQueueKind, activityQueues } from '../domain/names';

/** Slots and rates of one activity queue. */
export type ActivityQueueOptions = Partial<
  Pick<
    WorkerOptions,
    | 'activityTaskPollerBehavior'
    | 'maxConcurrentActivityTaskExecutions'
    | 'maxConcurrentActivityTaskPolls'
    | 'maxTaskQueueActivitiesPerSecond'
    | 'tuner'
  >
>;

/** Slots and rates of each activity queue. Omitted queues use the defaults. */
export type ActivityQueuesOptions = { readonly [kind in ActivityQueueKind]?: ActivityQueueOptions };

/**
 * Concurrent activities per queue. One activity makes up to 25 creates or downloads, or up to 500 GETs if it is a poll.
 */
const SLOTS: { readonly [kind in ActivityQueueKind]: number } = {
  create: 50,
  poll: 50,
  download: 20,
  image: 20,
};

/** Worker options that apply only to the main queue or its workflows, not to the activity queues. */
const OWN = [
  'workflowsPath',
  'workflowBundle',
  'bundlerOptions',
  'sinks',
  'tuner',
  'maxCachedWorkflows',
  'maxConcurrentActivityTaskExecutions',
  'maxConcurrentActivityTaskPolls',
  'maxConcurrentWorkflowTaskExecutions',
  'maxConcurrentWorkflowTaskPolls',
  'maxConcurrentLocalActivityExecutions',
  'maxConcurrentNexusTaskExecutions',
  'maxConcurrentNexusTaskPolls',
  'maxTaskQueueActivitiesPerSecond',
  'maxActivitiesPerSecond',
  'enableNonLocalActivities',
  'activityTaskPollerBehavior',
  'workflowTaskPollerBehavior',
  'nexusTaskPollerBehavior',
  'nexusServices',
  'workflowThreadPoolSize',
  'reuseV8Context',
  'stickyQueueScheduleToStartTimeout',
  'nonStickyToStickyPollRatio',
] as const satisfies readonly (keyof WorkerOptions)[];

/** The SDK logs this warning for every worker without workflows, which is intended here. */
const NO_WORKFLOWS = 'No workflows registered, not polling for workflow tasks';

/** A worker without workflows that suppresses the SDK's warning about having none. */
class ActivityWorker extends Worker {
  static override async create(options: WorkerOptions): Promise<Worker> {
    const worker: ActivityWorker = await super.create(options);
    const { logger } = worker;
    const warn: typeof logger.warn = (message, meta) => {
      if (message !== NO_WORKFLOWS) logger.warn(message, meta);
    };
    // The SDK has no option to suppress the warning, and other workers share the logger.
    Object.defineProperty(worker, 'logger', {
      value: Object.create(logger, { warn: { value: warn } }) as unknown,
    });
    return worker;
  }
}

/** The name of the plugin in all its forms. A server lists it for each worker. */
export const NAME = 'temporal-media';

/**
 * A plugin that marks a worker whose activity queues are already served. If the worker also receives a `MediaPlugin` in
 * another way, such as from its connection, that plugin then does nothing.
 */
export class QueuesServed implements WorkerPlugin {
  readonly name: string = NAME;

  configureWorker(options: WorkerOptions): WorkerOptions {
    return { ...options, ...heartbeatsInline(options) };
  }
}

/**
 * Keeps this package's heartbeats out of an external storage. A slow storage would delay the acknowledgement that a paid
 * call needs, and the SDK stops a worker whose storage cannot store a heartbeat.
 */
export function heartbeatsInline({ dataConverter }: WorkerOptions): Pick<WorkerOptions, 'dataConverter'> {
  const storage = dataConverter?.externalStorage;
  if (storage === undefined) return {};
  const externalStorage = new ExternalStorage({
    drivers: storage.drivers,
    driverSelector: (context, payload) => (isOfHeartbeat() ? null : storage.driverSelector(context, payload)),
    payloadSizeThreshold: storage.payloadSizeThreshold,
  });
  return { dataConverter: { ...dataConverter, externalStorage } };
}

/** A queue's worker and the workers for its activity queues. They run and stop together. */
export interface MediaWorkers {
  /**
   * The main queue's worker, for workflows and all activities. If the main queue is not served, the first served
   * queue's worker.
   */
  readonly own: Worker;
  /** Every served queue, starting with the main queue. */
  readonly queues: readonly string[];
  /** Runs until shutdown. If one worker fails, the others drain and stop, and this rejects with its error. */
  run(): Promise<void>;
  /** Runs until `work` has settled, then settles with its result. */
  runUntil<T>(work: Promise<T> | (() => Promise<T>)): Promise<T>;
  /** Starts the shutdown of all workers and returns immediately. `run` settles when they have drained. */
  shutdown(): void;
}

/** The queues that a process serves, and their settings. */
export interface ServedQueues {
  /** Slots and rates of the activity queues. */
  readonly queues?: ActivityQueuesOptions | undefined;
  /** The activity queues to serve. @default all */
  readonly kinds?: readonly ActivityQueueKind[];
  /** Whether to serve the main queue. @default true */
  readonly own?: boolean;
  /** Activities on the activity queues. @default the activities of the main queue */
  readonly activities?: object;
}

/**
 * Creates a worker like `Worker.create`, and another worker for each of its activity queues on the same connection, so
 * that one kind of activity never waits behind another. Use this even for manually assembled workers, because the
 * workflows schedule their activities on these queues.
 * @param own options of the main queue's worker; its options for slots and workflows do not apply to the activity
 * queues
 * @param queues slots and rates of the activity queues
 */
export async function createWorkers(
  own: WorkerOptions & { readonly taskQueue: string },
  queues: ActivityQueuesOptions = {},
): Promise<MediaWorkers> {
  return createServedWorkers(own, { queues });
}

/** Like {@link createWorkers}, but only for some of the queues. */
export async function createServedWorkers(own: WorkerOptions, served: ServedQueues): Promise<MediaWorkers> {
  const plugins = [...(own.plugins ?? []), new QueuesServed()];
  const making = served.own === false ? [] : [Worker.create({ ...own, plugins })];
  return together(await allOrNone([...making, ...makeActivityWorkers({ ...own, plugins }, served)]));
}

/** Creates only the workers for the activity queues. Another worker serves the main queue. */
export async function createActivityWorkers(
  own: WorkerOptions,
  served: ServedQueues,
): Promise<readonly Worker[]> {
  return allOrNone(makeActivityWorkers({ ...own, plugins: [new QueuesServed()] }, served));
}

function makeActivityWorkers(own: WorkerOptions, served: ServedQueues): Promise<Worker>[] {
  const shared = { ...own };
  for (const name of OWN) delete shared[name];
  const { queues = {}, kinds, activities = own.activities } = served;
  const all = Object.entries(activityQueues(own.taskQueue)) as [ActivityQueueKind, string][];
  return all
    .filter(([kind]) => kinds === undefined || kinds.includes(kind))
    .map(([kind, taskQueue]) =>
      ActivityWorker.create({
        ...shared,
        ...(activities !== undefined && { activities }),
        taskQueue,
        // A tuner defines the slots, so the two options exclude each other.
        ...(queues[kind]?.tuner === undefined && { maxConcurrentActivityTaskExecutions: SLOTS[kind] }),
        // Autoscaling pollers and resource-based slots cost more CPU, and nothing finished sooner (ADR 35).
        maxConcurrentActivityTaskPolls: 5,
        // Eager activities would bypass the server's rate limit.
        maxEagerActivityReservationsPerWorkflowTask: 0,
        ...queues[kind],
      }),
    );
}

async function allOrNone(making: readonly Promise<Worker>[]): Promise<readonly Worker[]> {
  const made = await Promise.allSettled(making);
  const workers = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = made.find((one) => one.status === 'rejected');
  if (failed === undefined) return workers;
  await release(workers);
  throw failed.reason;
}

/** Runs workers briefly to release them, because a worker that never ran keeps its connection open. */
async function release(workers: readonly Worker[]): Promise<void> {
  await Promise.all(workers.map((worker) => worker.runUntil(Promise.resolve())));
}

function together(workers: readonly Worker[]): MediaWorkers {
  const shutdown = () => {
    shutdownTogether(workers);
  };
  const run = () => runTogether(workers);
  return {
    own: workers[0]!,
    queues: workers.map((worker) => worker.options.taskQueue),
    run,
    shutdown,
    runUntil: async (work) => {
      const running = run();
      try {
        // Rejects as soon as a worker fails, even if the work is not done.
        return await Promise.race([
          typeof work === 'function' ? work() : work,
          running.then(() => {
            throw new Error('The workers were shut down before the work was done.');
          }),
        ]);
      } finally {
        shutdown();
        await running;
      }
    },
  };
}

export async function runTogether(workers: readonly Worker[]): Promise<void> {
  const ended = await Promise.allSettled(
    workers.map(async (worker) => {
      try {
        await worker.run();
      } finally {
        shutdownTogether(workers);
      }
    }),
  );
  throwFirst(ended);
}

/**
 * Runs a worker that its owner starts and stops, with other workers alongside. The others drain when the worker drains.
 * If any of them fails, all drain and this rejects with its error.
 * @param run runs `worker`
 * @param makeOthers creates the other workers; called once `worker` is running
 * @param onFault if given, a failure of the others does not stop `worker`, and they are created again once this settles
 */
export async function runAlongside(
  worker: Worker,
  run: () => Promise<void>,
  makeOthers: () => Promise<readonly Worker[]>,
  onFault?: (error: unknown) => Promise<void>,
): Promise<void> {
  let others: readonly Worker[] = [];
  let isOver = false;
  // Start `worker` immediately, because `runUntil` shuts down only a worker that is already running.
  const running = run().finally(() => {
    isOver = true;
    shutdownTogether(others);
  });
  const alongside = (async () => {
    try {
      for (;;) {
        try {
          others = await makeOthers();
          return await (isOver ? release(others) : runTogether(others));
        } catch (error) {
          if (onFault === undefined || isOver) throw error;
          await Promise.race([onFault(error), running]);
          if (isOver) return;
        }
      }
    } finally {
      shutdownTogether([worker]);
    }
  })();
  throwFirst(await Promise.allSettled([running, alongside]));
}

function throwFirst(ended: readonly PromiseSettledResult<void>[]): void {
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}

function shutdownTogether(workers: readonly Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
}
