import { Worker, type WorkerOptions } from '@temporalio/worker';
import { activityQueues } from './domain/names';

/** Kinds of activities with a task queue of their own. */
export type ActivityQueueKind = keyof ReturnType<typeof activityQueues>;

/** Slots and rates of one of the queues beside a worker's own. */
export type ActivityQueueOptions = Partial<
  Pick<
    WorkerOptions,
    | 'maxConcurrentActivityTaskExecutions'
    | 'maxConcurrentActivityTaskPolls'
    | 'maxTaskQueueActivitiesPerSecond'
    | 'tuner'
  >
>;

export type ActivityQueuesOptions = { readonly [kind in ActivityQueueKind]?: ActivityQueueOptions };

/** Activities at a time. Groups hold up to 25 creates or downloads each, a poll up to 500 GETs. */
const SLOTS: { readonly [kind in ActivityQueueKind]: number } = {
  create: 50,
  poll: 50,
  download: 20,
  image: 20,
};

/** What belongs to the worker's own queue, or to its workflows, and to none of the others. */
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
  'activityTaskPollerBehavior',
  'workflowTaskPollerBehavior',
  'nexusTaskPollerBehavior',
  'nexusServices',
  'workflowThreadPoolSize',
  'reuseV8Context',
  'stickyQueueScheduleToStartTimeout',
  'nonStickyToStickyPollRatio',
] as const satisfies readonly (keyof WorkerOptions)[];

/** What the SDK says of every worker without workflows; here it is meant, and no reason to warn. */
const NO_WORKFLOWS = 'No workflows registered, not polling for workflow tasks';

/** A worker that has no workflows on purpose. */
class ActivityWorker extends Worker {
  static override async create(options: WorkerOptions): Promise<Worker> {
    const worker: ActivityWorker = await super.create(options);
    const { logger } = worker;
    const warn: typeof logger.warn = (message, meta) => {
      if (message !== NO_WORKFLOWS) logger.warn(message, meta);
    };
    // The SDK has no option for it, and the logger is shared with workers that should be heard.
    Object.defineProperty(worker, 'logger', {
      value: Object.create(logger, { warn: { value: warn } }) as unknown,
    });
    return worker;
  }
}

/** A worker of a queue together with those of the activity queues beside it: they run and end together. */
export interface MediaWorkers {
  /** The one of the queue itself: workflows, and all activities. */
  readonly own: Worker;
  /** Every queue that is served, its own first. */
  readonly queues: readonly string[];
  /** Runs until shutdown; one that fails ends the others, which drain, and its error is thrown. */
  run(): Promise<void>;
  /** Runs until this has settled, and comes to what it came to. */
  runUntil<T>(work: Promise<T> | (() => Promise<T>)): Promise<T>;
  shutdown(): void;
}

/**
 * A worker as `Worker.create` makes it, and one for each activity queue beside its own, on the same connection: one kind
 * of activity never waits behind another. Workers that are put together by hand are made by this, as workflows place
 * their activities on these queues.
 * @param own options of the worker for its own queue; what concerns its slots or its workflows reaches no other
 * @param queues slots and rates of the others
 */
export async function createWorkers(
  own: WorkerOptions & { readonly taskQueue: string },
  queues: ActivityQueuesOptions = {},
): Promise<MediaWorkers> {
  const shared = { ...own };
  for (const name of OWN) delete shared[name];
  const kinds = Object.entries(activityQueues(own.taskQueue)) as [ActivityQueueKind, string][];
  const making = [
    Worker.create(own),
    ...kinds.map(([kind, taskQueue]) =>
      ActivityWorker.create({
        ...shared,
        taskQueue,
        // A tuner has slots of its own, and the two exclude each other.
        ...(queues[kind]?.tuner === undefined && { maxConcurrentActivityTaskExecutions: SLOTS[kind] }),
        maxConcurrentActivityTaskPolls: 5,
        // What a rate of the server caps must not come to a worker around it.
        maxEagerActivityReservationsPerWorkflowTask: 0,
        ...queues[kind],
      }),
    ),
  ];
  const made = await Promise.allSettled(making);
  const workers = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = made.find((one) => one.status === 'rejected');
  if (failed !== undefined) {
    // A worker that never ran holds its connection open.
    await Promise.all(workers.map((worker) => worker.runUntil(Promise.resolve())));
    throw failed.reason;
  }
  return together(workers);
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
        // One that fails on its own is heard at once, and not when the work is over.
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

/** Runs all until shutdown. */
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
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}

function shutdownTogether(workers: readonly Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
}
