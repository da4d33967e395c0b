import { styleText } from 'node:util';
import { type Command, Option } from 'commander';
import { type VideoState } from 'temporal-media';
import { visible, visibleJson } from 'temporal-media/internal/domain/terminal-text';
import { notifyParent } from './child-process';
import { type FailureReply, type FieldsOf, type OutputLine, type Reply } from './json-output';

const plain: Paint = (_tone, text) => text;

/** Version of the `-o jsonl` line format. */
const LINE_VERSION = 1;

/**
 * Prints a command's output. With `-o json` and `-o jsonl`, stdout contains only JSON objects for scripts, and text for
 * people goes to stderr. Without them, results (paths, ids) go to stdout and everything else to stderr.
 */
export class Report {
  #replied = false;
  #live: LiveView | undefined;

  constructor(
    readonly format: OutputFormat = 'text',
    /** Colors the lines of {@link say}. */
    readonly paint: Paint = plain,
    /** Colors the lines of {@link result}. It is separate, because stdout can be a pipe when stderr is a terminal. */
    readonly paintResult: Paint = plain,
  ) {}

  /** Whether stdout contains JSON for a script. */
  get machine(): boolean {
    return this.format !== 'text';
  }

  /** Attaches a view that redraws itself on stderr. Other lines are printed above it. */
  attach(view: LiveView | undefined): void {
    this.#live = view;
  }

  /**
   * Prints a line for people. It may contain ids, prompts and service text, which must not control the terminal or
   * start a new line.
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

  /** Prints an intermediate event with `-o jsonl`. */
  event<Type extends Exclude<OutputLine['type'], 'result'>>(type: Type, fields: FieldsOf<Type>): void {
    if (this.format === 'jsonl' && !this.#replied) this.#line({ type, ...fields });
  }

  /** Reports that a long-running command is ready, to an attached parent process and as the JSON object. */
  ready(data: object): void {
    notifyParent({ type: 'ready', data });
    this.reply({ ok: true, data });
  }

  /** Prints the JSON object. Later calls print nothing. */
  reply(reply: Reply): void {
    if (this.#replied) return;
    this.#replied = true;
    if (this.format === 'json') process.stdout.write(`${visibleJson(reply)}\n`);
    if (this.format === 'jsonl') this.#line({ type: 'result', ...reply });
  }

  /** Prints a failure. @param reported whether text mode has already shown it in result lines */
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

/** Removes everything from the line that a terminal would interpret, except the colors that this program adds. */
function shown(line: string, paint: Paint): string {
  if (paint === plain) return visible(line);
  return line
    .split(OWN_COLOUR)
    .map((part, index) => (index % 2 === 1 ? part : visible(part)))
    .join('');
}

/** A view that redraws itself, as used by {@link Report}. */
export interface LiveView {
  /** Removes the view from the screen until it redraws itself. */
  clear(): void;
}

/**
 * - `text`: for people, with result lines (paths, ids) on stdout.
 * - `json`: stdout contains exactly one object, `{ok, data?, error?}`.
 * - `jsonl`: stdout contains one object per line: events `{v: 1, type, at, …}`, then the envelope
 *   `{v: 1, type: 'result', at, ok, data?, error?}`.
 */
type OutputFormat = 'text' | 'json' | 'jsonl';

const FORMATS: readonly OutputFormat[] = ['text', 'json', 'jsonl'];

/** Adds the output options, which every command has. */
export function withOutputOptions(command: Command): Command {
  return command
    .addOption(
      new Option('-o, --output <format>', 'output format on stdout').choices(FORMATS).default('text'),
    )
    .option('--json', 'same as -o json: exactly one JSON object, {ok, data?, error?}')
    .addOption(
      new Option('--color <when>', 'when to use colors; NO_COLOR also turns them off')
        .choices(['auto', 'always', 'never'])
        .default('auto'),
    );
}

/** A command's output options. */
export interface OutputMode {
  readonly format: OutputFormat;
  readonly color: 'auto' | 'always' | 'never';
}

/** Reads the output options before the command line is parsed. */
export function outputModeOf(argv: readonly string[]): OutputMode {
  return { format: formatOf(argv), color: colorOf(argv) };
}

/**
 * Returns the parsed output options. Parsing distinguishes an option from a value that looks like one
 * (`--prompt "--json"`). Undefined for a command without output options.
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

/** Reads the format before the command line is parsed, so that parse errors use it too. */
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

/** Returns an option's last value in any of its forms: `-o json`, `-ojson`, `--output json`, `--output=json`. */
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
/** The start and end codes of these styles. */
// oxlint-disable-next-line no-control-regex
const OWN_COLOUR = /(\x1b\[(?:3[1236]|39)m)/;

/** Colors text, or returns it unchanged. */
export type Paint = (tone: LineStyle, text: string) => string;

/** `--color` overrides NO_COLOR (any non-empty text), which overrides terminal detection. */
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

/** Describes a video workflow in one line. Undefined when the workflow is done. */
export function statusLine(state: VideoState): string | undefined {
  const { phase, taskId, watch } = state;
  const task = `task ${taskId == null ? 'unknown' : shortId(taskId)}`;
  switch (phase) {
    case 'creating':
      return `creating${state.sends > 0 ? `, attempt ${state.sends + 1}` : ''}`;
    case 'waiting_to_create': {
      const reason = state.waitingFor === null ? '' : ` (${state.waitingFor})`;
      return `waiting to create${reason}${state.nextCreateAt === null ? '' : `, next attempt at ${state.nextCreateAt}`}`;
    }
    case 'unconfirmed':
      return 'unconfirmed: needs a decision (adopt, declareLost or resubmit)';
    case 'watching':
      return `${task}: ${watch?.lastStatus ?? 'no status yet'}${percentage(state)}${trouble(state)}`;
    case 'downloading':
      return `${task}: downloading${watch?.expiresAt === undefined ? '' : `, available at the service until ${watch.expiresAt}`}`;
    case 'done':
      return undefined;
  }
}

/** Formats the progress. Empty unless the service sent a number. */
function percentage({ watch }: VideoState): string {
  return watch?.progress === undefined ? '' : ` ${watch.progress}%`;
}

function trouble({ watch }: VideoState): string {
  if (watch?.lastError === undefined) return '';
  const { class: kind, httpStatus, reason } = watch.lastError;
  const said = reason?.message ?? reason?.code ?? '';
  return ` (last poll: ${kind}${httpStatus === undefined ? '' : ` ${httpStatus}`}${said === '' ? '' : `: ${said}`})`;
}

/** Longest id to show in full in repeated lines. */
const LONGEST_ID = 40;

/** Shortens a long id for repeated lines. The full id is printed once. */
export function shortId(id: string): string {
  return id.length <= LONGEST_ID ? id : `${id.slice(0, 20)}…${id.slice(-8)}`;
}

/**
 * Returns the terminal's width. Without a terminal, nothing is wrapped or cut, because a file or another program reads
 * the output.
 */
export const columnsOf = ({
  isTTY,
  columns,
}: {
  readonly isTTY?: boolean;
  readonly columns?: number;
}): number => (isTTY === true ? columns || 80 : Infinity);
