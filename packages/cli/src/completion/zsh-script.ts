import { type DescribedCommand, type DescribedOption, pathsOf } from './describe-program';

/** Completion for zsh, to be sourced or stored as `_NAME` in a directory of `fpath`. */
export function zshScript(name: string, commands: readonly DescribedCommand[]): string {
  const fn = `_${name.replaceAll('-', '_')}`;
  return `#compdef ${name}
# zsh completion for ${name}: store it as _${name} in a directory of $fpath, or source it after compinit.
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
${commands.flatMap(valueCases).join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then
    case "$at" in
${commands.map(({ path, options }) => `      (${quoted(path)}) described=(${options.flatMap(optionWords).join(' ')}) ;;`).join('\n')}
    esac
    _describe -o option described
  else
    case "$at" in
${commands.map((command) => `      (${quoted(command.path)}) described=(${commandWords(command).join(' ')}) ;;`).join('\n')}
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

function valueCases({ path, options }: DescribedCommand): string[] {
  return options
    .filter(({ value }) => value !== 'none')
    .map((option) => {
      const patterns = option.flags.map((flag) => quoted(`${path} ${flag}`)).join('|');
      return `    (${patterns}) ${completeValue(option)} ;;`;
    });
}

function completeValue({ value, choices }: DescribedOption): string {
  if (value === 'choices') return `compadd -- ${choices.join(' ')}; return`;
  if (value === 'text') return 'return 1';
  return value === 'directory' ? '_files -/; return' : '_files; return';
}

function optionWords({ flags, description }: DescribedOption): string[] {
  return flags.map((flag) => described(flag, description));
}

function commandWords({ subcommands, argumentChoices }: DescribedCommand): string[] {
  const commands = subcommands.map(({ name, description }) => described(name, description));
  return [...commands, ...argumentChoices.map((choice) => quoted(choice))];
}

/** `word:description`; colons in the word are escaped. */
function described(word: string, description: string): string {
  return quoted(`${word.replaceAll(':', '\\\\:')}:${description}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
