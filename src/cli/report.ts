import { styleText } from 'node:util';
import { type Command, Option } from 'commander';
import { type VideoState } from '../domain/video-state';
import { notifyParent } from './child-process';
import { type FailureReply } from './errors';

/** The one JSON object of a command. `data` of a paid command is its outcome. */
export interface Reply {
  readonly ok: boolean;
  readonly data?: object;
  readonly error?: FailureReply;
}

const plain: Paint = (_tone, text) => text;

/** Version of every line of `-o jsonl`. */
const LINE_VERSION = 1;

/**
 * Keeps the two readers apart: with `-o json` and `-o jsonl` stdout holds nothing but objects for scripts; everything
 * for people goes to stderr. Without them, results (paths, ids) go to stdout and the rest to stderr.
 */
export class Report {
  #replied = false;
  #live: LiveView | undefined;

  constructor(
    readonly format: OutputFormat = 'text',
    /** For lines of {@link say}. */
    readonly paint: Paint = plain,
    /** For lines of {@link result}: stdout may be a pipe where stderr is a terminal. */
    readonly paintResult: Paint = plain,
  ) {}

  /** Whether stdout belongs to a script. */
  get machine(): boolean {
    return this.format !== 'text';
  }

  /** A view that redraws itself on stderr: lines of other kinds are printed above it. */
  attach(view: LiveView | undefined): void {
    this.#live = view;
  }

  /** A line for people. */
  say(line: string): void {
    this.#live?.clear();
    process.stderr.write(`${line}\n`);
  }

  /** A result line: what a shell script without `--json` wants to capture. */
  result(line: string): void {
    if (this.machine) return;
    this.#live?.clear();
    process.stdout.write(`${line}\n`);
  }

  /** Something that happened on the way; only `-o jsonl` shows it. */
  event(type: string, fields: object): void {
    if (this.format === 'jsonl' && !this.#replied) this.#line({ type, ...fields });
  }

  /** A command that stays up is ready: its JSON object, and the parent process if it waits for us. */
  ready(data: object): void {
    notifyParent({ type: 'ready', data });
    this.reply({ ok: true, data });
  }

  /** Prints the JSON object once; later calls print nothing. */
  reply(reply: Reply): void {
    if (this.#replied) return;
    this.#replied = true;
    if (this.format === 'json') process.stdout.write(`${JSON.stringify(reply)}\n`);
    if (this.format === 'jsonl') this.#line({ type: 'result', ...reply });
  }

  /** `told`: the result lines have said it already; only a script still waits for it. */
  fail(error: FailureReply, data?: object, reported = false): void {
    if (!reported || this.machine) this.#sayError(error);
    this.reply({ ok: false, ...(data && { data }), error });
  }

  #sayError(error: FailureReply): void {
    // Leaving is no error.
    const word = error.type === 'interrupted' ? '' : `${this.paint('bad', 'error:')} `;
    this.say(`${word}${error.message}`);
    if (error.hint !== '') this.say(`${this.paint('note', 'hint:')} ${error.hint}`);
  }

  #line({ type, ...fields }: { readonly type: string }): void {
    const line = { v: LINE_VERSION, type, at: new Date().toISOString(), ...fields };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
}

/** What {@link Report} needs of a view that redraws itself. */
export interface LiveView {
  /** Takes what it has drawn off the screen; it draws itself again. */
  clear(): void;
}

/**
 * - `text`: for people; result lines (paths, ids) on stdout.
 * - `json`: stdout holds exactly one object, `{ok, data?, error?}`.
 * - `jsonl`: stdout holds one object a line: events `{v: 1, type, at, …}`, then the envelope
 *   `{v: 1, type: 'result', at, ok, data?, error?}`.
 */
type OutputFormat = 'text' | 'json' | 'jsonl';

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
export interface OutputMode {
  readonly format: OutputFormat;
  readonly color: 'auto' | 'always' | 'never';
}

/** Read before the command line is parsed. */
export function outputModeOf(argv: readonly string[]): OutputMode {
  return { format: formatOf(argv), color: colorOf(argv) };
}

/**
 * By the parsed options, which tell an option from a value that looks like one (`--prompt "--json"`); undefined for a
 * command without them.
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

/** The format that the command line asks for, read before it is parsed: what is wrong with it is reported in that format. */
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

export type Tone = 'good' | 'bad' | 'warn' | 'note';

const STYLES = { good: 'green', bad: 'red', warn: 'yellow', note: 'cyan' } as const;

/** Colours a word for people, or leaves it as it is. */
export type Paint = (tone: Tone, text: string) => string;

/** `--color` wins over NO_COLOR (any text but the empty one), that over what the stream is. */
export function painter(
  when: 'auto' | 'always' | 'never',
  env: NodeJS.ProcessEnv,
  stream: { readonly isTTY?: boolean },
): Paint {
  const wanted = when === 'always' || (when === 'auto' && !env['NO_COLOR'] && stream.isTTY === true);
  return wanted && env['TERM'] !== 'dumb'
    ? (tone, text) => styleText(STYLES[tone], text, { validateStream: false })
    : (_tone, text) => text;
}

/** One line about a video workflow; undefined when there is nothing left to wait for. */
export function statusLine(state: VideoState): string | undefined {
  const { phase, taskId, watch } = state;
  const task = `task ${taskId == null ? 'unknown' : shortId(taskId)}`;
  switch (phase) {
    case 'creating':
      return `creating${state.sends > 0 ? `, try ${state.sends + 1}` : ''}`;
    case 'waiting_to_create': {
      const reason = state.waitingFor === null ? '' : ` (${state.waitingFor})`;
      return `waiting to create${reason}${state.nextCreateAt === null ? '' : `, next try at ${state.nextCreateAt}`}`;
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

/** Only when the service sent a number (C2.2.4). */
function percentage({ watch }: VideoState): string {
  return watch?.progress === undefined ? '' : ` ${watch.progress} %`;
}

function trouble({ watch }: VideoState): string {
  if (watch?.lastError === undefined) return '';
  const { class: kind, httpStatus, reason } = watch.lastError;
  const said = reason?.message ?? reason?.code ?? '';
  return ` (last poll: ${kind}${httpStatus === undefined ? '' : ` ${httpStatus}`}${said === '' ? '' : `: ${said}`})`;
}

/** Ids of this length are read at a glance; longer ones would fill every line. */
const LONGEST_ID = 40;

/** An id as it stands in a line that is repeated; the whole one is said once. */
export function shortId(id: string): string {
  return id.length <= LONGEST_ID ? id : `${id.slice(0, 20)}…${id.slice(-8)}`;
}
