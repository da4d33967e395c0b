import { type Command } from 'commander';
import { type CommandContext, type CommonOptions, withCommonOptions, withServer } from '../shared/context';
import { badInput, CliError } from '../shared/errors';

/** Adds `status`, which shows what is known about a workflow id or task id, and what is safe to do. */
export function addStatusCommand(program: Command, context: CommandContext): void {
  withCommonOptions(
    program
      .command('status')
      .description(
        'find a video by workflow id or task id, and show its workflow, account, state, and what is safe to do',
      )
      .argument('<workflow-or-task-id>', 'id of the workflow, or of the task at the service'),
  )
    .addHelpText('after', HELP)
    .action(async (id: string, options: CommonOptions) => status(context, id, options));
}

const HELP = `
Searches the journal, then this namespace's histories, then queries the service (one GET, sent by a worker).
It is read-only: it never creates, cancels or pays for anything.

Examples:
  $ temporal-media status vid_0b1c
  $ temporal-media status sku-1 -o json | jq .data.state.nextPollAt
`;

async function status(context: CommandContext, id: string, options: CommonOptions): Promise<void> {
  const { report } = context;
  if (id.trim() === '') throw badInput([{ field: 'workflow-or-task-id', message: 'must not be empty.' }]);
  await withServer(context, options, async (connected, config) => {
    const { videoStatus } = await import('./run.js');
    const { statusLines } = await import('./run.js');
    const found = await videoStatus(connected, config, id);
    if (found === undefined) {
      const worker =
        (await connected.hasWorker()) === false
          ? ' No worker is running, so the service could not be queried.'
          : '';
      throw new CliError('not_found', `${id} is unknown in namespace ${connected.namespace}.${worker}`);
    }
    for (const line of statusLines(found, report.paintResult)) report.result(line);
    report.reply({ ok: true, data: found });
  });
}
