/**
 * Creates media workers: configuration from the environment, journal bound before the first poll, drain on shutdown.
 * For processes that hold the key; never imported by workflow code.
 *
 * @module
 */
import { Client } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection, Runtime, type Worker, type WorkerOptions } from '@temporalio/worker';
import { type ActivityQueuesOptions, createWorkers } from './activity-workers';
import { FileArtifactStore } from './artifacts/file-store';
import { type ArtifactStore } from './artifacts/artifact-store';
import { accountRegistry } from './activities/accounts';
import { createMediaActivities } from './activities/create-media-activities';
import { pollInThread } from './activities/poll-in-thread';
import { type TaskRecords } from './activities/task-records';
import { ConfigurationError, readConfig, type MediaConfig } from './config';
import { refuseTwoSdkCopies } from './sdk-copies';
import { type CreateJournal } from './domain/journal';
import { CREATE_TIMEOUTS } from './domain/timeouts';
import { createFileJournal } from './journal/file-journal';
import { bindJournal } from './binding/bind-journal';
import { accountsOfOthers } from './binding/served-accounts';
import { findLostCalls, keepLostCalls, type LostCalls } from './guard-lost-calls';
import { lacksOfServer } from './temporal-server-version';
import { bundledWorkflows } from './workflow-bundle';
import { createModelSource } from './models/model-source';
import { accountName, normaliseBaseUrl } from './service/base-url';
import { createMediaClient } from './service/create-media-client';

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

export interface MediaWorkerOptions {
  /** @default read from the environment */
  readonly config?: MediaConfig;
  readonly env?: NodeJS.ProcessEnv;
  /** @default from TEMPORAL_* (envconfig) */
  readonly connection?: NativeConnection;
  readonly namespace?: string;
  /**
   * The user's own workflow code that re-exports ours, or a prebuilt bundle.
   * @default the workflows of this package
   */
  readonly workflows?: Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'>;
  /** @default a file store below `config.artifacts` */
  readonly artifacts?: ArtifactStore;
  /** @default a file journal below `config.journal` */
  readonly journal?: CreateJournal;
  /** Settles creates of unknown fate without a person, where the service lists its tasks. @default none */
  readonly taskRecords?: TaskRecords;
  /**
   * Binds the create queue to this journal instead of another one; only when no worker uses that one any more. `true`
   * accepts the calls that are lost; a function receives them before anything is changed, and throws to refuse.
   */
  readonly rebind?: boolean | ((lost: LostCalls) => Promise<void>);
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

export interface MediaWorker {
  /** The worker of the queue itself: workflows, and all activities. */
  readonly worker: Worker;
  readonly taskQueue: string;
  /** Every served queue, its own first. */
  readonly queues: readonly string[];
  /** Credential name and digest of the base address, as outcomes name it. */
  readonly account: string;
  /** Runs until shutdown; creates in flight are finished first. */
  run(): Promise<void>;
  shutdown(): void;
}

/**
 * Creates a worker that is ready to run: checks the stores and binds the create queue to its journal.
 * @throws ConfigurationError, JournalBindingError
 */
export async function createMediaWorker(options: MediaWorkerOptions = {}): Promise<MediaWorker> {
  refuseTwoSdkCopies();
  const config = options.config ?? readConfig(options.env);
  // Report a missing setting before connecting.
  requireBaseUrl(config);
  const connected = await connect(options);
  try {
    return await makeWorker(options, config, connected);
  } catch (error) {
    // An open connection would keep the process of a refused worker alive.
    if (connected.ownConnection) await connected.connection.close();
    throw error;
  }
}

async function makeWorker(
  options: MediaWorkerOptions,
  config: MediaConfig,
  { connection, namespace, ownConnection }: Connected,
): Promise<MediaWorker> {
  const workflows = await bundledWorkflows(options.workflows, (because) => {
    Runtime.instance().logger.info('Bundling the workflow code, which takes seconds', { because });
  });
  const artifacts = options.artifacts ?? (await fileStore(config.artifacts));
  await artifacts.checkWritable();
  if (options.journal === undefined) refuseAddress('MEDIA_JOURNAL', config.journal);
  const journal =
    options.journal ?? createFileJournal({ root: config.journal, shared: config.journalShared });
  await journal.checkWritable();

  const baseUrl = normaliseBaseUrl(requireBaseUrl(config));
  const name = accountName(config.credential, baseUrl);
  const client = createMediaClient({
    baseUrl,
    apiKey: config.apiKey,
    allowedMediaOrigins: config.allowedMediaOrigins,
    connections: { poll: config.pollConnections, content: config.downloadConnections },
  });
  const polls =
    options.pollThread === false
      ? undefined
      : pollInThread({ account: name, baseUrl, connections: config.pollConnections }, config.apiKey);
  const activities = createMediaActivities({
    accounts: accountRegistry([{ name, client, hasKey: async () => hasKey(config) }]),
    artifacts,
    journal,
    models: createModelSource({
      ...(config.models === undefined ? {} : { location: config.models }),
      ...(config.unknownModels === undefined ? {} : { unknownModels: config.unknownModels }),
    }),
    policy: config.policy,
    taskRecords: options.taskRecords,
    inputRoots: config.inputRoots,
    createsPerSecond: config.createsPerSecond,
    pollConcurrency: config.pollConnections,
    pollVideos: polls?.pollVideos,
  });
  const { dataConverter } = options.worker ?? {};
  const temporal = new Client({
    connection,
    namespace,
    ...(dataConverter !== undefined && { dataConverter }),
  });
  const rebind = options.rebind !== undefined && options.rebind !== false;
  if (rebind) {
    const lost = await findLostCalls(temporal, config.taskQueue, namespace, journal);
    if (typeof options.rebind === 'function') await options.rebind(lost);
    Runtime.instance().logger.warn('Rebinding: what was paid for under these ids was not in this journal', {
      guarded: [...new Set(lost.calls.map(({ creationKey }) => creationKey))],
      executionsLookedAt: lost.looked,
      unreadable: lost.unread,
    });
    // Before the binding changes, keep the calls of other journals in this one, as far as histories contain them.
    await keepLostCalls(journal, namespace, lost.calls);
  }
  const { accounts } = await bindJournal({
    client: temporal,
    taskQueue: config.taskQueue,
    journal,
    artifacts,
    accounts: [name],
    rebind,
  });
  const { serverVersion } = await connection.workflowService.getSystemInfo({});
  const lacks = lacksOfServer(serverVersion);
  if (lacks !== undefined) Runtime.instance().logger.warn(lacks);
  const unserved = accountsOfOthers(accounts, name);
  if (unserved !== undefined) Runtime.instance().logger.warn(unserved);
  const { createsPerSecond } = config;
  const workers = await createWorkers(
    {
      // For activities that stop on shutdown, such as downloads. A paid call in flight is finished however long it
      // takes: cutting it off would make its fate unknown (failure model: row 12).
      shutdownGraceTime: CREATE_TIMEOUTS.httpBudgetMs + 15_000,
      // The heartbeat with the id of a new task is sent at once instead of after a long throttle interval.
      maxHeartbeatThrottleInterval: '1 second',
      defaultHeartbeatThrottleInterval: '1 second',
      ...options.worker,
      connection,
      namespace,
      taskQueue: config.taskQueue,
      ...workflows,
      activities,
    },
    createsPerSecond === undefined
      ? { ...options.queues }
      : {
          ...options.queues,
          create: { maxTaskQueueActivitiesPerSecond: createsPerSecond, ...options.queues?.create },
        },
  );
  return {
    worker: workers.own,
    taskQueue: config.taskQueue,
    queues: workers.queues,
    account: name,
    run: async () => {
      try {
        await workers.run();
      } finally {
        await Promise.all([client.close(), polls?.close()]);
        if (ownConnection) await connection.close();
      }
    },
    shutdown: () => {
      workers.shutdown();
    },
  };
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

function requireBaseUrl(config: MediaConfig): string {
  if (config.baseUrl !== undefined) return config.baseUrl;
  throw new ConfigurationError('MEDIA_BASE_URL', 'is not set. Set it to the base address of the service.');
}

async function fileStore(root: string): Promise<ArtifactStore> {
  refuseAddress('MEDIA_ARTIFACTS', root);
  const store = new FileArtifactStore(root);
  // Delete the partial files of downloads that no activity resumes.
  await store.removeStaleParts();
  return store;
}

function refuseAddress(variable: string, place: string): void {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(place)) {
    throw new ConfigurationError(variable, 'must be a folder: other stores are not built in yet.');
  }
}

function hasKey(config: MediaConfig): boolean {
  try {
    return config.apiKey() !== '';
  } catch {
    return false;
  }
}
