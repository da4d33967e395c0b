import { type Command } from 'commander';
import { type CommandContext, type CommonOptions, withCommonOptions } from '../context';

/** `config`: what is configured and where each value comes from. */
export function addConfigCommand(program: Command, context: CommandContext): void {
  const config = program.command('config').description('show every value in force and where it comes from');
  withCommonOptions(config.command('show', { isDefault: true }).description('list all values'))
    .addHelpText('after', HELP)
    .action(async (options: CommonOptions) => {
      const { showConfig } = await import('../config/show-config.js');
      await showConfig(context, options);
    });
}

const HELP = `
A flag wins over the environment, that over the running \`temporal-media dev\` of the data directory, Temporal's profile
file and the defaults. Keys are never shown, not even in part; addresses without user-info and query.
Exit code 78 when a value cannot be used; all are printed first. Nothing is asked over a network: see
\`temporal-media doctor\`.

Examples:
  $ temporal-media config show
  $ temporal-media config show --json | jq '.data.values[] | select(.origin != "default")'
`;
