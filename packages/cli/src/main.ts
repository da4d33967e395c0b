/**
 * @module The program `temporal-media`: parses, runs one command, prints one answer, ends with a documented exit code.
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

// With every command, the AWS SDK warns which Node versions it will require in the future. Its own switch silences only
// this warning.
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

// SDK connections may keep the process alive, so it exits explicitly, after all output is flushed.
const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => stream.write('', () => resolve()));

void main(process.argv.slice(2)).then(async (exitCode) => {
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  process.exit(exitCode);
});

/** The known command that was typed, such as `campaign run`; empty when there is none. */
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

/** Replaces COMMAND in a hint about `COMMAND --help` with the command that was typed. */
function withTypedCommand(reply: FailureReply, typed: string): FailureReply {
  return typed === ''
    ? reply
    : { ...reply, hint: reply.hint.replaceAll('COMMAND --help', `${typed} --help`) };
}
