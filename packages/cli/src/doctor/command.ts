import { type Command } from 'commander';
import {
  type CommandContext,
  type CommonOptions,
  effectiveEnvironment,
  withCommonOptions,
} from '../shared/context';

/** Adds `doctor`, which reports whether videos can be created right now and, if not, what to fix. */
export function addDoctorCommand(program: Command, context: CommandContext): void {
  withCommonOptions(program.command('doctor'))
    .description(
      'check everything that creating a video needs, and show how to fix each problem; costs nothing',
    )
    .addHelpText('after', HELP)
    .action(async (options: CommonOptions) => doctor(context, options));
}

const HELP = `
Checks Node, the Temporal SDK, the server, the namespace, the workers and the calls that are waiting to be sent. If
MEDIA_BASE_URL and the worker's key are set, it also checks the model configuration, the proxy, the service, the stores
and the journal. To test the service, it queries a task that cannot exist; it never creates one. The exit code is 0 if a
video could be created now, or the code of the first failure.

Examples:
  $ temporal-media doctor
  $ temporal-media doctor -o json | jq '.data.checks[] | select(.state == "failed")'
`;

async function doctor(context: CommandContext, options: CommonOptions): Promise<void> {
  const { runDoctor } = await import('./run.js');
  await runDoctor(context, effectiveEnvironment(context, options));
}
