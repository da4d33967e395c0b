import { styleText } from 'node:util';
import { type Command, Option } from 'commander';
import { type VideoState } from 'temporal-media';
import { visible, visibleJson } from 'temporal-media/internal/domain/terminal-text';
import { notifyParent } from './child-process';
import { type FailureReply, type FieldsOf, type OutputLine, type Reply } from './json-output';

const plain: Paint = (_tone, text) => text;

/** Version of every line of `-o jsonl`. */
const LINE_VERSION = 1;

/**
 * Prints the output of a command. With `-o json` and `-o jsonl`, stdout holds only JSON objects for scripts, and text
 * for people goes to stderr. Without them, results (paths, ids) go to stdout and the rest to stderr.
 */
export class Report {
  #replied = false;
  #live: LiveView | undefined;

  constructor(
    readonly format: OutputFormat = 'text',
    /** For lines of {@link say}. */
    readonly paint: Paint = plain,
    /** For lines of {@link result}: stdout may be a pipe while stderr is a terminal. */
    readonly paintResult: Paint = plain,
  ) {}

  /** Whether stdout holds JSON for a script. */
  get machine(): boolean {
    return this.format !== 'text';
  }

  /** Attaches a view that redraws itself on stderr: other lines are printed above it. */
  attach(view: LiveView | undefined): void {
    this.#live = view;
  }

  /**
   * Prints a line for people. It contains ids, prompts and service text, which must not control the terminal or begin
   * another line.
   */
  say(line: string): void {
    this.#live?.clear();
    process.stderr.write(`${shown(line, this.paint)}\n`);
  }

  /** Prints a result line, which a shell script without `--json` can capture. */
  result(line: string): void {
    if (this.machine) return;
    this.#live?.clear();
    process.stdout.write(`${shown(line, this.paintResult)}\n`);
  }

  /** Prints an intermediate event; only with `-o jsonl`. */
  event<Type extends Exclude<OutputLine['type'], 'result'>>(type: Type, fields: FieldsOf<Type>): void {
    if (this.format === 'jsonl' && !this.#replied) this.#line({ type, ...fields });
  }

  /** Reports that a long-running command is ready: to an attached parent process, and as the JSON object. */
  ready(data: object): void {
    notifyParent({ type: 'ready', data });
    this.reply({ ok: true, data });
  }

  /** Prints the JSON object once; later calls print nothing. */
  reply(reply: Reply): void {
    if (this.#replied) return;
    this.#replied = true;
    if (this.format === 'json') process.stdout.write(`${visibleJson(reply)}\n`);
    if (this.format === 'jsonl') this.#line({ type: 'result', ...reply });
  }

  /** Prints a failure. @param reported whether the result lines in text mode have already shown it */
  fail(error: FailureReply, data?: object, reported = false): void {
    if (!reported || this.machine) this.#sayError(error);
    this.reply({ ok: false, ...(data && { data }), error });
  }

  #sayError(error: FailureReply): void {
    // An interruption is not an error.
    const word = error.type === 'interrupted' ? '' : `${this.paint('bad', 'error:')} `;
    this.say(`${word}${error.message}`);
    if (error.hint !== '') this.say(`${this.paint('note', 'hint:')} ${error.hint}`);
  }

  #line({ type, ...fields }: { readonly type: string }): void {
    const line = { v: LINE_VERSION, type, at: new Date().toISOString(), ...fields };
    process.stdout.write(`${visibleJson(line)}\n`);
  }
}

/** Removes everything from the line that a terminal would interpret, except our own colors, if any. */
function shown(line: string, paint: Paint): string {
  if (paint === plain) return visible(line);
  return line
    .split(OWN_COLOUR)
    .map((part, index) => (index % 2 === 1 ? part : visible(part)))
    .join('');
}

/** What {@link Report} needs of a view that redraws itself. */
export interface LiveView {
  /** Removes the view from the screen until it redraws itself. */
  clear(): void;
}

/**
 * - `text`: for people; result lines (paths, ids) on stdout.
 * - `json`: stdout holds exactly one object, `{ok, data?, error?}`.
 * - `jsonl`: stdout holds one object per line: events `{v: 1, type, at, …}`, then the envelope
 *   `{v: 1, type: 'result', at, ok, data?, error?}`.
 */
type OutputFormat = 'text' | 'json' | 'jsonl';

const FORMATS: readonly OutputFormat[] = ['text', 'json', 'jsonl'];

/** Adds the output options, which every command has. */
export function withOutputOptions(command: Command): Command {
  return command
    .addOption(new Option('-o, --output <format>', 'format of stdout').choices(FORMATS).default('text'))
    .option('--json', 'the same as -o json: exactly one JSON object, {ok, data?, error?}')
    .addOption(
      new Option('--color <when>', 'when to use colours; NO_COLOR turns them off too')
        .choices(['auto', 'always', 'never'])
        .default('auto'),
    );
}

/** The output options of a command. */
export interface OutputMode {
  readonly format: OutputFormat;
  readonly color: 'auto' | 'always' | 'never';
}

/** The output options, read before the command line is parsed. */
export function outputModeOf(argv: readonly string[]): OutputMode {
  return { format: formatOf(argv), color: colorOf(argv) };
}

/**
 * The output options after parsing, which distinguishes an option from a value that looks like one
 * (`--prompt "--json"`); undefined for a command without them.
 */
export function parsedOutputMode(command: Command): OutputMode | undefined {
  const { output, json, color } = command.opts<{
    readonly output?: OutputFormat;
    readonly json?: boolean;
    readonly color: OutputMode['color'];
  }>();
  if (output === undefined) return undefined;
  const short = json === true && command.getOptionValueSource('output') === 'default';
  return { format: short ? 'json' : output, color };
}

/** The format, read before the command line is parsed, so that parse errors are reported in it. */
export function formatOf(argv: readonly string[]): OutputFormat {
  const options = beforeDashes(argv);
  const asked = lastValue(options, '-o', '--output');
  if (isFormat(asked)) return asked;
  return options.includes('--json') ? 'json' : 'text';
}

export function colorOf(argv: readonly string[]): OutputMode['color'] {
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

export type LineStyle = 'good' | 'bad' | 'warn' | 'note';

const STYLES = { good: 'green', bad: 'red', warn: 'yellow', note: 'cyan' } as const;
/** Start codes of these styles, and their end codes. */
// oxlint-disable-next-line no-control-regex
const OWN_COLOUR = /(\x1b\[(?:3[1236]|39)m)/;

/** Colors a text, or returns it unchanged. */
export type Paint = (tone: LineStyle, text: string) => string;

/** `--color` overrides NO_COLOR (any non-empty text), which overrides the detection of a terminal. */
export function painter(
  when: 'auto' | 'always' | 'never',
  env: NodeJS.ProcessEnv,
  stream: { readonly isTTY?: boolean },
): Paint {
  const wanted = when === 'always' || (when === 'auto' && !env['NO_COLOR'] && stream.isTTY === true);
  return wanted && env['TERM'] !== 'dumb'
    ? (tone, text) => styleText(STYLES[tone], text, { validateStream: false })
    : plain;
}

/** One line about a video workflow; undefined when it is done. */
export function statusLine(state: VideoState): string | undefined {
  const { phase, taskId, watch } = state;
  const task = `task ${taskId == null ? 'unknown' : shortId(taskId)}`;
  switch (phase) {
    case 'creating':
      return `creating${state.sends > 0 ? `, try ${state.sends + 1}` : ''}`;
    case 'waiting_to_create': {
      const reason = state.waitingFor === null ? '' : ` (${state.waitingFor})`;
      return `waiting to create${reason}${state.nextCreateAt === null ? '' : `, next attempt at ${state.nextCreateAt}`}`;
    }
    case 'unconfirmed':
      return 'unconfirmed: waits for a decision (adopt, declareLost or resubmit)';
    case 'watching':
      return `${task}: ${watch?.lastStatus ?? 'no status yet'}${percentage(state)}${trouble(state)}`;
    case 'downloading':
      return `${task}: downloading${watch?.expiresAt === undefined ? '' : `, kept by the service until ${watch.expiresAt}`}`;
    case 'done':
      return undefined;
  }
}

/** Only when the service sent a number. */
function percentage({ watch }: VideoState): string {
  return watch?.progress === undefined ? '' : ` ${watch.progress} %`;
}

function trouble({ watch }: VideoState): string {
  if (watch?.lastError === undefined) return '';
  const { class: kind, httpStatus, reason } = watch.lastError;
  const said = reason?.message ?? reason?.code ?? '';
  return ` (last poll: ${kind}${httpStatus === undefined ? '' : ` ${httpStatus}`}${said === '' ? '' : `: ${said}`})`;
}

/** Longest id that repeated lines show in full. */
const LONGEST_ID = 40;

/** Shortens a long id for lines that are repeated; the full id is printed once. */
export function shortId(id: string): string {
  return id.length <= LONGEST_ID ? id : `${id.slice(0, 20)}…${id.slice(-8)}`;
}

/**
 * Columns of a terminal. Without a terminal, nothing is wrapped or cut, because a file or another program reads the
 * output.
 */
export const columnsOf = ({
  isTTY,
  columns,
}: {
  readonly isTTY?: boolean;
  readonly columns?: number;
}): number => (isTTY === true ? columns || 80 : Infinity);
