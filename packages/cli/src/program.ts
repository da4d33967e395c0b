import { Command, Help } from 'commander';
import { PACKAGE_VERSION } from 'temporal-media/internal/domain/version';
import { type CommandContext } from './context';
import { addArtifactsCommand } from './commands/artifacts';
import { addCampaignCommand } from './campaign/commands';
import { addCompletionCommand } from './commands/completion';
import { addConfigCommand } from './commands/config';
import { addDemoCommand } from './commands/demo';
import { addDevCommand } from './commands/dev';
import { addDoctorCommand } from './commands/doctor';
import { addEditCommand, addImageCommand } from './images';
import { addHistoryCommand } from './commands/history';
import { addJournalCommand } from './commands/journal';
import { addModelsCommand } from './commands/models';
import { addNudgeCommand } from './commands/nudge';
import { addOrphansCommand } from './commands/orphans';
import { addResumeCommand, addWatchCommand } from './follow';
import { addReplayCommand } from './commands/replay';
import { addSandboxCommand } from './commands/sandbox';
import { addSetupCommand } from './commands/setup';
import { addSchemaCommand } from './commands/schema';
import { addStatusCommand } from './commands/status';
import { addUnconfirmedCommand } from './commands/unconfirmed';
import { addVideoCommand } from './commands/video';
import { addWorkerCommand } from './worker';
import { EXIT_MEANINGS } from './exit-codes';

/** Every command, in the order and groups of `--help`. */
const COMMANDS: readonly (readonly [
  heading: string,
  commands: readonly ((program: Command, context: CommandContext) => void)[],
])[] = [
  ['Start:', [addDemoCommand, addDevCommand, addDoctorCommand, addSetupCommand]],
  ['Create, once per id:', [addVideoCommand, addImageCommand, addEditCommand, addCampaignCommand]],
  ['Follow; never creates:', [addStatusCommand, addWatchCommand, addResumeCommand, addNudgeCommand]],
  ['Settle what is unknown:', [addUnconfirmedCommand, addOrphansCommand]],
  ['Find out what happened:', [addReplayCommand, addHistoryCommand]],
  ['Look up:', [addModelsCommand, addConfigCommand, addSchemaCommand, addCompletionCommand]],
  ['Run the parts:', [addWorkerCommand, addSandboxCommand, addJournalCommand, addArtifactsCommand]],
];

/** The command line `temporal-media`. Parsing throws a CommanderError for wrong usage, help and version. */
export function createProgram(context: CommandContext): Command {
  const program = new Command('temporal-media')
    .description('Videos and images through Temporal: created once, never lost, downloaded and verified.')
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
      // With -o json, stdout holds JSON objects only; `main` prints all errors.
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
