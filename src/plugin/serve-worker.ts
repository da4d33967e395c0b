import {
  type BundleOptions,
  NativeConnection,
  type ReplayWorkerOptions,
  Runtime,
  type Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { createActivityWorkers, QueuesServed, runBeside } from '../activity-workers';
import { checkServe, type MediaConfig, readConfig } from '../config';
import { nexusServicesOf } from '../nexus/media-nexus-service';
import { packagedWorkflows } from '../packaged-workflows';
import { refuseTwoSdkCopies } from '../sdk-copies';
import { bindQueue } from '../worker/bind-queue';
import { codeOf } from '../worker/bundled-types';
import { DRAIN, HEARTBEATS } from '../worker/paid-limits';
import { makeParts, type MediaParts, queuesOf } from '../worker/media-parts';
import { openWorkerAccounts } from '../worker/worker-accounts';
import { versionOf } from '../worker/worker-version';
import { joinActivities, WorkerSetupError } from '../worker/registered-names';
import { type Served, servedBy } from '../worker/served-parts';
import { bundledWorkflows, shapesBundle } from '../workflow-bundle';
import { joinBundle, refuseLacking } from './join-bundle';
import { type MediaPluginOptions } from './options';

type Workflows = Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'>;

/**
 * Adds the media workflows and activities to a worker of the user, binds its queue, and has its activity queues served
 * while it runs. @throws ConfigurationError, JournalBindingError, WorkerSetupError
 *
 * The SDK calls no plugin of a worker that it fails to make after this. What is left then keeps no process alive: clients
 * connect at their first request, the thread of polls starts with the first poll, and stores close idle connections.
 */
export async function serveWorker(media: MediaPluginOptions, options: WorkerOptions): Promise<WorkerOptions> {
  refuseTwoSdkCopies();
  const config = media.config ?? readConfig(media.env);
  const served = servedBy(media.serve === undefined ? config.serve : checkServe(media.serve, 'serve'));
  refuseHalf(options, served);
  const workflows = served.workflows ? await workflowsFor(options) : {};
  if (served.kinds.length === 0) {
    const nexus = nexusServicesOf(config, options.nexusServices);
    const version = versionOf(config, options.workerDeploymentOptions);
    return withPlugin({ ...version, ...options, ...workflows, ...nexus }, new InWorker(served));
  }

  const parts = await makeParts(media, config, openWorkerAccounts(config, media.accounts));
  try {
    const activities = served.ownActivities
      ? joinActivities(options.activities, parts.activities)
      : options.activities;
    await bind(options, media, parts);
    const made = {
      ...versionOf(config, options.workerDeploymentOptions),
      ...options,
      ...workflows,
      ...(activities !== undefined && { activities }),
      ...nexusServicesOf(config, options.nexusServices),
    };
    const beside = new Beside(made, { media, config, served, parts });
    return withPlugin(made, new InWorker(served, beside));
  } catch (error) {
    await parts.close();
    throw error;
  }
}

/** With a connection of its own where the worker will make its own: nothing stays open of a worker that is refused. */
async function bind(
  options: WorkerOptions,
  { rebind }: MediaPluginOptions,
  parts: MediaParts,
): Promise<void> {
  const { namespace = 'default', taskQueue, dataConverter } = options;
  const connection = options.connection ?? (await NativeConnection.connect());
  try {
    await bindQueue({ connection, namespace, taskQueue, dataConverter, rebind }, parts);
  } finally {
    if (options.connection === undefined) await connection.close();
  }
}

/**
 * All workers of a queue get tasks of everything that runs there, so one that polls the queue for its own workflows or
 * activities must have ours too. @throws WorkerSetupError
 */
function refuseHalf(
  { workflowsPath, workflowBundle, activities, taskQueue }: WorkerOptions,
  served: Served,
): void {
  const half =
    !served.workflows && (workflowsPath !== undefined || workflowBundle != null)
      ? { own: 'workflows', part: 'workflows' }
      : !served.ownActivities && Object.keys(activities ?? {}).length > 0
        ? { own: 'activities', part: 'create' }
        : undefined;
  if (half === undefined) return;
  throw new WorkerSetupError(
    `This worker has ${half.own} of its own on the task queue "${taskQueue}" and does not serve "${half.part}": it would be given ` +
      `${half.own} of temporal-media that it lacks. Add "${half.part}" to \`serve\` (MEDIA_SERVE), or give your ${half.own} a task queue of their own.`,
  );
}

/** Whether a worker has this plugin already, or serves the queues without it. */
export function isServed({ plugins = [] }: WorkerOptions): boolean {
  return plugins.some((plugin) => plugin instanceof QueuesServed);
}

/** Our workflows for a replay beside the user's. */
export async function replayWorkflows(options: ReplayWorkerOptions): Promise<ReplayWorkerOptions> {
  return { ...options, ...(await workflowsFor(options)) };
}

/**
 * The workflows of a worker. Those that are bundled when it is made are joined by then; a bundle that was made before
 * must have ours; and where there are none of the user's, ours are served alone.
 */
async function workflowsFor(options: WorkerOptions | ReplayWorkerOptions): Promise<Workflows> {
  const { workflowBundle, workflowsPath } = options;
  if (workflowBundle != null) {
    refuseLacking(await codeOf(workflowBundle));
    return {};
  }
  if (workflowsPath !== undefined) return {};
  const plugins = (options.plugins ?? []).filter(({ name }) => name !== NAME);
  if (shapesBundle({ ...options, plugins })) return { workflowsPath: packagedWorkflows() };
  return bundledWorkflows(undefined, (because) => {
    Runtime.instance().logger.info('Bundling the workflow code, which takes seconds', { because });
  });
}

interface Making {
  readonly media: MediaPluginOptions;
  readonly config: MediaConfig;
  readonly served: Served;
  readonly parts: MediaParts;
}

/** The workers of the activity queues beside that of the user, and what they work with. */
class Beside {
  private ownConnection: NativeConnection | undefined;

  constructor(
    private readonly options: WorkerOptions,
    private readonly making: Making,
  ) {}

  /** With interceptors and converter of the user's worker as it was made. */
  async make(worker: Worker): Promise<readonly Worker[]> {
    const { media, config, served, parts } = this.making;
    parts.begin(worker);
    const { interceptors, dataConverter } = worker.options;
    const shared: WorkerOptions = {
      ...DRAIN,
      ...HEARTBEATS,
      ...this.options,
      connection: await this.connection(worker),
      interceptors,
      ...(dataConverter !== undefined && { dataConverter }),
    };
    // A paid call that is cut off after a time is of unknown fate.
    delete shared.shutdownForceTime;
    const queues = queuesOf(config, media.queues);
    return createActivityWorkers(shared, { queues, kinds: served.kinds, activities: parts.activities });
  }

  /** A connection that the SDK made for the user's worker ends with that one. */
  private async connection(worker: Worker): Promise<NativeConnection> {
    const users = this.options.connection;
    if (users !== undefined) return withoutPlugins(worker.connection ?? users);
    return (this.ownConnection = await NativeConnection.connect());
  }

  /** Once no worker runs any more. */
  async close(): Promise<void> {
    await this.making.parts.close();
    await this.ownConnection?.close();
  }
}

/** Plugins of the connection have already had their say about the options: twice, an interceptor would run twice. */
function withoutPlugins(connection: NativeConnection): NativeConnection {
  return Object.create(connection, { plugins: { value: [] } }) as NativeConnection;
}

/** Name of the plugin, of all its forms. */
export const NAME = 'temporal-media';

/** The plugin in one worker, in the place of those that reached it. */
class InWorker extends QueuesServed {
  constructor(
    private readonly served: Served,
    private readonly beside?: Beside,
  ) {
    super();
  }

  configureBundler(options: BundleOptions): BundleOptions {
    return this.served.workflows ? joinBundle(options) : options;
  }

  async runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    const { beside } = this;
    if (beside === undefined) return next(worker);
    try {
      await runBeside(
        worker,
        () => next(worker),
        () => beside.make(worker),
      );
    } finally {
      await beside.close();
    }
  }
}

function withPlugin(options: WorkerOptions, plugin: InWorker): WorkerOptions {
  const plugins = options.plugins ?? [];
  const at = plugins.findIndex(({ name }) => name === NAME);
  const others = plugins.filter(({ name }) => name !== NAME);
  return { ...options, plugins: [...others.slice(0, at), plugin, ...others.slice(at)] };
}
