import { lookup } from 'node:dns/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { type Logger, type LogLevel } from '@temporalio/worker';
import { type Command, Option } from 'commander';
import { throwBug } from 'temporal-media/internal/domain/bug';
import { given } from 'temporal-media/internal/domain/json';
import { SERVED_PARTS, servedBy } from 'temporal-media/internal/domain/names';
import { keySecrets } from 'temporal-media/internal/service/endpoint';
import { proxySecrets } from 'temporal-media/internal/service/proxy-environment';
import { accountsOf, shortForm } from 'temporal-media/internal/settings/accounts';
import { ConfigurationError, readConfig } from 'temporal-media/internal/settings/config';
import { type MediaConfig } from 'temporal-media/worker';
import {
  type CommandContext,
  type CommonOptions,
  effectiveEnvironment,
  withCommonOptions,
} from '../shared/context';
import { CliError, storeSecrets } from '../shared/errors';
import { onInterruption } from '../shared/interruption';
import { noticesOfWorker } from './notices';
import { LOG_FORMATS, type LogFormat, redactedSink } from './text';

interface WorkerCommandOptions extends CommonOptions {
  readonly rebind?: boolean;
  readonly serve?: string;
  readonly yes?: boolean;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  readonly health?: string;
  readonly metrics?: string;
}

const LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'];

/**
 * Adds `worker`, which runs workflows and activities as configured in MEDIA_* and TEMPORAL_*, and drains on SIGTERM.
 */
export function addWorkerCommand(program: Command, context: CommandContext): void {
  withCommonOptions(program.command('worker'))
    .description('run a media worker, the only command that needs the key')
    .option(
      '--rebind',
      'bind the task queue to this journal instead of another one that no worker uses anymore',
    )
    .option('-y, --yes', 'confirm what --rebind gives up')
    .option(
      '--serve <parts>',
      'comma-separated parts to serve: workflows, create, poll, download, image (default: MEDIA_SERVE or all)',
    )
    .addOption(
      new Option('--log-level <level>', 'lowest level to log to stderr').choices(LEVELS).default('INFO'),
    )
    .addOption(
      new Option('--log-format <format>', 'format of the log lines')
        .choices(LOG_FORMATS)
        .env('MEDIA_LOG_FORMAT')
        .default('text'),
    )
    .addOption(
      new Option(
        '--health <address>',
        'host:port for health probes, or :port for all interfaces; serves /livez, and /readyz once the worker is ready',
      ).env('MEDIA_HEALTH_ADDRESS'),
    )
    .addOption(
      new Option(
        '--metrics <address>',
        'host:port for Prometheus metrics, or :port for all interfaces; serves /metrics',
      ).env('MEDIA_METRICS_ADDRESS'),
    )
    .addHelpText('after', HELP)
    .action(async (options: WorkerCommandOptions) => worker(context, options));
}

const HELP = `
Environment: MEDIA_BASE_URL, MEDIA_API_KEY or MEDIA_API_KEY_FILE, MEDIA_CREDENTIAL, MEDIA_ACCOUNTS, MEDIA_MODELS, MEDIA_UNKNOWN_MODELS,
MEDIA_CREATE_POLICY, MEDIA_TASK_QUEUE, MEDIA_DATA_DIR, MEDIA_ARTIFACTS, MEDIA_JOURNAL, MEDIA_JOURNAL_SHARED, MEDIA_HOST_ID,
MEDIA_EXTERNAL_STORAGE, MEDIA_EXTERNAL_STORAGE_THRESHOLD, MEDIA_DATA_CONVERTER,
MEDIA_INPUT_ROOTS, MEDIA_ALLOWED_MEDIA_ORIGINS, MEDIA_POLLING, MEDIA_POLL_CONNECTIONS, MEDIA_DOWNLOAD_CONNECTIONS, MEDIA_CREATES_PER_SECOND,
MEDIA_CACHED_WORKFLOWS, MEDIA_SERVE, MEDIA_NEXUS, MEDIA_DEPLOYMENT, MEDIA_HEALTH_ADDRESS, MEDIA_METRICS_ADDRESS, MEDIA_LOG_FORMAT, MEDIA_CACHE_BYTES, MEDIA_NOTIFY, TEMPORAL_*. In addition to its task queue
NAME, the worker polls NAME/create, NAME/poll, NAME/download and NAME/image for creates, polls, downloads and images. With
--serve, it polls only some of them. With \`--serve workflows\`, it needs neither the service nor its stores.
On SIGTERM, it drains: it finishes any create in progress, then exits.

Example:
  $ MEDIA_BASE_URL=https://api.example.com MEDIA_API_KEY_FILE=key.txt MEDIA_DATA_DIR=/var/lib/media temporal-media worker
`;

async function worker(context: CommandContext, options: WorkerCommandOptions): Promise<void> {
  const { report } = context;
  const config = configOf(context, options);
  const served = servedBy(config.serve);
  if (served.kinds.length > 0) refuseUnusable(config);
  refuseCodec(context.env);
  const interruption = onInterruption();
  const seen = new SeenKeys(config);
  // With 10,000 videos in flight, this setting used a quarter less memory (430 instead of 580 MiB) without using more
  // CPU.
  setFlagsFromString('--heap-growing-percent=50');
  const sink = redactedSink(options.logFormat, () => [
    ...(served.kinds.length > 0 ? seen.keys() : []),
    ...proxySecrets(context.env),
    ...storeSecrets(context.env),
  ]);
  const { metrics, logger } = await installRuntime(options, sink);
  const say = (line: string): void => {
    if (options.logFormat === 'json') logger.info(line);
    else report.say(line);
  };
  let isReady = async () => false;
  const health =
    options.health === undefined
      ? undefined
      : await serveHealth(options.health, { isReady: () => isReady() });
  const { createMediaWorker } = await import('temporal-media/worker');
  const { confirmRebind } = await import('../shared/confirm.js');
  const { dataConverterOf } = await import('../shared/data-converter.js');
  const dataConverter = await dataConverterOf(context.env, '', { usesCodec: false });
  const making = createMediaWorker({
    config,
    ...(dataConverter !== undefined && { worker: { dataConverter } }),
    ...(options.rebind === true && {
      rebind: (lost) => confirmRebind(report, config.taskQueue, lost, options.yes === true),
    }),
  }).catch(unreachable);
  const made = await Promise.race([making, interruption.happened]);
  // A worker that is still starting has not polled yet, so there is nothing to drain. It is stopped when the process
  // exits.
  if (made === undefined) return;
  const { taskQueue, queues, account, accounts } = made;
  say(
    `Ready: task queue ${taskQueue}${accounts.length === 0 ? '' : `, ${accounts.length === 1 ? 'account' : 'accounts'} ${accounts.join(', ')}`}. ${servedText(config, queues)}`,
  );
  isReady = () => made.isReady();
  report.ready({
    taskQueue,
    queues,
    account,
    accounts,
    pid: process.pid,
    ...given({ health: health?.address, metrics }),
  });
  const env = effectiveEnvironment(context, options);
  const stopNotices = noticesOfWorker({ env, config, dataConverter, logger });
  void interruption.happened.then(() => {
    isReady = async () => false;
    say('Draining: finishing work in progress.');
    made.shutdown();
  });
  await made.run();
  await (
    await stopNotices
  )?.();
}

/**
 * Configures the SDK's logger and its metrics exporter, which also exports our metrics.
 * @returns the logger, and the exporter's address, if any
 * @throws CliError
 */
async function installRuntime(
  options: WorkerCommandOptions,
  sink: ReturnType<typeof redactedSink>,
): Promise<{ readonly metrics: string | undefined; readonly logger: Logger }> {
  const { DefaultLogger, Runtime } = await import('@temporalio/worker');
  const { histogramBuckets } = await import('temporal-media/worker');
  const { withoutPayloads } = await import('temporal-media/worker');
  const bindAddress =
    options.metrics === undefined ? undefined : await socketAddress(options.metrics, 'MEDIA_METRICS_ADDRESS');
  try {
    Runtime.install({
      // This command handles signals, because a signal or a lost parent must also stop a worker that is still starting.
      shutdownSignals: [],
      logger: withoutPayloads(new DefaultLogger(options.logLevel, sink)),
      telemetryOptions: {
        ...(bindAddress !== undefined && {
          metrics: { prometheus: { bindAddress, histogramBucketOverrides: histogramBuckets() } },
        }),
        // The SDK core would write to the console itself, in its own format and without redaction.
        logging: { forward: {} },
      },
    });
  } catch (error) {
    if (bindAddress === undefined) throw error;
    throw new CliError('configuration', `Cannot listen on ${bindAddress} for metrics.`, {
      hint: 'Pass another port to --metrics, or stop the process that is listening there.',
    });
  }
  return { metrics: bindAddress, logger: Runtime.instance().logger };
}

/** @throws ConfigurationError */
function configOf(context: CommandContext, options: WorkerCommandOptions): MediaConfig {
  const env = effectiveEnvironment(context, options);
  return readConfig(options.serve === undefined ? env : { ...env, MEDIA_SERVE: options.serve });
}

function servedText({ serve, taskQueue }: MediaConfig, queues: readonly string[]): string {
  if (serve.length < SERVED_PARTS.length) return `Serves ${serve.join(', ')}: ${queues.join(', ')}.`;
  return `Also served: ${queues.filter((queue) => queue !== taskQueue).join(', ')}.`;
}

/** Rephrases connection errors, because the native client's errors lack the server's address. @throws always */
async function unreachable(error: unknown): Promise<never> {
  if (!(error instanceof Error) || error.name !== 'TransportError') throw error;
  const { loadClientConnectConfig } = await import('@temporalio/envconfig');
  const { address = 'localhost:7233' } = loadClientConnectConfig().connectionOptions;
  throw new CliError('temporal_unreachable', `No Temporal server responded at ${address}.`);
}

/**
 * Rejects a codec server, because its outage would fail activities that have already paid (docs/operations.md).
 * @throws ConfigurationError
 */
function refuseCodec(env: NodeJS.ProcessEnv): void {
  if (!env['TEMPORAL_CODEC_ENDPOINT']?.trim()) return;
  const message =
    'is set, but this command does not support codecs and cannot read what other commands encode. Create a worker in code with the codec in its dataConverter, or unset the variable here.';
  throw new ConfigurationError('TEMPORAL_CODEC_ENDPOINT', message);
}

/** @throws ConfigurationError for settings that would make the first paid call fail */
function refuseUnusable(config: MediaConfig): void {
  // An account in the file may temporarily lack its key. Its calls then wait, and other accounts keep working.
  if (config.accounts !== undefined) accountsOf(config);
  if (config.baseUrl === undefined && config.accounts !== undefined) return;
  if (config.baseUrl === undefined)
    throw new ConfigurationError(
      'MEDIA_BASE_URL',
      "is not set. Set it to the service's base URL, or set MEDIA_ACCOUNTS to a file with several accounts.",
    );
  shortForm(config);
  config.apiKey();
}

/**
 * The current and earlier keys of all accounts. A key that was replaced or cannot be read right now may still be valid.
 */
class SeenKeys {
  private readonly all = new Set<string>();

  constructor(private readonly config: MediaConfig) {}

  keys(): readonly string[] {
    const accounts = orNone(() => accountsOf(this.config));
    for (const { apiKey } of accounts)
      for (const key of orNone(() => keySecrets(apiKey()))) this.all.add(key);
    return [...this.all];
  }
}

function orNone<T>(read: () => readonly T[]): readonly T[] {
  try {
    return read();
  } catch (error) {
    throwBug(error);
    return [];
  }
}

/** A worker process's health. */
export interface Health {
  /**
   * Whether the process has bound its queues, polls them and can write to its journal. False while it starts or drains.
   * Never rejects.
   */
  readonly isReady: () => Promise<boolean>;
}

/** A listening health endpoint. */
export interface HealthEndpoint {
  /** `host:port`, with the actual port if 0 was requested. */
  readonly address: string;
  close(): void;
}

/**
 * Serves probes for Kubernetes and load balancers. `GET /livez` returns 200 whenever the process can respond. `GET
 * /readyz` returns 200 while the worker accepts work and can write the stores that its parts need, or 503 if it cannot.
 * Serves and reveals nothing else.
 * @param address `host:port` or `:port` (all interfaces)
 */
export async function serveHealth(address: string, health: Health): Promise<HealthEndpoint> {
  const { host, port } = parseListenAddress(address, 'MEDIA_HEALTH_ADDRESS');
  const server = createServer((request, response) => {
    void statusOf(request.url ?? '', health).then((status) => {
      response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' });
      response.end(status === 200 ? 'ok\n' : status === 503 ? 'not ready\n' : 'not found\n');
    });
  });
  await listening(server, host, port).catch((error: NodeJS.ErrnoException) => {
    throw new CliError('configuration', `Cannot listen on ${address} (${error.code ?? 'unknown'}).`, {
      hint: 'Pass another port to --health, or stop the process that is listening there.',
    });
  });
  // A probe must not keep a drained worker alive.
  server.unref();
  const bound = server.address() as AddressInfo;
  const name = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  return { address: `${name}:${bound.port}`, close: () => void server.close() };
}

async function statusOf(url: string, { isReady }: Health): Promise<200 | 404 | 503> {
  const [path] = url.split('?');
  if (path === '/livez') return 200;
  if (path !== '/readyz') return 404;
  return (await isReady()) ? 200 : 503;
}

async function listening(server: Server, host: string | undefined, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...given({ host }) }, resolve);
  });
}

/** An address for the worker to listen on. */
interface ListenAddress {
  /** Undefined for all interfaces. */
  readonly host: string | undefined;
  readonly port: number;
}

/**
 * Reads `host:port`, or `:port` for all interfaces.
 * @param variable name for the error message
 * @throws CliError
 */
export function parseListenAddress(address: string, variable: string): ListenAddress {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]*)):(\d{1,5})$/i.exec(address);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535)
    throw new CliError('configuration', `${variable}: must be host:port, or :port for all interfaces.`);
  const host = match[1] ?? match[2];
  return { host: host === '' ? undefined : host, port };
}

/** Converts an address to `ip:port`, for a server that does not resolve names. @throws CliError */
export async function socketAddress(address: string, variable: string): Promise<string> {
  const { host, port } = parseListenAddress(address, variable);
  if (port === 0)
    throw new CliError('configuration', `${variable}: must have a fixed port for the scraper, not 0.`);
  if (host === undefined) return `0.0.0.0:${port}`;
  const found = await lookup(host).catch((error: unknown) => {
    throwBug(error);
    throw new CliError('configuration', `${variable}: the host name cannot be resolved here.`);
  });
  return found.family === 6 ? `[${found.address}]:${port}` : `${found.address}:${port}`;
}
