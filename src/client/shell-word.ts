import { isVisible } from '../domain/visible';

/**
 * Quotes a word for a shell when it holds special characters; as bytes (`$'…'`, in bash and zsh) where some of them cannot be
 * shown.
 */
export function shellWord(word: string, platform: NodeJS.Platform = process.platform): string {
  if (platform === 'win32') return windowsWord(word);
  if (/^[\w./:=@%+,-]+$/.test(word)) return word;
  if (isVisible(word)) return `'${word.replaceAll("'", `'\\''`)}'`;
  const bytes = [...Buffer.from(word)].map((byte) =>
    /[\w ./:=@%+,-]/.test(String.fromCharCode(byte)) && byte < 0x80
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, '0')}`,
  );
  // A digit after an escape would be read as a part of it.
  return `$'${bytes.join('').replace(/\\x[0-9a-f]{2}(?=[0-9a-fA-F])/g, (escape) => `${escape}'$'`)}'`;
}

/**
 * For cmd and PowerShell alike: in double quotes both leave all but a few characters alone. Those that one of them would
 * replace or run become `?`, so that the command finds nothing instead of doing something else.
 */
function windowsWord(word: string): string {
  if (/^[\w./:=+-]+$/.test(word)) return word;
  const inert = word.replace(/["%!$`\u201c-\u201e]|[^ -~\u00a0-\uffff]/g, '?');
  // A backslash before the closing quote would take it away.
  return `"${inert}${inert.endsWith('\\') ? '\\' : ''}"`;
}

/** An id as a shell argument, after `--` when it looks like an option: others choose the ids. */
export function idArgument(id: string): string {
  return `${id.startsWith('-') ? '-- ' : ''}${shellWord(id)}`;
}
