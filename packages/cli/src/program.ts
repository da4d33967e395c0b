import { Command, Help } from 'commander';
import { PACKAGE_VERSION } from 'temporal-media/internal/domain/names';
import { addArtifactsCommand } from './artifacts/command';
import { addCampaignCommand } from './campaign/command';
import { addCompletionCommand } from './completion/command';
import { addConfigCommand } from './config/command';
import { addDemoCommand } from './demo/command';
import { addDevCommand } from './dev/command';
import { addDoctorCommand } from './doctor/command';
import { addNudgeCommand, addResumeCommand, addWatchCommand } from './follow/command';
import { addHistoryCommand } from './history/command';
import { addEditCommand, addImageCommand } from './image/command';
import { addJournalCommand } from './journal/command';
import { addModelsCommand } from './models/command';
import { addMoneyCommand } from './money/command';
import { addNoticesCommand } from './notices/command';
import { addOrphansCommand } from './orphans/command';
import { addReplayCommand } from './replay/command';
import { addSandboxCommand } from './sandbox/command';
import { addSchemaCommand } from './schema/command';
import { addSetupCommand } from './setup/command';
import { type CommandContext } from './shared/context';
import { EXIT_MEANINGS } from './shared/exit-codes';
import { addStatusCommand } from './status/command';
import { addUnconfirmedCommand } from './unconfirmed/command';
import { addVideoCommand } from './video/command';
import { addWorkerCommand } from './worker/command';

/** Every command, in the order and groups of `--help`. */
const COMMANDS: readonly (readonly [
  heading: string,
  commands: readonly ((program: Command, context: CommandContext) => void)[],
])[] = [
  ['Start:', [addDemoCommand, addDevCommand, addDoctorCommand, addSetupCommand]],
  ['Create, once per id:', [addVideoCommand, addImageCommand, addEditCommand, addCampaignCommand]],
  ['Follow; never creates:', [addStatusCommand, addWatchCommand, addResumeCommand, addNudgeCommand]],
  ['Resolve unknown calls:', [addUnconfirmedCommand, addOrphansCommand]],
  ['Find out what happened:', [addReplayCommand, addHistoryCommand, addMoneyCommand]],
  ['Look up:', [addModelsCommand, addConfigCommand, addSchemaCommand, addCompletionCommand]],
  [
    'Run and maintain:',
    [addWorkerCommand, addSandboxCommand, addJournalCommand, addArtifactsCommand, addNoticesCommand],
  ],
];

/** Creates the `temporal-media` command line. Parsing throws a CommanderError for wrong usage, help and version. */
export function createProgram(context: CommandContext): Command {
  const program = new Command('temporal-media')
    .description(
      'Create videos and images through Temporal: bought once, never lost, downloaded and verified.',
    )
    .version(PACKAGE_VERSION, '-V, --version')
    .exitOverride()
    .showHelpAfterError(false)
    .configureHelp({
      optionDescription(option) {
        const description = Help.prototype.optionDescription.call(this, option);
        return option.mandatory ? `${description} (required)` : description;
      },
    })
    .configureOutput({
      // With -o json, stdout contains only JSON. `main` prints all errors.
      writeOut: (text) => void (context.report.machine ? process.stderr : process.stdout).write(text),
      outputError: () => undefined,
    })
    .addHelpText('after', exitCodeHelp());
  for (const [heading, commands] of COMMANDS) {
    program.commandsGroup(heading);
    for (const add of commands) add(program, context);
  }
  return program;
}

function exitCodeHelp(): string {
  const rows = EXIT_MEANINGS.map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`);
  return `
Examples:
  $ temporal-media dev
  $ temporal-media doctor
  $ temporal-media video --model sketch-lite --prompt "a paper boat on a lake" --out out

Exit codes:
${rows.join('\n')}
`;
}
