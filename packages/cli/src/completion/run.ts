import { type Command, type Option } from 'commander';

/** The kind of value that an option takes. `text` cannot be completed. */
export type ValueKind = 'none' | 'text' | 'choices' | 'file' | 'directory';

export interface DescribedOption {
  /** For example `-o` and `--output`. */
  readonly flags: readonly string[];
  readonly description: string;
  readonly value: ValueKind;
  readonly choices: readonly string[];
}

export interface DescribedCommand {
  /**
   * `''` for the program itself, or a path such as `/models/show`. Scripts compare it with the words before the cursor.
   */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly DescribedOption[];
  /** The allowed argument values, if there is a fixed set of them. */
  readonly argumentChoices: readonly string[];
}

/** Describes the program and its commands at every depth. Omits hidden commands. */
export function describeProgram(program: Command, path = ''): DescribedCommand[] {
  const help = program.createHelp();
  // Lists `help` only for the program, because `COMMAND --help` does the same.
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

/** Returns the paths of all subcommands, as patterns for a shell's `case` statement. */
export function pathsOf(commands: readonly DescribedCommand[]): string[] {
  return commands.map(({ path }) => path).filter((path) => path !== '');
}

/** Returns a completion script for bash 3.2 and later. It does not need any other package. */
export function bashScript(name: string, commands: readonly DescribedCommand[]): string {
  const fn = `_${name.replaceAll('-', '_')}`;
  return `# bash completion for ${name}: source it, or store it where bash-completion looks for it.
${fn}() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="" at="" word i IFS=$' \\t\\n'
  COMPREPLY=()
  ((COMP_CWORD > 0)) && prev="\${COMP_WORDS[COMP_CWORD - 1]}"
  # --option=value are three words.
  if [[ $cur == "=" ]]; then
    cur=""
  elif [[ $prev == "=" ]]; then
    prev="\${COMP_WORDS[COMP_CWORD - 2]}"
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$at/$word" in
      ${pathsOf(commands).join(' | ')}) at="$at/$word" ;;
    esac
  done
  case "$at $prev" in
${bashCases(commands).join('\n')}
  esac
  local words=""
  if [[ $cur == -* ]]; then
    case "$at" in
${commands.map(({ path, options }) => `      "${path}") words="${flagsOf(options)}" ;;`).join('\n')}
    esac
  else
    case "$at" in
${commands.map((command) => `      "${command.path}") words="${wordsOf(command)}" ;;`).join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F ${fn} ${name}
`;
}

/** Returns one branch for each group of options whose values are completed in the same way. */
function bashCases(commands: readonly DescribedCommand[]): string[] {
  const patterns = new Map<string, string[]>();
  for (const { path, options } of commands)
    for (const option of options.filter(({ value }) => value !== 'none')) {
      const action = bashAction(option);
      const before = patterns.get(action) ?? [];
      patterns.set(action, [...before, ...option.flags.map((flag) => `"${path} ${flag}"`)]);
    }
  return [...patterns].map(
    ([action, all]) => `    ${all.join(' | ')})\n      ${`${action} return`.trim()} ;;`,
  );
}

function bashAction({ value, choices }: DescribedOption): string {
  if (value === 'choices') return `COMPREPLY=($(compgen -W "${choices.join(' ')}" -- "$cur"));`;
  if (value === 'text') return '';
  const kind = value === 'directory' ? '-d' : '-f';
  // File names may contain spaces. bash 3.2 does not have compopt.
  return `IFS=$'\\n'; COMPREPLY=($(compgen ${kind} -- "$cur")); compopt -o filenames 2>/dev/null;`;
}

function flagsOf(options: readonly DescribedOption[]): string {
  return options.flatMap(({ flags }) => flags).join(' ');
}

function wordsOf({ subcommands, argumentChoices }: DescribedCommand): string {
  return [...subcommands.map(({ name }) => name), ...argumentChoices].join(' ');
}

/** Returns a completion script for zsh, to source or to store as `_NAME` in an `fpath` directory. */
export function zshScript(name: string, commands: readonly DescribedCommand[]): string {
  const fn = `_${name.replaceAll('-', '_')}`;
  return `#compdef ${name}
# zsh completion for ${name}: save it as _${name} in a directory in your $fpath, or source it after compinit.
${fn}() {
  local at="" word previous="\${words[CURRENT - 1]}" i
  local -a described
  # --option=value is one word.
  if [[ $PREFIX == --*=* ]]; then
    previous="\${PREFIX%%=*}"
    compset -P '*='
  fi
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    case "$at/$word" in
      (${pathsOf(commands).join('|')}) at="$at/$word" ;;
    esac
  done
  case "$at $previous" in
${commands.flatMap(zshCases).join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then
    case "$at" in
${commands.map(({ path, options }) => `      (${zshQuoted(path)}) described=(${options.flatMap(zshOption).join(' ')}) ;;`).join('\n')}
    esac
    _describe -o option described
  else
    case "$at" in
${commands.map((command) => `      (${zshQuoted(command.path)}) described=(${commandWords(command).join(' ')}) ;;`).join('\n')}
    esac
    _describe command described
  fi
}
if [[ "\${funcstack[1]}" == "_${name}" || "\${funcstack[1]}" == "${fn}" ]]; then
  ${fn} "$@"
else
  compdef ${fn} ${name}
fi
`;
}

function zshCases({ path, options }: DescribedCommand): string[] {
  return options
    .filter(({ value }) => value !== 'none')
    .map((option) => {
      const patterns = option.flags.map((flag) => zshQuoted(`${path} ${flag}`)).join('|');
      return `    (${patterns}) ${zshAction(option)} ;;`;
    });
}

function zshAction({ value, choices }: DescribedOption): string {
  if (value === 'choices') return `compadd -- ${choices.join(' ')}; return`;
  if (value === 'text') return 'return 1';
  return value === 'directory' ? '_files -/; return' : '_files; return';
}

function zshOption({ flags, description }: DescribedOption): string[] {
  return flags.map((flag) => described(flag, description));
}

function commandWords({ subcommands, argumentChoices }: DescribedCommand): string[] {
  const commands = subcommands.map(({ name, description }) => described(name, description));
  return [...commands, ...argumentChoices.map((choice) => zshQuoted(choice))];
}

/** `word:description`. Escapes colons in the word. */
function described(word: string, description: string): string {
  return zshQuoted(`${word.replaceAll(':', '\\\\:')}:${description}`);
}

function zshQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Returns a completion script for fish, to source or to store as `NAME.fish` in its `completions` directory. */
export function fishScript(name: string, commands: readonly DescribedCommand[]): string {
  const at = `__${name.replaceAll('-', '_')}_at`;
  const line = (path: string, ...words: readonly string[]): string =>
    `complete -c ${name} -n ${fishQuoted(`${at} ${fishQuoted(path)}`)} ${words.join(' ')}`;
  const lines = commands.flatMap(({ path, subcommands, options, argumentChoices }) => [
    ...subcommands.map((sub) => line(path, '-a', sub.name, '-d', fishQuoted(sub.description))),
    ...argumentChoices.map((choice) => line(path, '-a', choice)),
    ...options.map((option) => line(path, ...fishOption(option))),
  ]);
  return `# fish completion for ${name}: source it, or store it as ${name}.fish in ~/.config/fish/completions.
function ${at} --description 'Whether the words before the cursor lead to this command'
    set -l found ''
    set -l words (commandline -opc)
    for word in $words[2..-1]
        switch "$found/$word"
            case ${pathsOf(commands).join(' ')}
                set found "$found/$word"
        end
    end
    test "$found" = "$argv[1]"
end
complete -c ${name} -f
${lines.join('\n')}
`;
}

function fishOption({ flags, description, value, choices }: DescribedOption): string[] {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  return [
    ...names,
    ...VALUES[value],
    ...(value === 'choices' ? ['-a', fishQuoted(choices.join(' '))] : []),
    '-d',
    fishQuoted(description),
  ];
}

const VALUES = {
  none: [],
  text: ['-x'],
  choices: ['-x'],
  file: ['-r', '-F'],
  directory: ['-x', '-a', "'(__fish_complete_directories)'"],
} as const;

function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
