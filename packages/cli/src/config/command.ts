import { type Command } from 'commander';
import { type CommandContext, type CommonOptions, withCommonOptions } from '../shared/context';

/** `config`: shows what is configured and where each value comes from. */
export function addConfigCommand(program: Command, context: CommandContext): void {
  const config = program.command('config').description('show every value in force and where it comes from');
  withCommonOptions(config.command('show', { isDefault: true }).description('list all values'))
    .addHelpText('after', HELP)
    .action(async (options: CommonOptions) => {
      const { showConfig } = await import('./run.js');
      await showConfig(context, options);
    });
}

const HELP = `
Order of precedence: flag, environment, the \`temporal-media dev\` that runs on the data directory, Temporal's profile
file, default. Keys are never shown, not even in part; addresses are shown without user-info and query.
The exit code is 78 when a value cannot be used; all values are printed first. No network is used:
\`temporal-media doctor\` checks the connections.

Examples:
  $ temporal-media config show
  $ temporal-media config show --json | jq '.data.values[] | select(.origin != "default")'
`;
