import { Client, Connection, type ConnectionLike, type ConnectionOptions } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { throwBug } from '../domain/bug';
import { TemporalMediaClient } from '../client';
import { type MediaConfig } from '../config';
import { activityQueues } from '../domain/names';
import { addressSource } from '../testing/temporal-server/address-source';
import { dataConverterOf } from './codec-client';
import { readDevState } from './dev/state';
import { CliError } from './errors';

/**
 * A connection to a Temporal server, as client commands use it. It ends with the process of its command: a call that the
 * SDK repeats on a closed connection throws in a timer, which would replace the answer of the command.
 */
export interface Connected {
  readonly media: TemporalMediaClient;
  readonly client: Client;
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Link to a workflow in the web UI; undefined when no UI is known. */
  workflowUrl(workflowId: string): string | undefined;
  /** Whether a worker has polled the task queue in the last 90 s; undefined when that is unknown. */
  hasWorker(): Promise<boolean | undefined>;
  /** Activity queues of these kinds that no worker has polled in the last 90 s; none where that is unknown. */
  unserved(kinds: readonly ActivityQueueKind[]): Promise<readonly string[]>;
}

/** Kinds of activities with a task queue of their own. */
export type ActivityQueueKind = keyof ReturnType<typeof activityQueues>;

/** The server and queue that commands use, before a connection is made. */
export interface Target {
  readonly connection: ConnectionOptions;
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly uiUrl: string | null;
  readonly foundBy: string;
  /** Whether the codec server of the environment encodes payloads; workers must then use the same codec. */
  readonly usesCodec: boolean;
}

/** Longest wait for a server that does not answer, in milliseconds. */
const CONNECT_MS = 4_000;
const DEFAULT_ADDRESS = 'localhost:7233';

/**
 * Connects to the server that TEMPORAL_* names, else to the `dev` of the data directory, else to the default profile
 * or localhost:7233. @throws CliError when it does not answer
 */
export async function connect(config: MediaConfig, env: NodeJS.ProcessEnv = process.env): Promise<Connected> {
  const target = await findTarget(config, env);
  const { address, namespace, taskQueue, uiUrl } = target;
  const dataConverter = target.usesCodec ? dataConverterOf(env, namespace) : undefined;
  let connection: Connection;
  try {
    connection = await Connection.connect({ ...target.connection, address, connectTimeout: CONNECT_MS });
  } catch (error) {
    throwBug(error);
    const message = `No Temporal server answers at ${address} (${target.foundBy}).`;
    throw new CliError('temporal_unreachable', message);
  }
  const client = new Client({ connection, namespace, ...(dataConverter && { dataConverter }) });
  const isPolled = async (queue: string, kind: PollerKind): Promise<boolean | undefined> => {
    try {
      const polls = await lastPolls(connection, namespace, queue, kind, CONNECT_MS);
      return polls.some((at) => at > Date.now() - STALE_POLL_MS);
    } catch (error) {
      throwBug(error);
      return undefined;
    }
  };
  return {
    media: new TemporalMediaClient(client, { taskQueue, searchAttributes: config.searchAttributes }),
    client,
    address,
    namespace,
    taskQueue,
    workflowUrl: (workflowId) =>
      uiUrl === null
        ? undefined
        : `${uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(workflowId)}`,
    hasWorker: () => isPolled(taskQueue, 'workflows'),
    unserved: async (kinds) => {
      const queues = kinds.map((kind) => activityQueues(taskQueue)[kind]);
      const polled = await Promise.all(queues.map((queue) => isPolled(queue, 'activities')));
      return queues.filter((_queue, place) => polled[place] === false);
    },
  };
}

/** Finds the server that commands use. @throws CliError when the named profile cannot be read */
export async function findTarget(config: MediaConfig, env: NodeJS.ProcessEnv): Promise<Target> {
  const { taskQueue } = config;
  const named = await namedByEnvironment(env);
  if (named !== null) {
    const { address, namespace, connection, foundBy } = named;
    return { connection, address, namespace, taskQueue, uiUrl: null, foundBy, usesCodec: true };
  }
  const dev = await readDevState(config.dataDir);
  if (dev !== undefined) {
    return {
      connection: {},
      address: dev.address,
      namespace: env['TEMPORAL_NAMESPACE'] || dev.namespace,
      taskQueue: env['MEDIA_TASK_QUEUE']?.trim() ? taskQueue : dev.taskQueue,
      uiUrl: dev.uiUrl,
      foundBy: '`temporal-media dev` of the data directory',
      usesCodec: false,
    };
  }
  const { connectionOptions, namespace } = loadClientConnectConfig();
  const { address = DEFAULT_ADDRESS, ...connection } = connectionOptions;
  return {
    connection: withoutUndefined(connection),
    address,
    namespace: namespace ?? 'default',
    taskQueue,
    uiUrl: null,
    usesCodec: true,
    foundBy:
      connectionOptions.address === undefined
        ? 'the default; no TEMPORAL_ADDRESS is set and no `temporal-media dev` runs on this data directory'
        : 'the default profile',
  };
}

async function namedByEnvironment(env: NodeJS.ProcessEnv): ReturnType<typeof addressSource> {
  try {
    return await addressSource(env);
  } catch (error) {
    throw new CliError('configuration', error instanceof Error ? error.message : String(error), {
      hint: 'Correct TEMPORAL_PROFILE and its configuration file, or set TEMPORAL_ADDRESS.',
    });
  }
}

function withoutUndefined(options: object): ConnectionOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** `TaskQueueType` of the Temporal API. */
const TYPES = { workflows: 1, activities: 2 } as const;
export type PollerKind = keyof typeof TYPES;

/** A worker polls again after at most a minute; the server lists a poller for five minutes after its last poll. */
export const STALE_POLL_MS = 90_000;

/** A version of a worker deployment. */
export interface WorkerVersion {
  readonly deploymentName: string;
  readonly buildId: string;
}

/** The pollers of a task queue, and the versions that get its new work. */
export interface QueueView {
  readonly pollers: readonly {
    /** Milliseconds since the Unix epoch. */
    readonly at: number;
    /** Null for an unversioned worker. */
    readonly version: WorkerVersion | null;
  }[];
  /** Versions that get new work; empty when unversioned workers get it. */
  readonly current: readonly WorkerVersion[];
}

/** `WORKER_VERSIONING_MODE_VERSIONED` of the Temporal API. */
const VERSIONED = 2;

/** @throws when the server does not answer in `limitMs` */
export async function viewQueue(
  connection: ConnectionLike,
  namespace: string,
  taskQueue: string,
  kind: PollerKind,
  limitMs: number,
): Promise<QueueView> {
  const { pollers, versioningInfo } = await connection.withDeadline(Date.now() + limitMs, () =>
    connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: TYPES[kind],
    }),
  );
  const { currentDeploymentVersion, rampingDeploymentVersion } = versioningInfo ?? {};
  return {
    pollers: (pollers ?? []).map(({ lastAccessTime, deploymentOptions }) => ({
      at: Number(lastAccessTime?.seconds ?? 0) * 1_000,
      version:
        deploymentOptions != null && Number(deploymentOptions.workerVersioningMode) === VERSIONED
          ? versionOf(deploymentOptions)
          : null,
    })),
    current: [currentDeploymentVersion, rampingDeploymentVersion].flatMap((version) =>
      version?.buildId ? [versionOf(version)] : [],
    ),
  };
}

function versionOf({
  deploymentName,
  buildId,
}: {
  readonly deploymentName?: string | null;
  readonly buildId?: string | null;
}): WorkerVersion {
  return { deploymentName: deploymentName ?? '', buildId: buildId ?? '' };
}

export function isSameVersion(a: WorkerVersion | null, b: WorkerVersion | null): boolean {
  return a?.deploymentName === b?.deploymentName && a?.buildId === b?.buildId;
}

export function versionText({ deploymentName, buildId }: WorkerVersion): string {
  return `${deploymentName} ${buildId}`;
}

/** When each worker that gets new work last polled, in milliseconds since the Unix epoch. */
export function pollsForNewWork({ pollers, current }: QueueView): readonly number[] {
  const takesNew = (version: WorkerVersion | null): boolean =>
    current.length === 0 ? version === null : current.some((one) => isSameVersion(one, version));
  return pollers.filter(({ version }) => takesNew(version)).map(({ at }) => at);
}

/** Like {@link pollsForNewWork}, of a task queue. @throws when the server does not answer in `limitMs` */
async function lastPolls(
  ...[connection, namespace, taskQueue, kind, limitMs]: Parameters<typeof viewQueue>
): Promise<readonly number[]> {
  return pollsForNewWork(await viewQueue(connection, namespace, taskQueue, kind, limitMs));
}
