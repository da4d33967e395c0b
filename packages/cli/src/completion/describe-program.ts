import { type Command, type Option } from 'commander';

/** What kind of value an option takes. `text` cannot be completed. */
export type ValueKind = 'none' | 'text' | 'choices' | 'file' | 'directory';

export interface DescribedOption {
  /** For example `-o` and `--output`. */
  readonly flags: readonly string[];
  readonly description: string;
  readonly value: ValueKind;
  readonly choices: readonly string[];
}

export interface DescribedCommand {
  /** `''` for the program itself, else `/models/show`: the scripts match it with the words before the cursor. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly DescribedOption[];
  /** Values of the arguments, where they are a closed list. */
  readonly argumentChoices: readonly string[];
}

/** Describes the program and its commands at every depth; hidden ones are left out. */
export function describeProgram(program: Command, path = ''): DescribedCommand[] {
  const help = program.createHelp();
  // `help` is listed for the program only; `COMMAND --help` does the same.
  const subcommands = help.visibleCommands(program).filter((one) => path === '' || one.name() !== 'help');
  const own: DescribedCommand = {
    path,
    subcommands: subcommands.map((command) => ({
      name: command.name(),
      description: help.subcommandDescription(command),
    })),
    options: help.visibleOptions(program).map(describeOption),
    argumentChoices: program.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
  };
  const below = subcommands
    .filter((command) => command.name() !== 'help')
    .flatMap((command) => describeProgram(command, `${path}/${command.name()}`));
  return [own, ...below];
}

function describeOption(option: Option): DescribedOption {
  const { short, long, description, argChoices, flags } = option;
  const placeholder = /<([^<>]*)>/.exec(flags)?.[1];
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    description,
    value: placeholder === undefined ? 'none' : kindOf(placeholder, argChoices),
    choices: argChoices ?? [],
  };
}

function kindOf(placeholder: string, choices: readonly string[] | undefined): ValueKind {
  if (choices !== undefined) return 'choices';
  if (placeholder === 'dir') return 'directory';
  return placeholder === 'file' ? 'file' : 'text';
}

/** Paths below the program, as patterns of a `case`. */
export function pathsOf(commands: readonly DescribedCommand[]): string[] {
  return commands.map(({ path }) => path).filter((path) => path !== '');
}
