import { type Command } from 'commander';
import { badInput } from '../errors';
import { type CommandContext, type CommonOptions, withCommonOptions } from '../context';
import { durationOf } from '../paid-options';
import { withServer } from '../with-server';

interface OrphansOptions extends CommonOptions {
  readonly since?: string;
}

/** `orphans`: paid tasks whose workflow was terminated or timed out, and that nobody has fetched since. */
export function addOrphansCommand(program: Command, context: CommandContext): void {
  withCommonOptions(
    program
      .command('orphans')
      .description('find paid tasks whose workflow was terminated and that nobody fetches')
      .option(
        '--since <duration>',
        'only what was sent in this time: 12h, 7d (default: all that the journal has)',
      ),
  )
    .addHelpText('after', HELP)
    .action(async (options: OrphansOptions) => orphans(context, options));
}

const HELP = `
A worker reads its journal, and the Temporal server says how each workflow ended. Changes nothing. What is older than
the server keeps closed workflows is left out: nothing says how it ended.

Example:
  $ temporal-media orphans --since 7d -o json | jq -r '.data.orphans[].taskId'
`;

async function orphans(context: CommandContext, options: OrphansOptions): Promise<void> {
  const sinceMs = options.since === undefined ? undefined : durationOf(options.since);
  if (options.since !== undefined && sinceMs === undefined)
    throw badInput([{ field: '--since', message: 'must be a duration with its unit, such as 12h or 7d.' }]);
  await withServer(context, options, async (connected) => {
    const { findOrphans } = await import('../unconfirmed/orphans.js');
    await findOrphans(context, connected, sinceMs);
  });
}
