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

/** Adds `dev`, which runs a server, a sandbox and a worker on this machine until Ctrl-C. */
export function addDevCommand(program: Command, context: CommandContext): void {
  withCommonOptions(program.command('dev'))
    .description('run a Temporal server, a worker and, without MEDIA_BASE_URL, a sandbox service')
    .addHelpText('after', HELP)
    .option('--rebind', 'bind the task queue to the journal and artifact store here if the old ones are lost')
    .option('-y, --yes', 'confirm what --rebind gives up')
    .action(async (options: DevOptions) => dev(context, options));
}

const HELP = `
All state is kept in the data directory. A restart continues where the last run stopped, even after a kill.
Other commands that use the same data directory connect automatically.

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
        `The end of this log lists what a rebind gives up: ${path.join(config.dataDir, 'logs', 'worker.log')}`,
      );
    throw error;
  });
  const { address, namespace, uiUrl, retention, sandbox, taskQueue, pids } = running.state;
  const server = `Temporal server ${address}, namespace ${namespace}; it keeps closed workflows for ${retention}`;
  report.say(server);
  if (uiUrl !== null) report.say(`UI ${uiUrl}`);
  if (sandbox !== null) {
    report.say(`Sandbox service ${sandbox.url}: offline and free of charge. To use it with your own worker:`);
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
      `${report.paint('bad', 'No worker is running:')} it did not start and will be retried. Restore the missing journal or store. If it is lost, press Ctrl-C and run \`temporal-media dev --rebind\`, which first lists what you give up.`,
    );
  void running.workerRuns.then(() => {
    const { pids: now } = running.state;
    report.say(
      `${report.paint('good', 'Ready:')} a worker (process ${now.worker ?? 'unknown'}) is polling task queue ${taskQueue}. Ctrl-C stops everything.`,
    );
    report.say(
      `In another terminal, in this directory (or elsewhere with --data-dir ${config.dataDir}), run:`,
    );
    for (const line of firstVideo(sandbox !== null)) report.say(line);
    const { dataDir } = config;
    report.ready({ address, namespace, uiUrl, retention, taskQueue, sandbox, dataDir, pids: now });
  });
  const ended = await Promise.race([interruption.happened, running.serverEnded]);
  report.say('Stopping after any create in progress. Press Ctrl-C again to stop the worker immediately.');
  const second = onInterruption();
  void second.happened.then(() => running.killWorker());
  await running.stop();
  second.dispose();
  if (typeof ended === 'string') {
    throw new CliError('temporal_server_ended', `The Temporal server ended unexpectedly (${ended}).`);
  }
  report.say('Stopped.');
}

/** Returns a first command to try. Only the sandbox's models are known here. */
export function firstVideo(onSandbox: boolean): string[] {
  const model = onSandbox ? 'sketch-lite' : 'MODEL';
  const line = `  temporal-media video --model ${model} --prompt "a paper boat on a lake" --out out`;
  return onSandbox
    ? [line]
    : [
        `${line} --dry-run`,
        "  MODEL is one of your service's models (`temporal-media models ls` lists those in MEDIA_MODELS). Without --dry-run, the service charges for the video.",
      ];
}
