import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Client, Client as TemporalClient } from '@temporalio/client';
import { type DataConverter } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { baseTaskQueue, STARTED_BY } from 'temporal-media/internal/domain/names';
import { accountsOf, readAccountOptions } from 'temporal-media/internal/settings/accounts';
import { existingJournal } from 'temporal-media/internal/stores/open-stores';
import { bundledWorkflows, shippedBundle } from 'temporal-media/internal/workflow-bundle';
import { type CreateJournal } from 'temporal-media/stores';
import { type AccountOptions, ConfigurationError, type MediaConfig, readConfig } from 'temporal-media/worker';
import { createCollect } from './collect';
import { createDeliver } from './deliver';
import { type Endpoint, endpointsOf, type NotifyEndpoint, NOTIFY_VARIABLE, readEndpoints } from './endpoints';
import { collectorId, noticesQueue } from './notice';
import { type CollectorState } from './workflows';

/** Options of {@link startNotices}. Omitted settings are read from the environment. */
export interface NoticesOptions {
  /** The endpoints. @default the file in MEDIA_NOTIFY, read at every use */
  readonly endpoints?: readonly NotifyEndpoint[];
  /** The media worker's settings. @default read from `env` */
  readonly config?: MediaConfig;
  /** Source of MEDIA_*, TEMPORAL_* and proxy variables. @default process.env */
  readonly env?: NodeJS.ProcessEnv;
  /** The connection to the Temporal server. It is not closed. @default an own one, from TEMPORAL_* */
  readonly connection?: NativeConnection;
  /** The Temporal namespace. @default TEMPORAL_NAMESPACE, or else 'default' */
  readonly namespace?: string;
  /** The media workers' data converter, which reads results. @default the SDK's */
  readonly dataConverter?: DataConverter;
  /** The media workers' journal. It is only read. @default the one in MEDIA_JOURNAL */
  readonly journal?: CreateJournal;
  /** The media worker's accounts from code, whose spend limits are watched. @default none */
  readonly accounts?: readonly AccountOptions[];
  /** Milliseconds between two searches for events. @default 15000 */
  readonly everyMs?: number;
  /** Milliseconds before a notice is sent again. Doubles up to `longest`. @default {first: 5000, longest: 600000} */
  readonly pauses?: { readonly first: number; readonly longest: number };
}

/** Notices that are running. */
export interface RunningNotices {
  /** Stops looking and delivering. Another worker, or the next start, continues. Never rejects. */
  stop(): Promise<void>;
}

export const DEFAULT_PAUSES = { first: 5_000, longest: 10 * 60_000 } as const;

const EVERY_MS = 15_000;
/** Time before a failed worker is started again, in milliseconds. */
const AGAIN_MS = 10_000;
/** More than the notices that wait for slow receivers at the same time, because each of them takes seconds. */
const DELIVERIES = 100;

/**
 * Returns the endpoints of an environment; undefined without MEDIA_NOTIFY.
 * @throws ConfigurationError
 */
export function configuredEndpoints(env: NodeJS.ProcessEnv): readonly Endpoint[] | undefined {
  const file = env['MEDIA_NOTIFY']?.trim();
  return file ? readEndpoints(file) : undefined;
}

/**
 * Starts to send notices about the calls of a media worker's task queue, in this process, next to the worker. Shares no
 * queue, workflow or connection pool with it. After the settings were checked, nothing that fails here is thrown: it is
 * logged at ERROR, counted, and tried again.
 * @throws ConfigurationError for unusable settings
 */
export function startNotices(options: NoticesOptions = {}): RunningNotices {
  const env = options.env ?? process.env;
  const config = options.config ?? readConfig(env);
  const given = options.endpoints && endpointsOf(options.endpoints);
  const endpoints = (): readonly Endpoint[] => given ?? configuredEndpoints(env) ?? [];
  if (endpoints().length === 0)
    throw new ConfigurationError(NOTIFY_VARIABLE, 'names no endpoint, so there is nothing to notify.');
  for (const one of endpoints()) one.secrets();
  const fromCode = readAccountOptions(options.accounts ?? []);
  const parts: NoticesParts = {
    ...{ ...options, env, config, readEndpoints: endpoints, fromCode },
    begun: new Date().getTime(),
  };
  const stopping = new AbortController();
  const running = serve(parts, stopping.signal);
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

interface NoticesParts extends Omit<NoticesOptions, 'endpoints'> {
  readonly env: NodeJS.ProcessEnv;
  readonly config: MediaConfig;
  readonly readEndpoints: () => readonly Endpoint[];
  readonly fromCode: ReturnType<typeof readAccountOptions>;
  /** What happened before this time is not reported, if these are the queue's first notices. */
  readonly begun: number;
}

/** Runs a worker until it is stopped, again after a failure. Never rejects. */
async function serve(parts: NoticesParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await runOnce(parts, signal);
    } catch (error) {
      const { name, message } = error as Error;
      Runtime.instance().logger.error('Notices have failed; they will start again', { error: name, message });
      count('none', 'fault');
      await delay(AGAIN_MS, undefined, { signal }).catch(otherwise(undefined));
    }
  }
}

async function runOnce(parts: NoticesParts, signal: AbortSignal): Promise<void> {
  const { connection, namespace, isOwn } = await connect(parts);
  try {
    const taskQueue = baseTaskQueue(parts.config.taskQueue);
    const { dataConverter } = parts;
    const worker = await Worker.create({
      ...{ connection, namespace, taskQueue: noticesQueue(taskQueue), ...(await workflowsOfNotices()) },
      ...(dataConverter !== undefined && { dataConverter }),
      activities: activitiesOf(parts, { namespace, taskQueue }),
      // A round and a delivery continue in the next process, so a shutdown waits for neither.
      ...{ shutdownGraceTime: 0, shutdownForceTime: '5 seconds' },
      ...{ maxConcurrentActivityTaskExecutions: DELIVERIES, maxCachedWorkflows: DELIVERIES },
      // Little memory next to the media worker's own threads.
      ...{ workflowThreadPoolSize: 1, maxConcurrentWorkflowTaskExecutions: 10 },
    });
    const client = new TemporalClient({ connection, namespace, ...(dataConverter && { dataConverter }) });
    await worker.runUntil(async () => {
      await startCollector(client, taskQueue, parts.begun);
      await aborted(signal);
    });
  } finally {
    if (isOwn) await connection.close();
  }
}

async function connect({ connection, namespace, env }: NoticesParts) {
  if (connection !== undefined) return { connection, namespace: namespace ?? 'default', isOwn: false };
  const overrideEnvVars = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const { connectionOptions, namespace: named } = loadClientConnectConfig({ overrideEnvVars });
  const made = await NativeConnection.connect(connectionOptions);
  return { connection: made, namespace: namespace ?? named ?? 'default', isOwn: true };
}

/** Starts the collector of a queue, unless it runs. */
async function startCollector(client: Client, taskQueue: string, begun: number): Promise<void> {
  const state: CollectorState = { v: 1, begun, since: begun, journal: null, journalAt: 0, closed: {} };
  await client.workflow.start('mediaNotices', {
    ...{
      workflowId: collectorId(taskQueue),
      taskQueue: noticesQueue(taskQueue),
      args: [state],
      memo: STARTED_BY,
    },
    workflowIdConflictPolicy: 'USE_EXISTING',
    staticSummary: 'Looks for events to send notices about',
  });
}

function activitiesOf(parts: NoticesParts, place: Parameters<typeof createCollect>[0]['place']) {
  const {
    config,
    env,
    readEndpoints: endpoints,
    fromCode,
    everyMs = EVERY_MS,
    pauses = DEFAULT_PAUSES,
  } = parts;
  let { journal } = parts;
  return {
    'notices.collect': createCollect({
      ...{ place, endpoints, everyMs, pauses },
      journal: async () => (journal ??= await existingJournal(config)),
      accounts: () => [...accountsOf(config), ...fromCode],
    }),
    'notices.deliver': createDeliver({ endpoints, env, count }),
  };
}

/** The shipped bundle, or one that is made now, which takes seconds. */
async function workflowsOfNotices() {
  const shipped = await shippedBundle(join(__dirname, 'workflow-bundle'));
  if ('codePath' in shipped) return { workflowBundle: shipped };
  return bundledWorkflows({ workflowsPath: require.resolve('./workflows') });
}

function count(type: string, result: string): void {
  const help = 'Attempts to send notices, by type and result; faults of the notices themselves.';
  Runtime.instance()
    .metricMeter.createCounter('temporal_media_notices', undefined, help)
    .add(1, { type, result });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
