import path from 'node:path';
import { type Command } from 'commander';
import {
  type CommandContext,
  type CommonOptions,
  effectiveConfig,
  effectiveEnvironment,
  withCommonOptions,
} from '../shared/context';
import { CliError } from '../shared/errors';
import { onInterruption } from '../shared/interruption';
import { shellWord } from '../shared/text';

/** `dev`: runs server, sandbox and worker on this machine; Ctrl-C stops them. */
export function addDevCommand(program: Command, context: CommandContext): void {
  withCommonOptions(program.command('dev'))
    .description('run a Temporal server, a worker and, without MEDIA_BASE_URL, a sandbox service')
    .addHelpText('after', HELP)
    .option('--rebind', 'bind the task queue to the journal and the store here, in place of lost ones')
    .option('-y, --yes', 'agree to what --rebind gives up')
    .action(async (options: DevOptions) => dev(context, options));
}

const HELP = `
All state is kept in the data directory: a new start continues where the last one stopped, also after a kill.
Other commands with the same data directory connect to it automatically.

Examples:
  $ temporal-media dev
  $ MEDIA_BASE_URL=https://api.example.com MEDIA_API_KEY_FILE=key.txt temporal-media dev
`;

interface DevOptions extends CommonOptions {
  readonly rebind?: boolean;
  readonly yes?: boolean;
}

async function dev(context: CommandContext, options: DevOptions): Promise<void> {
  const { report } = context;
  const config = effectiveConfig(context, options);
  const interruption = onInterruption();
  const { startDev } = await import('./run.js');
  const rebind = options.rebind === true ? ['--rebind', ...(options.yes === true ? ['--yes'] : [])] : [];
  const env = effectiveEnvironment(context, options);
  const running = await startDev(config, env, (line) => report.say(line), rebind).catch((error: unknown) => {
    if (error instanceof CliError && error.reply.type === 'rebind_not_confirmed')
      report.say(
        `What the rebind gives up is listed at the end of ${path.join(config.dataDir, 'logs', 'worker.log')}.`,
      );
    throw error;
  });
  const { address, namespace, uiUrl, retention, sandbox, taskQueue, pids } = running.state;
  const server = `Temporal server ${address}, namespace ${namespace}, closed workflows are kept for ${retention}`;
  report.say(server);
  if (uiUrl !== null) report.say(`UI ${uiUrl}`);
  if (sandbox !== null) {
    report.say(`Sandbox service ${sandbox.url}: offline, costs nothing. For your own worker:`);
    report.say(
      `  export TEMPORAL_ADDRESS=${address} MEDIA_BASE_URL=${sandbox.url} MEDIA_API_KEY=sandbox-key`,
    );
    report.say(
      `  export MEDIA_MODELS=${sandbox.modelsUrl} MEDIA_ALLOWED_MEDIA_ORIGINS=${new URL(sandbox.mediaUrl).origin}`,
    );
    report.say(`  export MEDIA_TASK_QUEUE=films MEDIA_DATA_DIR=${shellWord(config.dataDir)}`);
  }
  if (pids.worker === undefined)
    report.say(
      `${report.paint('bad', 'No worker runs:')} its start is retried. Restore what it needs. If that is lost, stop this with Ctrl-C and start \`temporal-media dev --rebind\`, which lists what is given up.`,
    );
  void running.workerRuns.then(() => {
    const { pids: now } = running.state;
    report.say(
      `${report.paint('good', 'Ready:')} a worker (process ${now.worker ?? 'unknown'}) serves the task queue ${taskQueue}. Ctrl-C stops everything.`,
    );
    report.say(`In another terminal, in this directory (elsewhere with --data-dir ${config.dataDir}):`);
    for (const line of firstVideo(sandbox !== null)) report.say(line);
    const { dataDir } = config;
    report.ready({ address, namespace, uiUrl, retention, taskQueue, sandbox, dataDir, pids: now });
  });
  const ended = await Promise.race([interruption.happened, running.serverEnded]);
  report.say(
    'Stopping. A create in progress is finished first. Press Ctrl-C again to stop the worker immediately.',
  );
  const second = onInterruption();
  void second.happened.then(() => running.killWorker());
  await running.stop();
  second.dispose();
  if (typeof ended === 'string') {
    throw new CliError('temporal_server_ended', `The Temporal server ended unexpectedly (${ended}).`);
  }
  report.say('Stopped.');
}

/** The command to try first. Only the sandbox's models are known here. */
export function firstVideo(onSandbox: boolean): string[] {
  const model = onSandbox ? 'sketch-lite' : 'MODEL';
  const line = `  temporal-media video --model ${model} --prompt "a paper boat on a lake" --out out`;
  return onSandbox
    ? [line]
    : [
        `${line} --dry-run`,
        '  MODEL is an id of your service (`temporal-media models ls` lists those of MEDIA_MODELS); without --dry-run it costs what the service charges.',
      ];
}
