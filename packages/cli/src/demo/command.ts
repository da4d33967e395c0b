import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Command } from 'commander';
import { type CommandContext } from '../shared/context';
import { CliError } from '../shared/errors';
import { type Interruption, onInterruption } from '../shared/interruption';
import { prepareOut } from '../shared/output-files';
import { withOutputOptions } from '../shared/report';

interface DemoOptions {
  readonly out: string;
  readonly dataDir?: string;
  readonly keep?: boolean;
}

/** Adds `demo`, which runs all cases concurrently against a sandbox and checks each outcome. */
export function addDemoCommand(program: Command, context: CommandContext): void {
  withOutputOptions(program.command('demo'))
    .description('run every case against a sandbox: videos, images, failures, a lost reply, a killed worker')
    .option('--out <dir>', 'directory for the generated files', 'out')
    .option('--data-dir <dir>', 'directory for the database, journal and logs (default: a temporary one)')
    .option('--keep', 'keep everything running until Ctrl-C, for inspection in the UI')
    .addHelpText(
      'after',
      '\nThe demo never calls a real service.\n\nExample:\n  $ temporal-media demo --out out\n',
    )
    .action(async (options: DemoOptions) => {
      const interruption = onInterruption();
      const temporary =
        options.dataDir === undefined ? await mkdtemp(join(tmpdir(), 'temporal-media-demo-')) : undefined;
      try {
        await demo(context, options, temporary ?? resolve(options.dataDir ?? '.'), interruption);
        if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
      } catch (error) {
        if (temporary !== undefined) context.report.say(`Logs and data are kept in ${temporary}.`);
        throw error;
      } finally {
        interruption.dispose();
      }
    });
}

async function demo(
  { env, report }: CommandContext,
  options: DemoOptions,
  dataDir: string,
  interruption: Interruption,
): Promise<void> {
  const out = await prepareOut(options.out);
  const say = (line: string): void => (report.machine ? report.say(line) : report.result(line));
  const { openEnvironment } = await import('./run.js');
  const { runDemo } = await import('./run.js');
  const open = await openEnvironment({ dataDir, persistent: options.dataDir !== undefined, out, env, say });
  try {
    const { uiUrl, address, namespace } = open.server;
    say(`Temporal server ${address}, namespace ${namespace}${uiUrl === undefined ? '' : `, UI ${uiUrl}`}`);
    const result = await Promise.race([runDemo(open, out), interruption.happened]);
    if (result === undefined) throw interrupted();
    for (const { ok, what, expected, seen } of result.checks)
      say(`${ok ? 'ok  ' : 'FAIL'} ${what}: ${seen}${ok ? '' : ` (expected ${expected})`}`);
    say(`Files: ${out}. The cases took ${result.seconds} s.`);
    const data = { uiUrl: uiUrl ?? null, out, ...result };
    if (!result.ok) throw failed(data);
    report.reply({ ok: true, data });
    if (options.keep === true) {
      say(`Everything keeps running until Ctrl-C${uiUrl === undefined ? '' : `; UI ${uiUrl}`}`);
      await interruption.happened;
    }
  } finally {
    await open.close();
  }
}

function failed(data: object): CliError {
  const message = 'Some results were not as expected. See the lines marked FAIL.';
  return new CliError('demo_failed', message, { data });
}

function interrupted(): CliError {
  const message = 'Interrupted. Everything that the demo started has been stopped.';
  return new CliError('interrupted', message, { hint: '' });
}
