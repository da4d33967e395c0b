import { Argument, type Command } from 'commander';
import { type CommandContext } from '../shared/context';
import { withOutputOptions } from '../shared/report';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** Adds `completion`, which prints a shell script that completes commands, options and their values. */
export function addCompletionCommand(program: Command, context: CommandContext): void {
  withOutputOptions(program.command('completion').description('print a completion script for a shell'))
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', HELP)
    .action(async (shell: Shell) => completion(program, context, shell));
}

const HELP = `
The script is static, so completion does not start a process. Regenerate it after an update.

Examples:
  $ source <(temporal-media completion bash)
  $ temporal-media completion bash > ~/.local/share/bash-completion/completions/temporal-media
  $ temporal-media completion zsh > "\${fpath[1]}/_temporal-media"
  $ temporal-media completion fish > ~/.config/fish/completions/temporal-media.fish
`;

async function completion(program: Command, { report }: CommandContext, shell: Shell): Promise<void> {
  const { describeProgram } = await import('./run.js');
  const { bashScript } = await import('./run.js');
  const { zshScript } = await import('./run.js');
  const { fishScript } = await import('./run.js');
  const write = { bash: bashScript, zsh: zshScript, fish: fishScript }[shell];
  const script = write(program.name(), describeProgram(program));
  for (const line of script.trimEnd().split('\n')) report.result(line);
  report.reply({ ok: true, data: { shell, script } });
}
