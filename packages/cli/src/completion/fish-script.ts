import { type DescribedCommand, type DescribedOption, pathsOf } from './describe-program';

/** Completion for fish, to be sourced or stored as `NAME.fish` in its directory `completions`. */
export function fishScript(name: string, commands: readonly DescribedCommand[]): string {
  const at = `__${name.replaceAll('-', '_')}_at`;
  const line = (path: string, ...words: readonly string[]): string =>
    `complete -c ${name} -n ${quoted(`${at} ${quoted(path)}`)} ${words.join(' ')}`;
  const lines = commands.flatMap(({ path, subcommands, options, argumentChoices }) => [
    ...subcommands.map((sub) => line(path, '-a', sub.name, '-d', quoted(sub.description))),
    ...argumentChoices.map((choice) => line(path, '-a', choice)),
    ...options.map((option) => line(path, ...optionWords(option))),
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

function optionWords({ flags, description, value, choices }: DescribedOption): string[] {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  return [
    ...names,
    ...VALUES[value],
    ...(value === 'choices' ? ['-a', quoted(choices.join(' '))] : []),
    '-d',
    quoted(description),
  ];
}

const VALUES = {
  none: [],
  text: ['-x'],
  choices: ['-x'],
  file: ['-r', '-F'],
  directory: ['-x', '-a', "'(__fish_complete_directories)'"],
} as const;

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
