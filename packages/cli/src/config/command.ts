import { type Command } from 'commander';
import { type CommandContext, type CommonOptions, withCommonOptions } from '../shared/context';

/** Adds `config`, which shows every setting and its source. */
export function addConfigCommand(program: Command, context: CommandContext): void {
  const config = program.command('config').description('show every value in effect and its source');
  withCommonOptions(config.command('show', { isDefault: true }).description('list all values'))
    .addHelpText('after', HELP)
    .action(async (options: CommonOptions) => {
      const { showConfig } = await import('./run.js');
      await showConfig(context, options);
    });
}

const HELP = `
Order of precedence: flag, environment, a running \`temporal-media dev\` with this data directory, Temporal's
configuration file, default. Keys are never shown, not even partly. URLs are shown without user info and query.
All values are printed, even if some are invalid; the exit code is then 78. This command does not use the network. To
check connections, run \`temporal-media doctor\`.

Examples:
  $ temporal-media config show
  $ temporal-media config show --json | jq '.data.values[] | select(.origin != "default")'
`;
