import { type Command } from 'commander';
import { type CommandContext, type CommonOptions, withCommonOptions, withServer } from '../context';

interface SetupOptions extends CommonOptions {
  readonly dryRun?: boolean;
}

/** `setup`: makes a namespace ready for search attributes. */
export function addSetupCommand(program: Command, context: CommandContext): void {
  withCommonOptions(
    program
      .command('setup')
      .description('register the search attributes of this package in the namespace; once, safe to repeat')
      .option('--dry-run', 'only show which are missing'),
  )
    .addHelpText('after', HELP)
    .action(async (options: SetupOptions) => {
      await withServer(context, options, async (connected) => {
        const { setUp } = await import('../setup.js');
        await setUp(context, connected, options.dryRun === true);
      });
    });
}

const HELP = `
MediaOutcome, MediaModel, MediaAccount, MediaTaskId and MediaCampaign, all of the type Keyword. With
MEDIA_SEARCH_ATTRIBUTES=1 the commands that start something give them to their workflows, and so does
\`new TemporalMediaClient(client, { searchAttributes: true })\`. In the web UI, or by the Temporal CLI:
  MediaOutcome = "unconfirmed" AND CloseTime > "2026-11-24"

Example:
  $ temporal-media setup && export MEDIA_SEARCH_ATTRIBUTES=1
`;
