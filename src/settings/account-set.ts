import { statSync } from 'node:fs';
import { throwBug } from '../domain/bug';
import { createMediaClient } from '../service/create-media-client';
import { accountName, keySecrets } from '../service/endpoint';
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
import { ConfigurationError, type MediaConfig } from './config';
import { createModelSource } from './model-source';

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
  const fixed = [...shortForm(config), ...readAccountOptions(accounts)];
  const now = clock ?? (() => performance.now());
  return new OpenAccounts(fixed, config.accounts, new AccountMembers(config), warn, now);
}

/** The accounts that there are now: `fixed`, and those of the file. */
class OpenAccounts implements AccountSet {
  private stamp: string;
  private current: readonly Member[];
  private checkedAt: number;

  constructor(
    private readonly fixed: readonly AccountSettings[],
    private readonly file: string | undefined,
    private readonly members: AccountMembers,
    private readonly warn: (message: string) => void,
    private readonly now: () => number,
  ) {
    this.stamp = file === undefined ? '' : stampOf(file);
    const read = file === undefined ? [] : readAccountsFile(file);
    this.current = members.of(distinct([...fixed, ...read]), []);
    this.checkedAt = now();
    if (this.current.length === 0) throw noAccount(file);
    members.readKeys(this.current);
  }

  find(account: string | undefined): Account | undefined {
    return accountNamed(this.all(), account);
  }

  all(): readonly Member[] {
    if (this.now() - this.checkedAt < CHECK_EVERY_MS) return this.current;
    this.checkedAt = this.now();
    if (this.file !== undefined) this.readAgain(this.file);
    this.members.readKeys(this.current);
    return this.current;
  }

  access(account: string): AccountAccess | undefined {
    const member = accountNamed(this.all(), account);
    return member === undefined ? undefined : this.members.access(member);
  }

  names(): readonly string[] {
    return this.all().map(({ name }) => name);
  }

  close(): Promise<void> {
    return this.members.close();
  }

  private readAgain(file: string): void {
    const seen = stampOf(file);
    if (seen === this.stamp) return;
    this.stamp = seen;
    try {
      this.current = this.members.of(distinct([...this.fixed, ...readAccountsFile(file)]), this.current);
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      this.warn(`${error.message} The accounts that were read last are used until it is corrected.`);
    }
  }
}

function noAccount(file: string | undefined): ConfigurationError {
  if (file !== undefined)
    return new ConfigurationError(
      ACCOUNTS_VARIABLE,
      'the file names no account, and MEDIA_BASE_URL is not set.',
    );
  return new ConfigurationError(
    'MEDIA_BASE_URL',
    'is not set. Set it to the base address of the service, or set MEDIA_ACCOUNTS to a file with several accounts. Only a worker without activities (MEDIA_SERVE=workflows) needs neither.',
  );
}

/** Makes accounts of their settings. All of them share what is known of keys. */
class AccountMembers {
  private readonly keys = new KnownKeys();
  /** Every client that was made: what an account that was removed has in flight is finished. */
  private readonly clients = new Set<MediaClient>();

  constructor(private readonly config: MediaConfig) {}

  /** One member for each of the settings. Those whose settings have not changed stay the same objects. */
  of(settings: readonly AccountSettings[], before: readonly Member[]): readonly Member[] {
    return settings.map(
      (one) => before.find((member) => member.settings.digest === one.digest) ?? this.make(one),
    );
  }

  /** Before an account is used, the redactors of all others know its key. */
  readKeys(members: readonly Member[]): void {
    for (const { name, settings } of members) keyOr(() => this.keyOf(name, settings));
  }

  access({ name, settings }: Member): AccountAccess {
    const key = keyOr(() => this.keyOf(name, settings));
    return { name, baseUrl: settings.baseUrl, key, secrets: this.keys.secrets() };
  }

  async close(): Promise<void> {
    await Promise.all([...this.clients].map((client) => client.close()));
  }

  private make(settings: AccountSettings): Member {
    const { baseUrl, allowedMediaOrigins, createsPerSecond, spendLimit, policy } = settings;
    const { pollConnections, downloadConnections, unknownModels } = this.config;
    const name = accountName(settings.credential, baseUrl);
    const client = createMediaClient({
      baseUrl,
      apiKey: () => this.keyOf(name, settings),
      otherSecrets: () => this.keys.secrets(),
      allowedMediaOrigins,
      connections: { poll: pollConnections, content: downloadConnections },
    });
    this.clients.add(client);
    return {
      name,
      client,
      settings,
      hasKey: async () => keyOr(() => this.keyOf(name, settings)) !== '',
      models:
        settings.models === undefined
          ? undefined
          : createModelSource({ location: settings.models, unknownModels }),
      policy,
      rate: createsPerSecond === undefined ? undefined : new SendRate(createsPerSecond),
      spendLimit,
    };
  }

  private keyOf(name: string, { apiKey }: AccountSettings): string {
    const key = apiKey();
    this.keys.learn(name, key);
    return key;
  }
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
