import { type Command } from 'commander';
import { type FailureReply } from './errors';

/** The command that was typed, as far as the program knows it, such as `campaign run`; empty when it names none. */
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

/** A hint that points to the help of any COMMAND points to that of the one that was typed. */
export function withTypedCommand(reply: FailureReply, typed: string): FailureReply {
  return typed === ''
    ? reply
    : { ...reply, hint: reply.hint.replaceAll('COMMAND --help', `${typed} --help`) };
}
