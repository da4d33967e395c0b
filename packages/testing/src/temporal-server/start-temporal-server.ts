import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type AddressSource,
  type ServerConnectionOptions,
} from 'temporal-media/internal/client/address-source';
import {
  acquireOwnerLock,
  LockHeldError,
  type OwnerLock,
} from 'temporal-media/internal/stores/files/owner-lock';
import { freePort, isPortFree } from 'temporal-media/internal/stores/files/this-machine';
import { resolveTemporalServer } from './resolve-temporal-server';
import { probeNamespace, retentionSeconds, type SearchAttributeTypeName } from './server-arguments';
import {
  type Launch,
  type LaunchedServer,
  LaunchError,
  launchServer,
  type ServerExit,
} from './server-process';
import {
  type Environment,
  type ExecutableSource,
  type ProgressListener,
  type TemporalServerSource,
} from './server-source';

/** Options for {@link startTemporalServer}. */
export interface StartTemporalServerOptions {
  /** Directory for the `temporal.db` database; created when missing. @default none: the database is in memory */
  readonly dataDir?: string;
  /** gRPC port on 127.0.0.1. @default a free one */
  readonly port?: number;
  /** Whether to start the web UI, on a free port or on the given port. @default false */
  readonly ui?: boolean | { readonly port: number };
  /** How long closed workflows are kept, such as `72h` or `3d`; at least `1h`. @default '72h' */
  readonly retention?: string;
  /** @default TEMPORAL_NAMESPACE, else 'default' */
  readonly namespace?: string;
  /** Search attributes to register in the namespace of a server that is started here. */
  readonly searchAttributes?: Readonly<Record<string, SearchAttributeTypeName>>;
  /** Dynamic configuration: key to JSON value. */
  readonly dynamicConfig?: Readonly<Record<string, string>>;
  /** File that the server's output is appended to. @default `temporal.log` in dataDir, else a file removed by stop() */
  readonly logFile?: string;
  /** Called with one line for each step of the search and the start. */
  readonly onProgress?: ProgressListener;
  /** @default process.env */
  readonly env?: Environment;
  /** The server to start or connect to. @default the result of {@link resolveTemporalServer} */
  readonly source?: TemporalServerSource;
}

/** A running server that answers gRPC calls. */
export interface RunningTemporalServer {
  /** host:port for gRPC. */
  readonly address: string;
  /** A namespace that exists on the server. */
  readonly namespace: string;
  /** Credentials and TLS; empty for a server that this process started. */
  readonly connection: ServerConnectionOptions;
  /** The web UI's address; absent if no web UI was requested, or none is known. */
  readonly uiUrl?: string;
  /** Retention that DescribeNamespace reports, such as `72h`. */
  readonly retention: string;
  /** Absent for an external server. */
  readonly pid?: number;
  /** False for an existing server, which {@link RunningTemporalServer.stop} leaves running. */
  readonly startedByUs: boolean;
  /** Where the server came from. */
  readonly source: TemporalServerSource;
  /** Resolves when the process of a server that was started here ends, for any reason. */
  readonly exited?: Promise<ServerExit>;
  /** Stops a server that was started here and waits until it has ended; does nothing to other servers. Idempotent. */
  stop(): Promise<void>;
}

/** The SDK's own launcher gives up after 5 s, which is not always enough on a loaded machine. */
const FIRST_START_MS = 15_000;
const SECOND_START_MS = 45_000;
const PORT_TRIES = 5;
/** A server whose parent process was killed needs time to end, so the next start waits for it. */
const DATA_DIR_WAIT_MS = 20_000;

/**
 * Starts a Temporal server through {@link resolveTemporalServer}, or connects to the one in the environment. The server
 * does not outlive this process.
 * @throws TemporalServerNotFoundError when no server can be found or started.
 * @throws RangeError for an invalid retention.
 * @throws Error when the port or the data directory is in use, or the server does not start.
 */
export async function startTemporalServer(
  options: StartTemporalServerOptions = {},
): Promise<RunningTemporalServer> {
  const env = options.env ?? process.env;
  const seconds = retentionSeconds(options.retention ?? '72h');
  const source =
    options.source ??
    (await resolveTemporalServer({ env, ...(options.onProgress && { onProgress: options.onProgress }) }));
  return source.kind === 'address' ? attach(source, options) : start(source, options, env, seconds);
}

async function attach(
  source: AddressSource,
  options: StartTemporalServerOptions,
): Promise<RunningTemporalServer> {
  const namespace = options.namespace ?? source.namespace;
  const { address, connection } = source;
  let retention: string;
  try {
    retention = await probeNamespace({ address, namespace, connection });
  } catch (cause) {
    throw new Error(
      `The Temporal server at ${address} (${source.foundBy}) does not answer for namespace ${namespace}. Start it, ` +
        'fix the setting, or unset it to start a server here.',
      { cause },
    );
  }
  return {
    address,
    namespace,
    connection,
    retention,
    startedByUs: false,
    source,
    stop: async () => undefined,
  };
}

async function start(
  source: ExecutableSource,
  options: StartTemporalServerOptions,
  env: Environment,
  seconds: number,
): Promise<RunningTemporalServer> {
  const { dataDir } = options;
  const lock = dataDir === undefined ? null : await lockDataDir(dataDir, options.onProgress);
  const scratch =
    dataDir === undefined && options.logFile === undefined
      ? await mkdtemp(path.join(tmpdir(), 'temporal-media-server-'))
      : null;
  const tidy = async (): Promise<void> => {
    await lock?.release();
    if (scratch !== null) await rm(scratch, { recursive: true, force: true });
  };
  try {
    const logFile = options.logFile ?? path.join(scratch ?? dataDir ?? '.', 'temporal.log');
    const namespace = options.namespace ?? (env['TEMPORAL_NAMESPACE'] || 'default');
    const { launched, uiPort } = await launchWithRetries(options, (port, ui) => ({
      ...options,
      port,
      ...(ui !== undefined && { uiPort: ui }),
      namespace,
      executable: source,
      env,
      logFile,
      retentionSeconds: seconds,
      // The server uses the database, so the lock is transferred to it as soon as it runs.
      ...(lock && { onSpawn: (pid: number) => lock.transfer(pid) }),
    }));
    const { process: child, address, retention } = launched;
    return {
      address,
      namespace,
      connection: {},
      ...(uiPort !== undefined && { uiUrl: `http://127.0.0.1:${uiPort}` }),
      retention,
      pid: child.pid,
      startedByUs: true,
      source,
      exited: child.exited,
      stop: async () => {
        await child.stop(dataDir === undefined ? 'kill' : 'terminate');
        await tidy();
      },
    };
  } catch (error) {
    await tidy();
    throw error;
  }
}

async function lockDataDir(dataDir: string, onProgress?: ProgressListener): Promise<OwnerLock> {
  await mkdir(dataDir, { recursive: true });
  try {
    return await acquireOwnerLock(path.join(dataDir, 'temporal.lock'), {
      waitMs: DATA_DIR_WAIT_MS,
      onWait: (pid) =>
        onProgress?.(`Process ${pid} is still using the data directory; waiting for it to end.`),
    });
  } catch (error) {
    if (!(error instanceof LockHeldError)) throw error;
    throw new Error(
      `The data directory is in use by process ${error.ownerPid}. Two servers would corrupt the database. ` +
        'Stop that process or choose another data directory.',
    );
  }
}

async function launchWithRetries(
  options: StartTemporalServerOptions,
  plan: (port: number, uiPort: number | undefined) => Launch,
): Promise<{ launched: LaunchedServer; uiPort: number | undefined }> {
  const fixedUiPort = typeof options.ui === 'object' ? options.ui.port : undefined;
  for (const port of [options.port, fixedUiPort]) {
    if (port === undefined || (await isPortFree(port))) continue;
    throw new Error(
      `Port ${port} on 127.0.0.1 is in use. Stop the process that uses it, or choose another port.`,
    );
  }
  let timeoutMs = FIRST_START_MS;
  for (let attempt = 1; ; attempt += 1) {
    const uiPort = options.ui ? (fixedUiPort ?? (await freePort())) : undefined;
    try {
      const launched = await launchServer(plan(options.port ?? (await freePort()), uiPort), timeoutMs);
      return { launched, uiPort };
    } catch (error) {
      if (!(error instanceof LaunchError)) throw error;
      const again =
        error.kind === 'port' ? attempt < PORT_TRIES : error.kind === 'slow' && timeoutMs < SECOND_START_MS;
      if (!again) throw new Error(`The Temporal server did not start: ${error.message}`, { cause: error });
      if (error.kind === 'slow') timeoutMs = SECOND_START_MS;
      options.onProgress?.(`The Temporal server did not start (${error.message}); retrying.`);
    }
  }
}
