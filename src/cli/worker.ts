import { join } from 'node:path';
import { inspect } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { type LogEntry, type LogLevel } from '@temporalio/worker';
import { type Command, Option } from 'commander';
import { accountsOf } from '../accounts/account-config';
import { ConfigurationError, type MediaConfig, readConfig } from '../config';
import { keySecrets } from '../service/credentials';
import { normaliseBaseUrl } from '../service/base-url';
import { proxySecrets } from '../service/proxy-environment';
import { createRedactor } from '../service/redact';
import { SERVED_PARTS, servedBy } from '../worker/served-parts';
import { type CommandContext, type CommonOptions, effectiveEnvironment, withCommonOptions } from './context';
import { CliError } from './errors';
import { serveHealth } from './health';
import { onInterruption } from './interruption';
import { storeSecrets } from './store-secrets';

interface WorkerCommandOptions extends CommonOptions {
  readonly rebind?: boolean;
  readonly serve?: string;
  readonly yes?: boolean;
  readonly logLevel: LogLevel;
  readonly health?: string;
}

const LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'];

/** `worker`: runs activities and workflows from MEDIA_* and TEMPORAL_* until SIGTERM, then drains. */
export function addWorkerCommand(program: Command, context: CommandContext): void {
  withCommonOptions(program.command('worker'))
    .description('run a media worker; the only command that needs the key')
    .option(
      '--rebind',
      'bind the task queue to this journal instead of another one that no worker uses any more',
    )
    .option('-y, --yes', 'agree to what --rebind gives up')
    .option(
      '--serve <parts>',
      'serve these parts only, comma-separated: workflows, create, poll, download, image (default: MEDIA_SERVE, else all)',
    )
    .addOption(
      new Option('--log-level <level>', 'lowest level that is logged to stderr')
        .choices(LEVELS)
        .default('INFO'),
    )
    .addOption(
      new Option(
        '--health <address>',
        'answer probes here: /livez, and /readyz once it takes work; host:port, or :port for all interfaces',
      ).env('MEDIA_HEALTH_ADDRESS'),
    )
    .addHelpText('after', HELP)
    .action(async (options: WorkerCommandOptions) => worker(context, options));
}

const HELP = `
Environment: MEDIA_BASE_URL, MEDIA_API_KEY or MEDIA_API_KEY_FILE, MEDIA_CREDENTIAL, MEDIA_ACCOUNTS, MEDIA_MODELS, MEDIA_UNKNOWN_MODELS,
MEDIA_CREATE_POLICY, MEDIA_TASK_QUEUE, MEDIA_DATA_DIR, MEDIA_ARTIFACTS, MEDIA_JOURNAL, MEDIA_JOURNAL_SHARED, MEDIA_HOST_ID,
MEDIA_INPUT_ROOTS, MEDIA_ALLOWED_MEDIA_ORIGINS, MEDIA_POLL_CONNECTIONS, MEDIA_DOWNLOAD_CONNECTIONS, MEDIA_CREATES_PER_SECOND,
MEDIA_SERVE, MEDIA_NEXUS, MEDIA_HEALTH_ADDRESS, MEDIA_CACHE_BYTES, TEMPORAL_*. Besides its task queue NAME it serves NAME/create, NAME/poll,
NAME/download and NAME/image, on which creates, polls, downloads and images run. With --serve it serves some of them, and
with \`--serve workflows\` it needs neither the service nor its stores.
On SIGTERM it drains: it finishes a create that is under way, then exits.

Example:
  $ MEDIA_BASE_URL=https://api.example.com MEDIA_API_KEY_FILE=key.txt temporal-media worker
`;

async function worker(context: CommandContext, options: WorkerCommandOptions): Promise<void> {
  const { report } = context;
  const config = configOf(context, options);
  const served = servedBy(config.serve);
  if (served.kinds.length > 0) refuseUnusable(config);
  refuseCodec(context.env);
  const interruption = onInterruption();
  const seen = new SeenKeys(config);
  // Measured with 10,000 videos in flight: a quarter less memory (430 instead of 580 MiB), and no more CPU.
  setFlagsFromString('--heap-growing-percent=50');
  const { DefaultLogger, Runtime } = await import('@temporalio/worker');
  Runtime.install({
    // This command handles signals: they must also end a worker that is still starting, and so must a lost parent.
    shutdownSignals: [],
    logger: new DefaultLogger(
      options.logLevel,
      redactedSink(() => [
        ...(served.kinds.length > 0 ? seen.keys() : []),
        ...proxySecrets(context.env),
        ...storeSecrets(context.env),
      ]),
    ),
  });
  let isReady = false;
  const health =
    options.health === undefined ? undefined : await serveHealth(options.health, { isReady: () => isReady });
  const { createMediaWorker } = await import('../worker.js');
  const { cachedWorkflowBundle } = await import('../workflow-bundle.js');
  const { confirmRebind } = await import('./confirm-rebind.js');
  const bundling = served.workflows
    ? cachedWorkflowBundle(join(config.dataDir, 'cache'), (because) =>
        report.say(`Bundling the workflow code: ${because}.`),
      )
    : Promise.resolve(undefined);
  const making = bundling.then((workflowBundle) =>
    createMediaWorker({
      config,
      ...(workflowBundle !== undefined && { workflows: { workflowBundle } }),
      ...(options.rebind === true && {
        rebind: (lost) => confirmRebind(report, config.taskQueue, lost, options.yes === true),
      }),
    }).catch(unreachable),
  );
  const made = await Promise.race([making, interruption.happened]);
  // Nothing has been polled yet, so there is nothing to drain; a worker that is still starting ends with the process.
  if (made === undefined) return;
  const { taskQueue, queues, account, accounts } = made;
  report.say(
    `Ready: task queue ${taskQueue}${accounts.length === 0 ? '' : `, ${accounts.length === 1 ? 'account' : 'accounts'} ${accounts.join(', ')}`}. ${servedText(config, queues)}`,
  );
  isReady = true;
  report.ready({
    taskQueue,
    queues,
    account,
    accounts,
    pid: process.pid,
    ...(health !== undefined && { health: health.address }),
  });
  void interruption.happened.then(() => {
    isReady = false;
    report.say('Draining: what is under way is finished.');
    made.shutdown();
  });
  await made.run();
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

/** Rewords connection errors: those of the native client name neither the server nor a remedy. @throws always */
async function unreachable(error: unknown): Promise<never> {
  if (!(error instanceof Error) || error.name !== 'TransportError') throw error;
  const { loadClientConnectConfig } = await import('@temporalio/envconfig');
  const { address = 'localhost:7233' } = loadClientConnectConfig().connectionOptions;
  throw new CliError('temporal_unreachable', `No Temporal server answers at ${address}.`);
}

/**
 * Refuses a codec server: a short outage of it would end activities that have paid (docs/operations.md).
 * @throws ConfigurationError
 */
function refuseCodec(env: NodeJS.ProcessEnv): void {
  if (!env['TEMPORAL_CODEC_ENDPOINT']?.trim()) return;
  const message =
    'is set, and this command has no codec: it could not read what other commands encode. Make a worker in code, with the codec itself in its dataConverter, or remove the variable here.';
  throw new ConfigurationError('TEMPORAL_CODEC_ENDPOINT', message);
}

/** @throws ConfigurationError for a setting that would otherwise fail at the first paid call. */
function refuseUnusable(config: MediaConfig): void {
  // Each account of the file may lack its key for now: its calls wait, those of the others go on.
  if (config.accounts !== undefined) accountsOf(config);
  if (config.baseUrl === undefined && config.accounts !== undefined) return;
  if (config.baseUrl === undefined)
    throw new ConfigurationError(
      'MEDIA_BASE_URL',
      'is not set. Set it to the base address of the service, or MEDIA_ACCOUNTS to a file with several accounts.',
    );
  try {
    normaliseBaseUrl(config.baseUrl);
  } catch (error) {
    throw new ConfigurationError('MEDIA_BASE_URL', (error as Error).message);
  }
  config.apiKey();
}

const KEYS_EVERY_MS = 1_000;

/** The keys of all accounts, and those that they had: one that was replaced may still be valid, and so is one that cannot be read now. */
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
  } catch {
    return [];
  }
}

/**
 * Writes log lines to stderr without keys, cookies and signed addresses (C5.4a, C5.4b): the SDK and code of users write
 * to the same log.
 */
function redactedSink(secrets: () => readonly string[]): (entry: LogEntry) => void {
  let redactor = createRedactor(secrets());
  let madeAt = performance.now();
  return ({ timestampNanos, level, message, meta }) => {
    // Keys may be replaced while the worker runs.
    if (performance.now() - madeAt >= KEYS_EVERY_MS)
      [redactor, madeAt] = [createRedactor(secrets()), performance.now()];
    const at = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
    const more = meta === undefined || Object.keys(meta).length === 0 ? '' : ` ${inspect(meta)}`;
    process.stderr.write(redactor.page(Buffer.from(`${at} [${level}] ${message}${more}\n`)));
  };
}
