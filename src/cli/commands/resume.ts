import { type Command } from 'commander';
import { DEFAULT_WAIT_MS } from '../../domain/timeouts';
import {
  type CommandContext,
  type CommonOptions,
  effectiveConfig,
  effectiveEnvironment,
  withCommonOptions,
} from '../command-context';
import { badInput } from '../cli-error';
import { given } from '../given';
import { openStore, waitForOf, waitMsOf } from '../paid-options';
import { commandFor } from '../shell-word';

interface ResumeOptions extends CommonOptions {
  readonly waitFor?: string;
  readonly out: string;
}

/** `resume`: goes on waiting for a video; polls and downloads only, never creates. */
export function addResumeCommand(program: Command, context: CommandContext): void {
  withCommonOptions(
    program
      .command('resume')
      .description('go on waiting for a video and save the file; never creates anything')
      .argument('<workflow-or-task-id>', 'id of the workflow, or of the task at the service')
      .option(
        '--wait-for <duration>',
        'how long to wait before the command leaves it running: 90s, 15m, 2h, 3d (default: 15m)',
      )
      .option('--out <dir>', 'directory of the file', '.'),
  )
    .addHelpText('after', HELP)
    .action(async (id: string, options: ResumeOptions) => resume(context, id, options));
}

const HELP = `
A workflow that still runs is attached to. Ctrl-C detaches; nothing is cancelled.

Example:
  $ temporal-media resume sku-1 --wait-for 2h --out out
`;

async function resume(context: CommandContext, id: string, options: ResumeOptions): Promise<void> {
  if (id.trim() === '') throw badInput([{ field: 'workflow-or-task-id', message: 'must not be empty.' }]);
  const waitFor = waitForOf(options.waitFor);
  const config = effectiveConfig(context, options);
  const { runPaid } = await import('../run-paid.js');
  await runPaid(context, {
    config,
    store: openStore(config),
    id,
    out: options.out,
    env: effectiveEnvironment(context, options),
    showState: true,
    waitMs: waitMsOf(waitFor) ?? DEFAULT_WAIT_MS,
    announce: `Looking for ${id}`,
    resumeHint: commandFor('resume', id),
    start: (media) => media.resume(id, given({ waitFor })),
  });
}
