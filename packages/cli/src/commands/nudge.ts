import { type Command } from 'commander';
import { badInput, CliError } from '../errors';
import { type CommandContext, type CommonOptions, withCommonOptions, withServer } from '../context';
import { commandFor } from '../text';

/** `nudge`: brings the next poll of a video forward. */
export function addNudgeCommand(program: Command, context: CommandContext): void {
  withCommonOptions(
    program
      .command('nudge')
      .description('poll a video now because it may be done; never sooner than its model allows')
      .argument('<workflow-or-task-id>', 'id of the workflow, or of the task at the service'),
  )
    .addHelpText('after', HELP)
    .action(async (id: string, options: CommonOptions) => nudge(context, id, options));
}

const HELP = `
For whoever hears by other means, such as a webhook, that a task may be done. The poll decides what it is. It keeps the
shortest interval of the model, Retry-After and the pause after an error.

Example:
  $ temporal-media nudge vid_0b1c
`;

async function nudge(context: CommandContext, id: string, options: CommonOptions): Promise<void> {
  const { report } = context;
  if (id.trim() === '') throw badInput([{ field: 'workflow-or-task-id', message: 'must not be empty.' }]);
  await withServer(context, options, async ({ media }) => {
    if (!(await media.nudge(id)))
      throw new CliError('not_found', `No workflow waits for ${id}.`, {
        hint: `\`${commandFor('status', id)}\` shows what is known about it.`,
      });
    report.result('Its next poll is due.');
    report.reply({ ok: true, data: { id } });
  });
}
