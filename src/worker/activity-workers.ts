import { Worker, type WorkerOptions, type WorkerPlugin } from '@temporalio/worker';
import { type ActivityQueueKind, activityQueues } from '../domain/names';

/** Slots and rates of one activity queue. */
export type ActivityQueueOptions = Partial<
  Pick<
    WorkerOptions,
    | 'maxConcurrentActivityTaskExecutions'
    | 'maxConcurrentActivityTaskPolls'
    | 'maxTaskQueueActivitiesPerSecond'
    | 'tuner'
  >
>;

/** Slots and rates of each activity queue. A queue that is left out has the defaults. */
export type ActivityQueuesOptions = { readonly [kind in ActivityQueueKind]?: ActivityQueueOptions };

/** Concurrent activities. A group contains up to 25 creates or downloads, a poll up to 500 GETs. */
const SLOTS: { readonly [kind in ActivityQueueKind]: number } = {
  create: 50,
  poll: 50,
  download: 20,
  image: 20,
};

/** Options of the worker's own queue or of its workflows, which the activity queues do not get. */
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

/** The SDK logs this for every worker without workflows; here it is intended and not worth a warning. */
const NO_WORKFLOWS = 'No workflows registered, not polling for workflow tasks';

/** A worker without workflows, and without the SDK's warning about it. */
class ActivityWorker extends Worker {
  static override async create(options: WorkerOptions): Promise<Worker> {
    const worker: ActivityWorker = await super.create(options);
    const { logger } = worker;
    const warn: typeof logger.warn = (message, meta) => {
      if (message !== NO_WORKFLOWS) logger.warn(message, meta);
    };
    // The SDK has no option for this, and the logger is shared with workers whose warnings count.
    Object.defineProperty(worker, 'logger', {
      value: Object.create(logger, { warn: { value: warn } }) as unknown,
    });
    return worker;
  }
}

/**
 * Marks, among the plugins of a worker, that its activity queues are served already. A `MediaPlugin` that reaches it in
 * another way, such as by its connection, leaves the worker as it is.
 */
export class QueuesServed implements WorkerPlugin {
  readonly name: string = '../domain';
}

/** The worker of a queue and the workers of its activity queues; they run and stop together. */
export interface MediaWorkers {
  /**
   * The worker of the queue itself: workflows, and all activities. If that queue is not served, the one of the first
   * queue.
   */
  readonly own: Worker;
  /** Every served queue, its own first. */
  readonly queues: readonly string[];
  /** Runs until shutdown. When one worker fails, the others drain and stop, and its error is thrown. */
  run(): Promise<void>;
  /** Runs until `work` has settled, and settles with its result. */
  runUntil<T>(work: Promise<T> | (() => Promise<T>)): Promise<T>;
  /** Starts the shutdown of all workers and returns at once; `run` then settles when they have drained. */
  shutdown(): void;
}

/** Which queues a process serves, and how. */
export interface ServedQueues {
  /** Slots and rates of the activity queues. */
  readonly queues?: ActivityQueuesOptions | undefined;
  /** Activity queues that are served. @default all */
  readonly kinds?: readonly ActivityQueueKind[];
  /** Whether the queue itself is served. @default true */
  readonly own?: boolean;
  /** Activities on the activity queues. @default those of the queue itself */
  readonly activities?: object;
}

/**
 * Creates a worker like `Worker.create`, and one for each of its activity queues on the same connection, so one kind of
 * activity never waits behind another. Manually assembled workers need it too, because the workflows schedule their
 * activities on these queues.
 * @param own options of the worker for its own queue; those of its slots and workflows are not passed to the others
 * @param queues slots and rates of the others
 */
export async function createWorkers(
  own: WorkerOptions & { readonly taskQueue: string },
  queues: ActivityQueuesOptions = {},
): Promise<MediaWorkers> {
  return createServedWorkers(own, { queues });
}

/** Like {@link createWorkers}, for some of the queues. */
export async function createServedWorkers(own: WorkerOptions, served: ServedQueues): Promise<MediaWorkers> {
  const plugins = [...(own.plugins ?? []), new QueuesServed()];
  const making = served.own === false ? [] : [Worker.create({ ...own, plugins })];
  return together(await allOrNone([...making, ...makeActivityWorkers({ ...own, plugins }, served)]));
}

/** Creates the workers of the activity queues alone; the queue itself is served by another worker. */
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
        // A tuner defines the slots itself; the two options exclude each other.
        ...(queues[kind]?.tuner === undefined && { maxConcurrentActivityTaskExecutions: SLOTS[kind] }),
        maxConcurrentActivityTaskPolls: 5,
        // Eager activities would bypass a rate limit of the server.
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

/** A worker that never ran keeps its connection open. */
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
        // A worker that fails rejects at once, not only when the work is done.
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
 * Runs a worker that its owner starts and stops, with others alongside: they drain when it drains, and when one fails,
 * all drain and its error is thrown.
 * @param run runs `worker`
 * @param makeOthers called once that one runs
 * @param onFault if given, a failure of the others does not stop `worker`: they are made again once it has settled
 */
export async function runAlongside(
  worker: Worker,
  run: () => Promise<void>,
  makeOthers: () => Promise<readonly Worker[]>,
  onFault?: (error: unknown) => Promise<void>,
): Promise<void> {
  let others: readonly Worker[] = [];
  let isOver = false;
  // Started first and at once: `runUntil` shuts down only a worker that already runs.
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
