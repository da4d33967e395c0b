import { type Command } from 'commander';
import {
  type CommandContext,
  type CommonOptions,
  effectiveEnvironment,
  withCommonOptions,
} from '../shared/context';

/** `doctor`: reports whether a video can be made right now, and what to do if not. */
export function addDoctorCommand(program: Command, context: CommandContext): void {
  withCommonOptions(program.command('doctor'))
    .description('check everything that a video needs, with a remedy for each failure; costs nothing')
    .addHelpText('after', HELP)
    .action(async (options: CommonOptions) => doctor(context, options));
}

const HELP = `
Checks Node, the Temporal SDK, the server, the namespace, the workers and the calls that wait to be sent. Where
MEDIA_BASE_URL and the key of the worker are set, it also checks the model configuration, the proxy, the service, the
stores and the journal. It asks the service for a task that cannot exist: nothing is created. The exit code is 0 only
when a video could be made now; otherwise it is that of the first failure.

Examples:
  $ temporal-media doctor
  $ temporal-media doctor -o json | jq '.data.checks[] | select(.state == "failed")'
`;

async function doctor(context: CommandContext, options: CommonOptions): Promise<void> {
  const { runDoctor } = await import('./run.js');
  await runDoctor(context, effectiveEnvironment(context, options));
}
