/** A word as a shell takes it back: quoted when it holds anything that a shell would read. */
export function shellWord(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A command about one id, to be pasted into a shell: ids are chosen by others, and one may look like an option. */
export function commandFor(command: 'resume' | 'status' | 'watch', id: string): string {
  return `temporal-media ${command} ${id.startsWith('-') ? '-- ' : ''}${shellWord(id)}`;
}

/** A command with arguments, each as a shell takes it back. */
export function commandLine(...words: readonly string[]): string {
  return ['temporal-media', ...words.map(shellWord)].join(' ');
}
