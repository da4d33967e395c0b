import { type DescribedCommand, type DescribedOption, pathsOf } from './describe-program';

/** Completion for bash 3.2 and later; needs no other package. */
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
${valueCases(commands).join('\n')}
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

/** One branch for all options whose values are completed in the same way. */
function valueCases(commands: readonly DescribedCommand[]): string[] {
  const patterns = new Map<string, string[]>();
  for (const { path, options } of commands)
    for (const option of options.filter(({ value }) => value !== 'none')) {
      const action = completeValue(option);
      const before = patterns.get(action) ?? [];
      patterns.set(action, [...before, ...option.flags.map((flag) => `"${path} ${flag}"`)]);
    }
  return [...patterns].map(
    ([action, all]) => `    ${all.join(' | ')})\n      ${`${action} return`.trim()} ;;`,
  );
}

function completeValue({ value, choices }: DescribedOption): string {
  if (value === 'choices') return `COMPREPLY=($(compgen -W "${choices.join(' ')}" -- "$cur"));`;
  if (value === 'text') return '';
  const kind = value === 'directory' ? '-d' : '-f';
  // Names may hold blanks; bash 3.2 has no compopt.
  return `IFS=$'\\n'; COMPREPLY=($(compgen ${kind} -- "$cur")); compopt -o filenames 2>/dev/null;`;
}

function flagsOf(options: readonly DescribedOption[]): string {
  return options.flatMap(({ flags }) => flags).join(' ');
}

function wordsOf({ subcommands, argumentChoices }: DescribedCommand): string {
  return [...subcommands.map(({ name }) => name), ...argumentChoices].join(' ');
}
