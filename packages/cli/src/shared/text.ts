import { idArgument } from 'temporal-media/internal/domain/terminal-text';

export { idArgument, shellWord } from 'temporal-media/internal/domain/terminal-text';

type CommandOfId =
  | 'resume'
  | 'status'
  | 'watch'
  | 'unconfirmed show'
  | `campaign ${'adopt' | 'declare-lost' | 'report' | 'resume' | 'retry' | 'set' | 'status' | 'watch'}`;

/** Returns a command for one id that can be pasted into a shell. */
export function commandFor(command: CommandOfId, id: string): string {
  return `temporal-media ${command} ${idArgument(id)}`;
}

/** Formats a path or URL without user info, query and fragment, even if the scheme is missing. */
export function shownLocation(text: string): string {
  // A password may contain any character, even one that ends the host in a valid URL. So everything up to the last @ is
  // removed.
  if (/^\W*postgres(?:ql)?:/i.test(text))
    return `postgres://${text.slice(text.lastIndexOf('@') + 1).replace(/^\W*postgres(?:ql)?:\/*/i, '')}`.replace(
      /[?#&].*$/s,
      '',
    );
  return text
    .replace(/^([a-z][a-z0-9+.-]*:)?\/\/[^/?#]*@/i, (head) => head.slice(0, head.indexOf('//') + 2))
    .replace(/^[^/?#:@]*:[^/?#@]*@/, '')
    .replace(isAddress(text) ? /[?#].*$/s : /\?.*$/s, '');
}

const isAddress = (text: string): boolean => /^([a-z][a-z0-9+.-]*:)?\/\//i.test(text);

export { nearNames } from 'temporal-media/internal/domain/near-names';

/** Whether a URL is free of credentials: it has no user, password, query or fragment. */
export function isBareAddress({ username, password, search, hash }: URL): boolean {
  return `${username}${password}${search}${hash}` === '';
}
