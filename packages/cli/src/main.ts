/**
 * @module The program `temporal-media`. It parses arguments, runs one command, prints one answer and exits with a
 *   documented code.
 */
import { CommanderError, type Command } from 'commander';
import { createProgram } from './program';
import { notifyParent } from './shared/child-process';
import { type CommandContext } from './shared/context';
import { failureOf, withoutSecrets } from './shared/errors';
import { EXIT } from './shared/exit-codes';
import { type FailureReply } from './shared/json-output';
import {
  type Paint,
  painter,
  parsedOutputMode,
  Report,
  type OutputMode,
  outputModeOf,
} from './shared/report';

// The AWS SDK would warn on every command about Node versions that it will require in the future. This variable
// silences only that warning.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';

async function main(argv: readonly string[]): Promise<number> {
  const context: CommandContext = {
    env: process.env,
    report: reportOf(outputModeOf(argv)),
    exitCode: EXIT.done,
  };
  const program = createProgram(context).hook('preAction', (_program, command) => {
    const outputMode = parsedOutputMode(command);
    if (outputMode !== undefined) context.report = reportOf(outputMode);
  });
  try {
    if (argv.length === 0) {
      for (const line of program.helpInformation().split('\n')) context.report.say(line);
      return EXIT.usage;
    }
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    const { report } = context;
    if (error instanceof CommanderError && error.exitCode === 0) {
      report.reply({ ok: true });
      return EXIT.done;
    }
    const { exitCode, data, reported, ...failure } = failureOf(error);
    const reply = withTypedCommand(failure.reply, typedCommand(program, argv));
    if (process.env['TEMPORAL_MEDIA_DEBUG'] === '1' && error instanceof Error)
      for (const line of withoutSecrets(error.stack ?? '').split('\n')) report.say(line);
    report.fail(reply, data, reported);
    notifyParent({ type: 'failed', error: reply });
    return exitCode;
  }
  return context.exitCode;
}

function reportOf({ format, color }: OutputMode): Report {
  const paint = (stream: NodeJS.WriteStream): Paint => painter(color, process.env, stream);
  return new Report(format, paint(process.stderr), paint(process.stdout));
}

// A closed pipe (`| head -1`) must not end the wait for a paid call: its files are still saved.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
  });

// SDK connections may keep the process alive, so it exits explicitly after flushing all output.
const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => stream.write('', () => resolve()));

void main(process.argv.slice(2)).then(async (exitCode) => {
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  process.exit(exitCode);
});

/** Returns the known command in the arguments, such as `campaign run`. Empty if there is none. */
function typedCommand(program: Command, argv: readonly string[]): string {
  const names: string[] = [];
  let at = program;
  for (const word of argv) {
    if (word.startsWith('-')) continue;
    const next = at.commands.find((command) => command.name() === word);
    if (next === undefined) break;
    names.push(word);
    at = next;
  }
  return names.join(' ');
}

/** Replaces COMMAND in `COMMAND --help` hints with the command that the user typed. */
function withTypedCommand(reply: FailureReply, typed: string): FailureReply {
  return typed === ''
    ? reply
    : { ...reply, hint: reply.hint.replaceAll('COMMAND --help', `${typed} --help`) };
}
