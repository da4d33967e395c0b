import { readFile } from 'node:fs/promises';
import { type FaultRule } from '@temporal-media/sandbox';
import { type Command, Option } from 'commander';
import { throwBug } from 'temporal-media/internal/domain/bug';
import { given } from 'temporal-media/internal/domain/json';
import { collect, type CommandContext } from '../shared/context';
import { CliError } from '../shared/errors';
import { onInterruption } from '../shared/interruption';
import { withOutputOptions } from '../shared/report';

interface SandboxCommandOptions {
  readonly port?: string;
  readonly mediaPort?: string;
  readonly dataDir?: string;
  readonly faults?: readonly string[];
  readonly key?: readonly string[];
  readonly pathPrefix?: string;
  readonly mode?: string;
  readonly idempotency?: string;
  readonly log?: boolean;
}

/** Adds `sandbox`, which runs a local service that implements the contract, until Ctrl-C. */
export function addSandboxCommand(program: Command, context: CommandContext): void {
  withOutputOptions(program.command('sandbox'))
    .description('run the sandbox service in the foreground')
    .option('--port <port>', 'port for the service (default: a free port)')
    .option(
      '--media-port <port>',
      'port for the second origin, which serves signed URLs (default: a free port)',
    )
    .option('--data-dir <dir>', 'directory for state that survives restarts (default: in memory)')
    .option('--faults <file>', 'JSON file with fault rules; can be repeated', collect)
    .option('--key <key>', 'accepted API key; can be repeated (default: sandbox-key)', collect)
    .option('--path-prefix <path>', 'path prefix of the base URL')
    .addOption(
      new Option(
        '--mode <mode>',
        'strict follows the contract; compat also accepts and returns what published clients and services send',
      )
        .choices(['strict', 'compat'])
        .default('strict'),
    )
    .addOption(
      new Option('--idempotency <mode>', "how to handle a paid call's Idempotency-Key header")
        .choices(['ignored', 'honoured', 'claimed'])
        .default('ignored'),
    )
    .option('--log', 'log one line per request to stderr')
    .addHelpText('after', HELP)
    .action(async (options: SandboxCommandOptions) => sandbox(context, options));
}

const HELP = `
Prompts can contain directives such as [fail:moderation], [lost-reply], [run:30s] or [http:429:2].

Examples:
  $ temporal-media sandbox --port 8088
  $ temporal-media sandbox --mode compat
  $ MEDIA_BASE_URL=http://127.0.0.1:8088 MEDIA_API_KEY=sandbox-key temporal-media worker
`;

async function sandbox(context: CommandContext, options: SandboxCommandOptions): Promise<void> {
  const { report } = context;
  const interruption = onInterruption();
  const { createSandbox } = await import('@temporal-media/sandbox');
  const faults = await readFaults(options.faults ?? []);
  const running = await createSandbox({
    ...given({
      port: port('--port', options.port),
      mediaPort: port('--media-port', options.mediaPort),
      dataDir: options.dataDir,
      pathPrefix: options.pathPrefix,
      log: options.log,
      idempotency: options.idempotency as 'ignored' | 'honoured' | 'claimed' | undefined,
      mode: options.mode as 'strict' | 'compat' | undefined,
      apiKeys: options.key === undefined ? undefined : [...options.key],
    }),
    faults,
  }).catch((error: unknown) => {
    throw startError(error);
  });
  const { url, mediaUrl, modelsUrl, adminUrl } = running;
  report.say(`Sandbox service ${url} (media ${mediaUrl}, counters ${adminUrl}/counters)`);
  report.say(`To use it with a worker: MEDIA_BASE_URL=${url} MEDIA_MODELS=${modelsUrl}`);
  report.say(`                         MEDIA_ALLOWED_MEDIA_ORIGINS=${mediaUrl} MEDIA_API_KEY=<the key>`);
  report.ready({ url, mediaUrl, modelsUrl, adminUrl });
  await interruption.happened;
  await running.close();
}

function port(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (Number.isInteger(number) && number >= 0 && number < 65_536) return number;
  throw new CliError('usage', `${option} must be a port number.`, { hint: 'For example 8088.' });
}

async function readFaults(files: readonly string[]): Promise<FaultRule[]> {
  const { readFaultRules } = await import('@temporal-media/sandbox/internal/faults');
  const rules = files.map(async (file) => {
    try {
      return readFaultRules(JSON.parse(await readFile(file, 'utf8')));
    } catch (error) {
      throwBug(error);
      throw new CliError('bad_input', `--faults: ${file}: ${(error as Error).message}`, {
        hint: 'For example [{"operation":"poll","times":2,"action":{"type":"status","status":503}}]; `temporal-media schema faults` describes every rule.',
      });
    }
  });
  return (await Promise.all(rules)).flat();
}

function startError(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== 'EADDRINUSE' && code !== 'EACCES') return error;
  return new CliError('port_in_use', message);
}
