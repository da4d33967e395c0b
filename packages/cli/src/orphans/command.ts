import { type Command } from 'commander';
import { type CommandContext, type CommonOptions, withCommonOptions, withServer } from '../shared/context';
import { badInput } from '../shared/errors';
import { durationOf } from '../shared/paid-options';

interface OrphansOptions extends CommonOptions {
  readonly since?: string;
}

/** Adds `orphans`, which finds paid tasks whose workflow was closed externally and that no other workflow fetches. */
export function addOrphansCommand(program: Command, context: CommandContext): void {
  withCommonOptions(
    program
      .command('orphans')
      .description('find paid tasks whose workflow was terminated and that no other workflow fetches')
      .option(
        '--since <duration>',
        'only tasks sent within this period: 12h, 7d (default: all in the journal)',
      ),
  )
    .addHelpText('after', HELP)
    .action(async (options: OrphansOptions) => orphans(context, options));
}

const HELP = `
A worker reads its journal, and the Temporal server reports how each workflow ended. This command changes nothing. It omits
tasks older than the namespace's retention, because the server no longer knows how their workflows ended.

Example:
  $ temporal-media orphans --since 7d -o json | jq -r '.data.orphans[].taskId'
`;

async function orphans(context: CommandContext, options: OrphansOptions): Promise<void> {
  const sinceMs = options.since === undefined ? undefined : durationOf(options.since);
  if (options.since !== undefined && sinceMs === undefined)
    throw badInput([{ field: '--since', message: 'must be a duration with a unit, such as 12h or 7d.' }]);
  await withServer(context, options, async (connected) => {
    const { findOrphans } = await import('./run.js');
    await findOrphans(context, connected, sinceMs);
  });
}
