import { tellParent } from './attached';
import { type FailureReply } from './cli-error';
import { type OutputFormat } from './output-format';
import { type Paint } from './paint';

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
    tellParent({ type: 'ready', data });
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
  fail(error: FailureReply, data?: object, told = false): void {
    if (!told || this.machine) this.#sayError(error);
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
