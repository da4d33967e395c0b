import { statSync } from 'node:fs';
import { ConfigurationError, type MediaConfig } from './config';
import { throwBug } from '../domain/bug';
import { createModelSource } from './model-source';
import { accountName, keySecrets } from '../service/endpoint';
import { createMediaClient } from '../service/create-media-client';
import { type MediaClient } from '../service/media-client';
import {
  type Account,
  accountNamed,
  type AccountOptions,
  type AccountRegistry,
  ACCOUNTS_VARIABLE,
  type AccountSettings,
  distinct,
  readAccountOptions,
  readAccountsFile,
  SendRate,
  shortForm,
} from './accounts';

/** The accounts of a worker; those of the file change with it, without a restart. */
export interface AccountSet extends AccountRegistry {
  /** What a request for an account needs, for another thread; undefined when this worker has no such account. */
  access(account: string): AccountAccess | undefined;
  /** Names of all accounts: credential and digest of the base address. */
  names(): readonly string[];
  /** Ends every open GET, also those of accounts that were removed. */
  close(): Promise<void>;
}

/** Contains the key: never part of a payload or a message. */
export interface AccountAccess {
  readonly name: string;
  readonly baseUrl: string;
  /** Empty when there is none. */
  readonly key: string;
  /** The keys of all accounts, for redaction. */
  readonly secrets: readonly string[];
}

interface AccountSetOptions {
  readonly config: MediaConfig;
  /** Further accounts, given in code. */
  readonly accounts?: readonly AccountOptions[] | undefined;
  /** Receives a sentence without secrets, once for each change of the file that cannot be used. */
  readonly warn: (message: string) => void;
  /** Milliseconds that never step back. */
  readonly clock?: (() => number) | undefined;
}

/** An account and what it was made of. */
interface Member extends Account {
  readonly settings: AccountSettings;
}

/** Time between two checks of the file, in milliseconds. */
const CHECK_EVERY_MS = 1_000;

/**
 * Opens the account of MEDIA_BASE_URL, those of MEDIA_ACCOUNTS and those that are given in code. The file is read again
 * when it has changed, which is checked when an account is looked up. Where it cannot be used any more, the last usable
 * one counts. An account with another base address is another account: its name contains the digest of the address.
 * @throws ConfigurationError for settings that cannot be used now, and where there is no account
 */
export function openAccounts({ config, accounts = [], warn, clock }: AccountSetOptions): AccountSet {
  const now = clock ?? (() => performance.now());
  const fixed = [...shortForm(config), ...readAccountOptions(accounts)];
  const path = config.accounts;
  const keys = new KnownKeys();
  /** Every client that was made: what an account that was removed has in flight is finished. */
  const clients = new Set<MediaClient>();
  let stamp = path === undefined ? '' : stampOf(path);
  let members = memberOf(distinct([...fixed, ...(path === undefined ? [] : readAccountsFile(path))]), []);
  let checkedAt = now();

  if (path === undefined && members.length === 0)
    throw new ConfigurationError(
      'MEDIA_BASE_URL',
      'is not set. Set it to the base address of the service, or set MEDIA_ACCOUNTS to a file with several accounts. Only a worker without activities (MEDIA_SERVE=workflows) needs neither.',
    );
  if (members.length === 0)
    throw new ConfigurationError(
      ACCOUNTS_VARIABLE,
      'the file names no account, and MEDIA_BASE_URL is not set.',
    );
  readKeys();

  function memberOf(settings: readonly AccountSettings[], before: readonly Member[]): readonly Member[] {
    return settings.map(
      (one) => before.find((member) => member.settings.digest === one.digest) ?? memberFrom(one),
    );
  }

  function memberFrom(settings: AccountSettings): Member {
    const { baseUrl, allowedMediaOrigins, createsPerSecond, spendLimit, policy } = settings;
    const name = accountName(settings.credential, baseUrl);
    const client = createMediaClient({
      baseUrl,
      apiKey: () => keyOf(name, settings),
      otherSecrets: () => keys.secrets(),
      allowedMediaOrigins,
      connections: { poll: config.pollConnections, content: config.downloadConnections },
    });
    clients.add(client);
    return {
      name,
      client,
      settings,
      hasKey: async () => keyOr(() => keyOf(name, settings)) !== '',
      models:
        settings.models === undefined
          ? undefined
          : createModelSource({ location: settings.models, unknownModels: config.unknownModels }),
      policy,
      rate: createsPerSecond === undefined ? undefined : new SendRate(createsPerSecond),
      spendLimit,
    };
  }

  function keyOf(name: string, { apiKey }: AccountSettings): string {
    const key = apiKey();
    keys.learn(name, key);
    return key;
  }

  /** Before an account is used, the redactors of all others know its key. */
  function readKeys(): void {
    for (const { name, settings } of members) keyOr(() => keyOf(name, settings));
  }

  function current(): readonly Member[] {
    if (now() - checkedAt < CHECK_EVERY_MS) return members;
    checkedAt = now();
    if (path !== undefined) readAgain(path);
    readKeys();
    return members;
  }

  function readAgain(file: string): void {
    const seen = stampOf(file);
    if (seen === stamp) return;
    stamp = seen;
    try {
      members = memberOf(distinct([...fixed, ...readAccountsFile(file)]), members);
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      warn(`${error.message} The accounts that were read last are used until it is corrected.`);
    }
  }

  return {
    find: (account) => accountNamed(current(), account),
    all: current,
    access: (account) => {
      const member = accountNamed(current(), account);
      if (member === undefined) return undefined;
      const { name, settings } = member;
      const key = keyOr(() => keyOf(name, settings));
      return { name, baseUrl: settings.baseUrl, key, secrets: keys.secrets() };
    },
    names: () => current().map(({ name }) => name),
    close: async () => {
      await Promise.all([...clients].map((client) => client.close()));
    },
  };
}

function keyOr(read: () => string): string {
  try {
    return read();
  } catch (error) {
    throwBug(error);
    return '';
  }
}

/** Changes with the content of a file: also when it is replaced by another one, or cannot be read any more. */
function stampOf(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch (error) {
    throwBug(error);
    return 'unreadable';
  }
}

/**
 * The keys of all accounts of this process, in memory only: a service may echo the key of another one. The key before
 * the present one is kept too, because it may still be valid where it was replaced.
 */
class KnownKeys {
  private readonly keys = new Map<string, readonly string[]>();
  private all: readonly string[] = [];

  learn(account: string, key: string): void {
    const known = this.keys.get(account) ?? [];
    if (known[0] === key || keySecrets(key).length === 0) return;
    this.keys.set(account, [key, ...known.filter((other) => other !== key)].slice(0, 2));
    this.all = [...this.keys.values()].flat();
  }

  /** The same object as long as no key has changed. */
  secrets(): readonly string[] {
    return this.all;
  }
}
