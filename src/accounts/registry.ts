import { type CreatePolicy } from '../domain/create-policy';
import { DEFAULT_CREDENTIAL } from '../domain/names';
import { type SpendLimit } from '../domain/spend-limit';
import { type ModelSource } from '../models/model-source';
import { type MediaClient } from '../service/media-client';
import { type SendRate } from './send-rate';

/** One credential at one service; only here a key and a base address are combined. */
export interface Account {
  /** Credential name + `@` + 8 hex digits of the base address's digest (architecture: Requests). */
  readonly name: string;
  /** Its HTTP client, which has its own sockets and key. */
  readonly client: MediaClient;
  /** Whether a key can be read now. */
  hasKey(): Promise<boolean>;
  /** @default the model configuration of the worker */
  readonly models?: ModelSource | undefined;
  /** Overrides the create policy of the worker, not that of a model or a caller. @default none */
  readonly policy?: CreatePolicy | undefined;
  /** Limits the paid requests of this process. @default no limit */
  readonly rate?: SendRate | undefined;
  /** Limits what all workers on the journal send. @default no limit */
  readonly spendLimit?: SpendLimit | undefined;
}

/** The accounts that a worker can pay with. */
export interface AccountRegistry {
  /** By credential name or full account name; undefined when this worker has no such account. */
  find(account: string | undefined): Account | undefined;
  /** Every account that can be used now. */
  all(): readonly Account[];
}

/** Looks accounts up by `name` or `name@digest`; none given means `default`. */
export function accountRegistry(accounts: readonly Account[]): AccountRegistry {
  return {
    find: (account) => accountNamed(accounts, account),
    all: () => accounts,
  };
}

/** The account of this `name` or `name@digest`; none given means `default`. */
export function accountNamed<Named extends { readonly name: string }>(
  accounts: readonly Named[],
  account: string | undefined,
): Named | undefined {
  const requested = account === undefined || account === '' ? DEFAULT_CREDENTIAL : account;
  return accounts.findLast(({ name }) => name === requested || credentialOf(name) === requested);
}

/** The credential in the name of an account. */
export function credentialOf(account: string): string {
  const end = account.lastIndexOf('@');
  return end === -1 ? account : account.slice(0, end);
}
