import { idArgument } from 'temporal-media/internal/domain/terminal-text';

export { idArgument, shellWord } from 'temporal-media/internal/domain/terminal-text';

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

/**
 * A path or address of the configuration without user-info, query and fragment, also when the scheme is
 * missing.
 */
export function shownLocation(text: string): string {
  // A password may hold any character, also one that ends the host of a valid address: all up to the last @ goes.
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

/** Whether an address holds no credentials: no user, no password, no query, no fragment. */
export function isBareAddress({ username, password, search, hash }: URL): boolean {
  return `${username}${password}${search}${hash}` === '';
}
