/** A word as a shell takes it back: quoted when it holds anything that a shell would read. */
export function shellWord(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** An id as an argument: ids are chosen by others, and one may look like an option. */
export function idArgument(id: string): string {
  return `${id.startsWith('-') ? '-- ' : ''}${shellWord(id)}`;
}

type CommandOfId =
  | 'resume'
  | 'status'
  | 'watch'
  | 'unconfirmed show'
  | `campaign ${'adopt' | 'declare-lost' | 'report' | 'resume' | 'retry' | 'set' | 'status' | 'watch'}`;

/** A command about one id, to be pasted into a shell. */
export function commandFor(command: CommandOfId, id: string): string {
  return `temporal-media ${command} ${idArgument(id)}`;
}
