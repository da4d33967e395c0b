import { type Command } from 'commander';
import { type CommandContext, type CommonOptions, effectiveEnvironment, withCommonOptions } from '../context';

/** `doctor`: says whether a video could be made now, and what to do when not. */
export function addDoctorCommand(program: Command, context: CommandContext): void {
  withCommonOptions(program.command('doctor'))
    .description('check everything that a video needs, with a remedy for each failure; costs nothing')
    .addHelpText('after', HELP)
    .action(async (options: CommonOptions) => doctor(context, options));
}

const HELP = `
Looks at Node, the Temporal SDK, server, namespace, workers and calls that wait to be sent and, where MEDIA_BASE_URL and
the key of the worker are set, at the model configuration, the proxy, the service, the stores and the journal. The
service is asked for a task that cannot exist: nothing is created. Exit code 0 only when a video could be made now;
otherwise that of the first failure.

Examples:
  $ temporal-media doctor
  $ temporal-media doctor -o json | jq '.data.checks[] | select(.state == "failed")'
`;

async function doctor(context: CommandContext, options: CommonOptions): Promise<void> {
  const { runDoctor } = await import('../doctor/doctor.js');
  await runDoctor(context, effectiveEnvironment(context, options));
}
