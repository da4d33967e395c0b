import { DEFAULT_CREDENTIAL } from '../domain/names';
import { type MediaClient } from '../service/media-client';

/** One credential at one service; only here a key and a base address are combined. */
export interface Account {
  /** Credential name + `@` + 8 hex digits of the base address's digest (architecture: Requests). */
  readonly name: string;
  readonly client: MediaClient;
  /** Whether a key can be read now. */
  hasKey(): Promise<boolean>;
}

export interface AccountRegistry {
  /** By credential name or full account name; undefined when this worker has no such account. */
  find(account: string | undefined): Account | undefined;
  all(): readonly Account[];
}

/** Looks accounts up by `name` or `name@digest`; none given means `default`. */
export function accountRegistry(accounts: readonly Account[]): AccountRegistry {
  const byName = new Map<string, Account>();
  for (const account of accounts) {
    byName.set(account.name, account);
    byName.set(account.name.slice(0, account.name.lastIndexOf('@')), account);
  }
  return {
    find: (account) => byName.get(account === undefined || account === '' ? DEFAULT_CREDENTIAL : account),
    all: () => accounts,
  };
}
