import { join } from 'node:path';
import { inspect } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { type LogEntry, type LogLevel } from '@temporalio/worker';
import { type Command, Option } from 'commander';
import { ConfigurationError, type MediaConfig } from '../config';
import { keySecrets } from '../service/credentials';
import { normaliseBaseUrl } from '../service/base-url';
import { proxySecrets } from '../service/proxy-environment';
import { createRedactor } from '../service/redact';
import { type CommandContext, type CommonOptions, effectiveConfig, withCommonOptions } from './context';
import { CliError } from './errors';
import { onInterruption } from './interruption';

interface WorkerCommandOptions extends CommonOptions {
  readonly rebind?: boolean;
  readonly yes?: boolean;
  readonly logLevel: LogLevel;
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
    .addOption(
      new Option('--log-level <level>', 'lowest level that is logged to stderr')
        .choices(LEVELS)
        .default('INFO'),
    )
    .addHelpText('after', HELP)
    .action(async (options: WorkerCommandOptions) => worker(context, options));
}

const HELP = `
Environment: MEDIA_BASE_URL, MEDIA_API_KEY or MEDIA_API_KEY_FILE, MEDIA_MODELS, MEDIA_TASK_QUEUE, MEDIA_DATA_DIR,
MEDIA_ARTIFACTS, MEDIA_JOURNAL, MEDIA_HOST_ID, MEDIA_INPUT_ROOTS, MEDIA_ALLOWED_MEDIA_ORIGINS, MEDIA_POLL_CONNECTIONS,
MEDIA_DOWNLOAD_CONNECTIONS, MEDIA_CREATES_PER_SECOND, TEMPORAL_*. Besides its task queue NAME it serves NAME/create, NAME/poll,
NAME/download and NAME/image, on which creates, polls, downloads and images run.
On SIGTERM it drains: it finishes a create that is under way, then exits.

Example:
  $ MEDIA_BASE_URL=https://api.example.com MEDIA_API_KEY_FILE=key.txt temporal-media worker
`;

async function worker(context: CommandContext, options: WorkerCommandOptions): Promise<void> {
  const { report } = context;
  const config = effectiveConfig(context, options);
  refuseUnusable(config);
  refuseCodec(context.env);
  const interruption = onInterruption();
  // Measured with 10,000 videos in flight: a quarter less memory (430 instead of 580 MiB), and no more CPU.
  setFlagsFromString('--heap-growing-percent=50');
  const { DefaultLogger, Runtime } = await import('@temporalio/worker');
  Runtime.install({
    // This command handles signals: they must also end a worker that is still starting, and so must a lost parent.
    shutdownSignals: [],
    logger: new DefaultLogger(
      options.logLevel,
      redactedSink([...keySecrets(config.apiKey()), ...proxySecrets(context.env)]),
    ),
  });
  const { createMediaWorker } = await import('../worker.js');
  const { cachedWorkflowBundle } = await import('../workflow-bundle.js');
  const { confirmRebind } = await import('./confirm-rebind.js');
  const making = cachedWorkflowBundle(join(config.dataDir, 'cache'), (because) =>
    report.say(`Bundling the workflow code: ${because}.`),
  ).then((workflowBundle) =>
    createMediaWorker({
      config,
      workflows: { workflowBundle },
      ...(options.rebind === true && {
        rebind: (lost) => confirmRebind(report, config.taskQueue, lost, options.yes === true),
      }),
    }).catch(unreachable),
  );
  const made = await Promise.race([making, interruption.happened]);
  // Nothing has been polled yet, so there is nothing to drain; a worker that is still starting ends with the process.
  if (made === undefined) return;
  const { taskQueue, queues, account } = made;
  report.say(
    `Ready: task queue ${taskQueue}, account ${account}. Also served: ${queues.slice(1).join(', ')}.`,
  );
  report.ready({ taskQueue, queues, account, pid: process.pid });
  void interruption.happened.then(() => {
    report.say('Draining: what is under way is finished.');
    made.shutdown();
  });
  await made.run();
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
  if (config.baseUrl === undefined)
    throw new ConfigurationError('MEDIA_BASE_URL', 'is not set. Set it to the base address of the service.');
  try {
    normaliseBaseUrl(config.baseUrl);
  } catch (error) {
    throw new ConfigurationError('MEDIA_BASE_URL', (error as Error).message);
  }
  config.apiKey();
}

/**
 * Writes log lines to stderr without keys, cookies and signed addresses (C5.4a, C5.4b): the SDK and code of users write
 * to the same log.
 */
function redactedSink(secrets: readonly string[]): (entry: LogEntry) => void {
  const redactor = createRedactor(secrets);
  return ({ timestampNanos, level, message, meta }) => {
    const at = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
    const more = meta === undefined || Object.keys(meta).length === 0 ? '' : ` ${inspect(meta)}`;
    process.stderr.write(redactor.page(Buffer.from(`${at} [${level}] ${message}${more}\n`)));
  };
}
