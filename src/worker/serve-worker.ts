import {
  type BundleOptions,
  NativeConnection,
  type ReplayWorkerOptions,
  type Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { type Served } from '../domain/names';
import { refuseUnsoundSdk, WorkerSetupError } from '../installation';
import { type MediaConfig, readConfig, readUsableConfig } from '../settings/config';
import { workflowsFor } from '../workflow-bundle';
import {
  createActivityWorkers,
  heartbeatsInline,
  NAME,
  QueuesServed,
  runAlongside,
} from './activity-workers';
import { assembleWorker, openWorkerAccounts, PAID_LIMITS, servedOf, type ServingOptions } from './assemble';
import { bindQueue } from './bind-queue';
import { codeOf, joinBundle, refuseLacking } from './join-bundle';
import { LateParts } from './late-parts';
import { makeParts, type MediaParts } from './media-parts';
import { readinessOf, storesNeeded } from './readiness';

/**
 * Options of `MediaPlugin`. By default, all settings are read from the environment when a worker is created. The plugin
 * uses the worker's task queue, not the one in `config`.
 */
export interface MediaPluginOptions extends ServingOptions {
  /**
   * What to do if the settings, accounts, stores or journal cannot be used when a worker is created. `tolerant`: the
   * worker starts and runs your own workflows and activities. Until the cause is fixed, paid calls are refused with the
   * cause, nothing is sent, and `isReady` returns false. An ERROR log line says what to do. `strict`: `Worker.create`
   * throws. @default 'tolerant', or 'strict' with `rebind`
   */
  readonly startup?: 'tolerant' | 'strict';
}

type Workflows = Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'>;

/**
 * Adds the media workflows and activities to a user's worker, binds its queue, and serves its activity queues while it
 * runs.
 *
 * If the SDK then fails to create the worker, it does not notify plugins, so resources remain open. They do not keep
 * the process alive, because clients connect on their first request, the poll thread starts with the first poll, and
 * stores close idle connections.
 *
 * @param onServed receives a function that checks whether the worker can take creates
 * @throws WorkerSetupError, and ConfigurationError for the served parts and the version; with `startup: 'strict'`, also
 * every other ConfigurationError, and JournalBindingError
 */
export async function serveWorker(
  media: MediaPluginOptions,
  options: WorkerOptions,
  onServed: (isReady: () => Promise<boolean>) => void,
): Promise<WorkerOptions> {
  refuseUnsoundSdk();
  const strict = isStrict(media);
  const config = media.config ?? (strict ? readConfig(media.env) : usableConfig(media.env));
  const served = servedOf(media, config);
  const assembly = { media, config, served };
  refuseHalf(options, served);
  const users = { ...options, ...(served.workflows && (await mergedWorkflows(options))) };
  if (served.kinds.length === 0)
    return withPlugin(assembleWorker(assembly, users).options, new WorkerPlugin(served));

  const steps = { make: () => partsOf(media), bind: (parts: MediaParts) => bind(options, media, parts) };
  const parts = await LateParts.of(steps, strict);
  try {
    const assembled = assembleWorker(assembly, users, parts.activities);
    const activityWorkers = new ActivityQueueWorkers(assembled, parts, strict);
    onServed(activityWorkers.isReady);
    return withPlugin(assembled.options, new WorkerPlugin(served, activityWorkers));
  } catch (error) {
    await parts.close();
    throw error;
  }
}

/**
 * Whether setup errors must make the worker fail. A rebind is always strict, because it is a deliberate, one-time step
 * whose result matters.
 */
function isStrict({ startup, rebind = false }: MediaPluginOptions): boolean {
  return startup === 'strict' || rebind !== false;
}

/** Variables that define the worker and must be valid. Any other invalid variable only stops paid calls. */
const OF_THE_WORKER: ReadonlySet<string> = new Set(['MEDIA_SERVE', 'MEDIA_DEPLOYMENT']);

/**
 * Returns the usable settings. Most invalid settings cause an error only when the parts are set up.
 * @throws ConfigurationError
 */
function usableConfig(env: NodeJS.ProcessEnv | undefined): MediaConfig {
  const { config, problems } = readUsableConfig(env);
  const ofTheWorker = problems.find(({ variable }) => OF_THE_WORKER.has(variable));
  if (ofTheWorker !== undefined) throw ofTheWorker;
  return config;
}

/** Reads the environment again, because a file that it points to may exist by now. @throws ConfigurationError */
async function partsOf(media: MediaPluginOptions): Promise<MediaParts> {
  const config = media.config ?? readConfig(media.env);
  const accounts = openWorkerAccounts(media, config);
  try {
    return await makeParts(media, config, accounts);
  } catch (error) {
    await accounts.close();
    throw error;
  }
}

/**
 * Binds the queue. If the worker has no connection yet, uses a temporary one, so that a rejected worker leaks nothing.
 */
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
 * Rejects a worker that has the user's workflows or activities but does not serve this package's, because it could get
 * any task from its queue.
 * @throws WorkerSetupError
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
    `This worker has its own ${half.own} on the task queue "${taskQueue}" but does not serve "${half.part}". It would receive tasks for temporal-media ` +
      `${half.own} that it does not have. Add "${half.part}" to \`serve\` (MEDIA_SERVE), or give your ${half.own} a separate task queue.`,
  );
}

/** Whether a worker already has this plugin or serves the queues without it. */
export function isServed({ plugins = [] }: WorkerOptions): boolean {
  return plugins.some((plugin) => plugin instanceof QueuesServed);
}

/** Adds this package's workflows to the user's for a replay. */
export async function replayWorkflows(options: ReplayWorkerOptions): Promise<ReplayWorkerOptions> {
  return { ...options, ...(await mergedWorkflows(options)) };
}

/**
 * Returns a worker's workflows. If the user's workflows are yet to be bundled, this package's are added. An existing
 * bundle must already include them. If the user has no workflows, only this package's are served.
 */
async function mergedWorkflows(options: WorkerOptions | ReplayWorkerOptions): Promise<Workflows> {
  const { workflowBundle, workflowsPath } = options;
  if (workflowBundle != null) {
    refuseLacking(await codeOf(workflowBundle));
    return {};
  }
  if (workflowsPath !== undefined) return {};
  const plugins = (options.plugins ?? []).filter(({ name }) => name !== NAME);
  return workflowsFor(undefined, { ...options, plugins });
}

/** The workers for the activity queues, which run alongside the user's worker, and their resources. */
class ActivityQueueWorkers {
  private ownConnection: NativeConnection | undefined;

  constructor(
    private readonly assembled: ReturnType<typeof assembleWorker>,
    private readonly parts: LateParts,
    private readonly strict: boolean,
  ) {}

  private readonly areStoresReady = readinessOf([{ checkWritable: () => this.checkStores() }]);

  /** Whether the queue is bound and its stores are writable. */
  readonly isReady = async (): Promise<boolean> => this.parts.ready !== undefined && this.areStoresReady();

  private async checkStores(): Promise<void> {
    const { ready } = this.parts;
    if (ready === undefined) return;
    const stores = storesNeeded(this.assembled.served.kinds, ready);
    await Promise.all(stores.map((store) => store.checkWritable()));
  }

  /** Creates the workers with the same interceptors and data converter as the user's worker. */
  private async make(worker: Worker): Promise<readonly Worker[]> {
    const { interceptors, dataConverter } = worker.options;
    const shared: WorkerOptions = {
      ...PAID_LIMITS,
      ...this.assembled.options,
      connection: await this.connection(worker),
      interceptors,
      ...(dataConverter !== undefined && { dataConverter }),
    };
    // Forcing a shutdown would cut off paid calls and make their outcomes unknown.
    delete shared.shutdownForceTime;
    return createActivityWorkers(shared, this.assembled.served);
  }

  /**
   * Runs the workers while `run` runs the user's worker. Unless `strict`, their failure does not stop the user's
   * worker.
   */
  async run(worker: Worker, run: () => Promise<void>): Promise<void> {
    this.parts.begin(worker);
    await runAlongside(worker, run, () => this.make(worker), this.strict ? undefined : this.parts.pause);
  }

  /**
   * Returns the user's connection, or opens one, because a connection that the SDK created closes with the user's
   * worker.
   */
  private async connection(worker: Worker): Promise<NativeConnection> {
    const users = this.assembled.options.connection;
    if (users !== undefined) return withoutPlugins(worker.connection ?? users);
    return (this.ownConnection ??= await NativeConnection.connect());
  }

  /** Call this once no worker is running. */
  async close(): Promise<void> {
    await this.parts.close();
    await this.ownConnection?.close();
  }
}

/** Hides the connection's plugins. They have already changed the options, and their interceptors must not run twice. */
function withoutPlugins(connection: NativeConnection): NativeConnection {
  return Object.create(connection, { plugins: { value: [] } }) as NativeConnection;
}

/** The plugin for one worker. It replaces all other instances that the worker received. */
class WorkerPlugin extends QueuesServed {
  constructor(
    private readonly served: Served,
    private readonly activityWorkers?: ActivityQueueWorkers,
  ) {
    super();
  }

  configureBundler(options: BundleOptions): BundleOptions {
    return this.served.workflows ? joinBundle(options) : options;
  }

  async runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    const { activityWorkers } = this;
    if (activityWorkers === undefined) return next(worker);
    try {
      await activityWorkers.run(worker, () => next(worker));
    } finally {
      await activityWorkers.close();
    }
  }
}

function withPlugin(options: WorkerOptions, plugin: WorkerPlugin): WorkerOptions {
  const plugins = options.plugins ?? [];
  const at = plugins.findIndex(({ name }) => name === NAME);
  const others = plugins.filter(({ name }) => name !== NAME);
  return {
    ...options,
    ...heartbeatsInline(options),
    plugins: [...others.slice(0, at), plugin, ...others.slice(at)],
  };
}
