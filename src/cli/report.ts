import { type FailureReply } from './cli-error';
import { tellParent } from './attached';

/** The one JSON object of a command. `data` of a paid command is its outcome. */
export interface Reply {
  readonly ok: boolean;
  readonly data?: object;
  readonly error?: FailureReply;
}

/**
 * Keeps the two readers apart: with `--json` stdout holds exactly one JSON object for scripts; everything for people
 * goes to stderr. Without it, results (paths, ids) go to stdout and the rest to stderr.
 */
export class Report {
  #replied = false;

  constructor(public json: boolean) {}

  /** A line for people. */
  say(line: string): void {
    process.stderr.write(`${line}\n`);
  }

  /** A result line: what a shell script without `--json` wants to capture. */
  result(line: string): void {
    if (!this.json) process.stdout.write(`${line}\n`);
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
    if (this.json) process.stdout.write(`${JSON.stringify(reply)}\n`);
  }

  fail(error: FailureReply, data?: object): void {
    this.say(`error: ${error.message}`);
    if (error.hint !== '') this.say(`hint: ${error.hint}`);
    this.reply({ ok: false, ...(data && { data }), error });
  }
}
