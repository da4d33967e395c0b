import { type Command, Option } from 'commander';

/**
 * - `text`: for people; result lines (paths, ids) on stdout.
 * - `json`: stdout holds exactly one object, `{ok, data?, error?}`.
 * - `jsonl`: stdout holds one object a line: events `{v: 1, type, at, …}`, then the envelope
 *   `{v: 1, type: 'result', at, ok, data?, error?}`.
 */
export type OutputFormat = 'text' | 'json' | 'jsonl';

const FORMATS: readonly OutputFormat[] = ['text', 'json', 'jsonl'];

/** The options of every command that say how it speaks. */
export function withOutputOptions(command: Command): Command {
  return command
    .addOption(new Option('-o, --output <format>', 'what stdout holds').choices(FORMATS).default('text'))
    .option('--json', 'the same as -o json: exactly one JSON object, {ok, data?, error?}')
    .addOption(
      new Option('--color <when>', 'colours on stderr; NO_COLOR turns them off too')
        .choices(['auto', 'always', 'never'])
        .default('auto'),
    );
}

/** How a command speaks. */
export interface Speech {
  readonly format: OutputFormat;
  readonly color: 'auto' | 'always' | 'never';
}

/** Read before the command line is parsed. */
export function speechOf(argv: readonly string[]): Speech {
  return { format: formatOf(argv), color: colorOf(argv) };
}

/**
 * By the parsed options, which tell an option from a value that looks like one (`--prompt "--json"`); undefined for a
 * command without them.
 */
export function parsedSpeech(command: Command): Speech | undefined {
  const { output, json, color } = command.opts<{
    readonly output?: OutputFormat;
    readonly json?: boolean;
    readonly color: Speech['color'];
  }>();
  if (output === undefined) return undefined;
  const short = json === true && command.getOptionValueSource('output') === 'default';
  return { format: short ? 'json' : output, color };
}

/** The format that the command line asks for, read before it is parsed: what is wrong with it is told in that format. */
export function formatOf(argv: readonly string[]): OutputFormat {
  const options = beforeDashes(argv);
  const asked = lastValue(options, '-o', '--output');
  if (isFormat(asked)) return asked;
  return options.includes('--json') ? 'json' : 'text';
}

export function colorOf(argv: readonly string[]): Speech['color'] {
  const asked = lastValue(beforeDashes(argv), undefined, '--color');
  return asked === 'always' || asked === 'never' ? asked : 'auto';
}

function beforeDashes(argv: readonly string[]): readonly string[] {
  const dashes = argv.indexOf('--');
  return dashes < 0 ? argv : argv.slice(0, dashes);
}

/** The last value of an option in any of its spellings: `-o json`, `-ojson`, `--output json`, `--output=json`. */
function lastValue(argv: readonly string[], short: string | undefined, long: string): string | undefined {
  let value: string | undefined;
  argv.forEach((word, index) => {
    if (word === short || word === long) value = argv[index + 1];
    else if (word.startsWith(`${long}=`)) value = word.slice(long.length + 1);
    else if (short !== undefined && /^-o(?!ut)./.test(word)) value = word.slice(short.length);
  });
  return value;
}

function isFormat(text: string | undefined): text is OutputFormat {
  return FORMATS.includes(text as OutputFormat);
}
