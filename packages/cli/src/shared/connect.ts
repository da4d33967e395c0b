import { Client, Connection, type ConnectionOptions } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { TemporalMediaClient } from 'temporal-media/client';
import { addressSource } from 'temporal-media/internal/client/address-source';
import { throwBug } from 'temporal-media/internal/domain/bug';
import { activityQueues } from 'temporal-media/internal/domain/names';
import { type ActivityQueueKind, type MediaConfig } from 'temporal-media/worker';
import { dataConverterOf } from './data-converter';
import { readDevState } from './dev-state';
import { CliError } from './errors';
import { type PollerKind, pollsForNewWork, STALE_POLL_MS, viewQueue } from './execution-state';

/**
 * A client command's connection to a Temporal server. It stays open until the process exits: if the SDK retried a call
 * on a closed connection, it would throw in a timer, and that error would replace the command's answer.
 */
export interface Connected {
  readonly media: TemporalMediaClient;
  readonly client: Client;
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Returns a web UI link to a workflow, or undefined when no UI is known. */
  workflowUrl(workflowId: string): string | undefined;
  /** Whether a worker has polled a task queue in the last 90 s. Undefined if unknown. @default taskQueue */
  hasWorker(ofQueue?: string, kind?: PollerKind): Promise<boolean | undefined>;
  /** Returns activity queues of these kinds that no worker has polled in the last 90 s. Empty if unknown. */
  unserved(kinds: readonly ActivityQueueKind[]): Promise<readonly string[]>;
}

/** The server and task queue that a command will use. */
export interface Target {
  readonly connection: ConnectionOptions;
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly uiUrl: string | null;
  readonly foundBy: string;
  /** Whether the environment's codec server encodes payloads. Workers must then use the same codec. */
  readonly usesCodec: boolean;
}

/** Connection timeout in milliseconds. */
const CONNECT_MS = 4_000;
const DEFAULT_ADDRESS = 'localhost:7233';

/**
 * Connects to the first of these servers that is configured: the one in TEMPORAL_*, the data directory's `dev`, the one
 * in the default profile, or localhost:7233. @throws CliError when it does not respond
 */
export async function connect(config: MediaConfig, env: NodeJS.ProcessEnv = process.env): Promise<Connected> {
  const target = await findTarget(config, env);
  const { address, namespace, taskQueue, uiUrl } = target;
  const dataConverter = await dataConverterOf(env, namespace, target);
  let connection: Connection;
  try {
    connection = await Connection.connect({ ...target.connection, address, connectTimeout: CONNECT_MS });
  } catch (error) {
    throwBug(error);
    const message = `No Temporal server responded at ${address} (${target.foundBy}).`;
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
    hasWorker: (ofQueue = taskQueue, kind = 'workflows') => isPolled(ofQueue, kind),
    unserved: async (kinds) => {
      const queues = kinds.map((kind) => activityQueues(taskQueue)[kind]);
      const polled = await Promise.all(queues.map((queue) => isPolled(queue, 'activities')));
      return queues.filter((_queue, place) => polled[place] === false);
    },
  };
}

/** Determines which server commands use. @throws CliError when the named profile cannot be read */
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
      foundBy: 'the running `temporal-media dev`',
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
        ? 'the default, because TEMPORAL_ADDRESS is not set and `temporal-media dev` is not running with this data directory'
        : 'the default profile',
  };
}

async function namedByEnvironment(env: NodeJS.ProcessEnv): ReturnType<typeof addressSource> {
  try {
    return await addressSource(env);
  } catch (error) {
    throw new CliError('configuration', error instanceof Error ? error.message : String(error), {
      hint: 'Fix TEMPORAL_PROFILE or its configuration file, or set TEMPORAL_ADDRESS.',
    });
  }
}

function withoutUndefined(options: object): ConnectionOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** Like {@link pollsForNewWork}, for a task queue. @throws when the server does not respond within `limitMs` */
async function lastPolls(
  ...[connection, namespace, taskQueue, kind, limitMs]: Parameters<typeof viewQueue>
): Promise<readonly number[]> {
  return pollsForNewWork(await viewQueue(connection, namespace, taskQueue, kind, limitMs));
}
