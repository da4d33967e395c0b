/**
 * Creates media workers. Reads the configuration from the environment, binds the journal before the first poll, and
 * drains on shutdown. For processes that have the API key. Workflow code must never import this module.
 *
 * @module
 */
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection, Runtime, type Worker, type WorkerOptions } from '@temporalio/worker';
import { refuseUnsoundSdk } from './installation';
import { type AccountSet } from './settings/account-set';
import { readConfig } from './settings/config';
import { createServedWorkers } from './worker/activity-workers';
import {
  type Assembly,
  assembleWorker,
  openWorkerAccounts,
  PAID_LIMITS,
  servedOf,
  type ServingOptions,
} from './worker/assemble';
import { bindQueue } from './worker/bind-queue';
import { warnOfLacking } from './worker/join-bundle';
import { makeParts, type MediaParts } from './worker/media-parts';
import { readinessOf, storesNeeded } from './worker/readiness';
import { workflowsFor } from './workflow-bundle';

export { type AccountOptions } from './settings/accounts';
export {
  type ActivityQueueOptions,
  type ActivityQueuesOptions,
  createWorkers,
  type MediaWorkers,
} from './worker/activity-workers';
export { type ActivityQueueKind } from './domain/names';
export { bindJournal, type BindJournalOptions, JournalBindingError } from './activities/binding/bind-journal';
export { ConfigurationError, readConfig, type MediaConfig } from './settings/config';
export { type LostCall, type LostCalls } from './worker/bind-queue';
export { mediaNexusService, type MediaNexusOptions } from './worker/media-nexus-service';
export { histogramBuckets, runtimeMetrics, type RuntimeMetrics } from './worker/telemetry';
export { WorkerSetupError } from './installation';
export { type ServedPart } from './domain/names';
export { type Rebind } from './worker/bind-queue';
export { withoutPayloads } from './worker/telemetry';

/** Options of {@link createMediaWorker}. Omitted settings are read from the environment. */
export interface MediaWorkerOptions extends ServingOptions {
  /** The connection to the Temporal server. @default from TEMPORAL_* (envconfig) */
  readonly connection?: NativeConnection;
  /** The Temporal namespace. @default TEMPORAL_NAMESPACE, or else 'default' */
  readonly namespace?: string;
  /**
   * Your own workflow code, which must re-export this package's workflows, or a prebuilt bundle. Not used if `serve`
   * omits `workflows`. Code is bundled with the workflow interceptors, converters and plugins from `worker`. A prebuilt
   * bundle is used unchanged.
   * @default this package's workflows
   */
  readonly workflows?: Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'>;
  /**
   * Your own activities, registered on the main task queue in addition to this package's activities. Names must not
   * clash. Not used if `serve` omits `create`. @default none
   */
  readonly activities?: object;
  /** Additional Temporal worker options, except those that the journal binding depends on. */
  readonly worker?: Partial<Omit<WorkerOptions, 'activities' | 'connection' | 'namespace' | 'taskQueue'>>;
}

/** A worker with its activity queues. It is bound to its journal and ready to run. */
export interface MediaWorker {
  /**
   * The main queue's worker, for workflows and all activities. If the main queue is not served, the first served
   * queue's worker.
   */
  readonly worker: Worker;
  /** The main task queue. The names of the activity queues are derived from it. */
  readonly taskQueue: string;
  /** All served queues, the main queue first. */
  readonly queues: readonly string[];
  /**
   * The first of {@link accounts}: the credential name and the digest of the base address, as in outcomes. Empty if
   * only workflows are served.
   */
  readonly account: string;
  /** All accounts served at startup. Accounts from MEDIA_ACCOUNTS may change later. */
  readonly accounts: readonly string[];
  /**
   * Returns whether the worker can take work right now, that is, whether its stores are writable. Suitable for a
   * readiness probe, because the stores are checked at most every ten seconds. Never rejects. Returns true if only
   * workflows are served.
   */
  isReady(): Promise<boolean>;
  /** Runs until shutdown. Creates in flight are finished first. */
  run(): Promise<void>;
  /** Starts shutting down all workers and returns immediately. `run` settles when they have drained. */
  shutdown(): void;
}

/**
 * Creates a worker that is ready to run. Checks the stores and binds the queue to the journal first.
 * @throws ConfigurationError, JournalBindingError, WorkerSetupError
 */
export async function createMediaWorker(options: MediaWorkerOptions = {}): Promise<MediaWorker> {
  refuseUnsoundSdk();
  const config = options.config ?? readConfig(options.env);
  const served = servedOf(options, config);
  // Reports a missing setting before connecting.
  const accounts = served.kinds.length > 0 ? openWorkerAccounts(options, config) : undefined;
  const connected = await connect(options);
  try {
    return await makeWorker(options, { media: options, config, served, accounts, connected });
  } catch (error) {
    // An open connection would keep a rejected worker's process alive.
    if (connected.ownConnection) await connected.connection.close();
    throw error;
  }
}

interface Making extends Assembly {
  /** Undefined if only workflows are served. */
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
  const assembled = assembleWorker(
    making,
    {
      ...PAID_LIMITS,
      ...(config.cachedWorkflows !== undefined && { maxCachedWorkflows: config.cachedWorkflows }),
      ...options.worker,
      connection,
      namespace,
      taskQueue,
      ...workflows,
      activities: served.ownActivities ? { ...options.activities } : {},
    },
    parts?.activities,
  );
  const workers = await createServedWorkers(assembled.options, {
    ...assembled.served,
    own: served.workflows || served.ownActivities,
  });
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
