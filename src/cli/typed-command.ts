import { type Command } from 'commander';
import { type FailureReply } from './json-output';

/** The known command that was typed, such as `campaign run`; empty when there is none. */
export function typedCommand(program: Command, argv: readonly string[]): string {
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

/** Replaces COMMAND in a hint about `COMMAND --help` by the command that was typed. */
export function withTypedCommand(reply: FailureReply, typed: string): FailureReply {
  return typed === ''
    ? reply
    : { ...reply, hint: reply.hint.replaceAll('COMMAND --help', `${typed} --help`) };
}
