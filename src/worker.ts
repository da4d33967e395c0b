/**
 * Creates media workers: configuration from the environment, journal bound before the first poll, drain on shutdown.
 * For processes that hold the key; never imported by workflow code.
 *
 * @module
 */
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection, Runtime, type Worker, type WorkerOptions } from '@temporalio/worker';
import { type AccountSet } from './accounts/account-set';
import { type AccountOptions } from './accounts/accounts-file';
import { type ActivityQueuesOptions, createServedWorkers } from './activity-workers';
import { type TaskRecords } from './activities/task-records';
import { type ArtifactStore } from './artifacts/artifact-store';
import { checkServe, type MediaConfig, readConfig } from './config';
import { type CreateJournal } from './domain/journal';
import { nexusServicesOf } from './nexus/media-nexus-service';
import { refuseUnsoundSdk } from './sdk-copies';
import { bindQueue, type Rebind } from './worker/bind-queue';
import { warnOfLacking } from './worker/bundled-types';
import { makeParts, type MediaParts, queuesOf } from './worker/media-parts';
import { DRAIN, HEARTBEATS } from './worker/paid-limits';
import { readinessOf, storesNeeded } from './worker/readiness';
import { joinActivities } from './worker/registered-names';
import { type Served, servedBy, type ServedPart } from './worker/served-parts';
import { openWorkerAccounts } from './worker/worker-accounts';
import { versionOf } from './worker/worker-version';
import { workflowsFor } from './workflow-bundle';

export { type AccountOptions } from './accounts/accounts-file';
export {
  type ActivityQueueKind,
  type ActivityQueueOptions,
  type ActivityQueuesOptions,
  createWorkers,
  type MediaWorkers,
} from './activity-workers';
export { bindJournal, type BindJournalOptions, JournalBindingError } from './binding/bind-journal';
export { ConfigurationError, readConfig, type MediaConfig } from './config';
export { type LostCall, type LostCalls } from './guard-lost-calls';
export { mediaNexusService, type MediaNexusOptions } from './nexus/media-nexus-service';
export { histogramBuckets, runtimeMetrics, type RuntimeMetrics } from './worker/runtime-metrics';
export { WorkerSetupError } from './worker/registered-names';
export { type ServedPart } from './worker/served-parts';
export { type Rebind } from './worker/bind-queue';
export { withoutPayloads } from './worker/without-payloads';

/** Options of {@link createMediaWorker}. Without any, everything is read from the environment. */
export interface MediaWorkerOptions {
  /** @default read from the environment */
  readonly config?: MediaConfig;
  /** Accounts besides those of MEDIA_BASE_URL and MEDIA_ACCOUNTS. @default none */
  readonly accounts?: readonly AccountOptions[];
  /** Where MEDIA_* and TEMPORAL_* are read. @default process.env */
  readonly env?: NodeJS.ProcessEnv;
  /** @default from TEMPORAL_* (envconfig) */
  readonly connection?: NativeConnection;
  /** @default TEMPORAL_NAMESPACE, else 'default' */
  readonly namespace?: string;
  /**
   * The user's own workflow code that re-exports ours, or a prebuilt bundle. Not used where `serve` leaves workflows out.
   * Bundled with the workflow interceptors, converters and plugins of `worker`, but for a bundle that exists already.
   * @default the workflows of this package
   */
  readonly workflows?: Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'>;
  /**
   * The user's own activities, beside ours on the task queue itself; one of the same name is refused. Not used where
   * `serve` leaves `create` out. @default none
   */
  readonly activities?: object;
  /** What the worker serves, see docs/operations.md. @default `config.serve` (MEDIA_SERVE), else everything */
  readonly serve?: readonly ServedPart[];
  /** @default the store that `config.artifacts` names */
  readonly artifacts?: ArtifactStore;
  /** @default the journal that `config.journal` names */
  readonly journal?: CreateJournal;
  /** Settles creates of unknown fate without a person, where the service lists its tasks. @default none */
  readonly taskRecords?: TaskRecords;
  /**
   * Binds the create queue to this journal instead of another one; only when no worker uses that one any more. `true`
   * accepts the calls that are lost; a function receives them before anything is changed, and throws to refuse.
   */
  readonly rebind?: Rebind;
  /** Further options of the Temporal worker, without those that the binding of the journal depends on. */
  readonly worker?: Partial<Omit<WorkerOptions, 'activities' | 'connection' | 'namespace' | 'taskQueue'>>;
  /** Slots and rates of the activity queues. @default 50 create, 50 poll, 20 download, 20 image activities at a time */
  readonly queues?: ActivityQueuesOptions;
  /**
   * Whether polls run in a separate thread, so that creates and downloads never delay them.
   * @default true; false keeps them in the main thread, where hooks of the process see them
   */
  readonly pollThread?: boolean;
}

/** A worker with its activity queues, bound to its journal and ready to run. */
export interface MediaWorker {
  /** The worker of the queue itself: workflows, and all activities. Where that is not served, of the first queue. */
  readonly worker: Worker;
  /** The queue of workflows; those of activities are beside it. */
  readonly taskQueue: string;
  /** Every served queue, its own first. */
  readonly queues: readonly string[];
  /**
   * Credential name and digest of the base address, as outcomes name it: the first of {@link accounts}; empty where only
   * workflows are served.
   */
  readonly account: string;
  /** All accounts that it serves at its start; those of MEDIA_ACCOUNTS may change later. */
  readonly accounts: readonly string[];
  /**
   * Whether it can take creates now: its journal can be written. For a readiness probe: the journal is asked every ten
   * seconds at most. Never rejects; true where only workflows are served.
   */
  isReady(): Promise<boolean>;
  /** Runs until shutdown; creates in flight are finished first. */
  run(): Promise<void>;
  /** Starts the shutdown of all its workers and returns at once; `run` then settles when they have drained. */
  shutdown(): void;
}

/**
 * Creates a worker that is ready to run: checks the stores and binds the create queue to its journal.
 * @throws ConfigurationError, JournalBindingError, WorkerSetupError
 */
export async function createMediaWorker(options: MediaWorkerOptions = {}): Promise<MediaWorker> {
  refuseUnsoundSdk();
  const config = options.config ?? readConfig(options.env);
  const served = servedBy(options.serve === undefined ? config.serve : checkServe(options.serve, 'serve'));
  // Reports a missing setting before connecting.
  const accounts = served.kinds.length > 0 ? openWorkerAccounts(config, options.accounts) : undefined;
  const connected = await connect(options);
  try {
    return await makeWorker(options, { config, served, accounts, connected });
  } catch (error) {
    // An open connection would keep the process of a refused worker alive.
    if (connected.ownConnection) await connected.connection.close();
    throw error;
  }
}

interface Making {
  readonly config: MediaConfig;
  readonly served: Served;
  /** Undefined where only workflows are served. */
  readonly accounts: AccountSet | undefined;
  readonly connected: Connected;
}

async function makeWorker(options: MediaWorkerOptions, making: Making): Promise<MediaWorker> {
  const { config, served, accounts, connected } = making;
  const { connection, namespace } = connected;
  const { taskQueue } = config;
  const workflows = served.workflows ? await workflowsOf(options) : {};
  const parts = accounts === undefined ? undefined : await makeParts(options, config, accounts);
  if (parts !== undefined) {
    const { dataConverter } = options.worker ?? {};
    await bindQueue({ connection, namespace, taskQueue, dataConverter, rebind: options.rebind }, parts);
  }
  const workers = await createServedWorkers(
    {
      ...DRAIN,
      ...HEARTBEATS,
      ...(config.cachedWorkflows !== undefined && { maxCachedWorkflows: config.cachedWorkflows }),
      ...versionOf(config, options.worker?.workerDeploymentOptions),
      ...options.worker,
      ...nexusServicesOf(config, options.worker?.nexusServices),
      connection,
      namespace,
      taskQueue,
      ...workflows,
      activities: served.ownActivities ? joinActivities(options.activities, parts?.activities ?? {}) : {},
    },
    {
      queues: queuesOf(config, options.queues),
      kinds: served.kinds,
      own: served.workflows || served.ownActivities,
      activities: parts?.activities ?? {},
    },
  );
  return {
    worker: workers.own,
    taskQueue,
    queues: workers.queues,
    account: parts?.accounts[0] ?? '',
    accounts: parts?.accounts ?? [],
    isReady: parts === undefined ? async () => true : readinessOf(storesNeeded(served.kinds, parts)),
    run: async () => {
      parts?.begin(workers.own);
      try {
        await workers.run();
      } finally {
        await close(parts, connected);
      }
    },
    shutdown: () => {
      workers.shutdown();
    },
  };
}

async function workflowsOf({ workflows: given, worker = {} }: MediaWorkerOptions) {
  const workflows = await workflowsFor(given, worker);
  if (given !== undefined && workflows.workflowBundle != null)
    await warnOfLacking(workflows.workflowBundle, Runtime.instance().logger);
  return workflows;
}

async function close(parts: MediaParts | undefined, { connection, ownConnection }: Connected): Promise<void> {
  await parts?.close();
  if (ownConnection) await connection.close();
}

interface Connected {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly ownConnection: boolean;
}

async function connect(options: MediaWorkerOptions): Promise<Connected> {
  if (options.connection !== undefined) {
    return {
      connection: options.connection,
      namespace: options.namespace ?? 'default',
      ownConnection: false,
    };
  }
  const { connectionOptions, namespace } = loadClientConnectConfig(
    options.env === undefined ? {} : { overrideEnvVars: definedOnly(options.env) },
  );
  const connection = await NativeConnection.connect(connectionOptions);
  return { connection, namespace: options.namespace ?? namespace ?? 'default', ownConnection: true };
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
