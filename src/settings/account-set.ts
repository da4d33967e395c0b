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

/** A worker's accounts. Changes to the accounts file take effect without a restart. */
export interface AccountSet extends AccountRegistry {
  /** What another thread needs to send requests for an account; undefined if this worker does not have the account. */
  access(account: string): AccountAccess | undefined;
  /** The names of all accounts: credential and digest of the base address. */
  names(): readonly string[];
  /** Aborts every open GET, including those of removed accounts. */
  close(): Promise<void>;
}

/** Contains the key, so it must never be part of a payload or a message. */
export interface AccountAccess {
  readonly name: string;
  readonly baseUrl: string;
  /** Empty if there is no usable key. */
  readonly key: string;
  /** The keys of all accounts, for redaction. */
  readonly secrets: readonly string[];
}

interface AccountSetOptions {
  readonly config: MediaConfig;
  /** Additional accounts from code. */
  readonly accounts?: readonly AccountOptions[] | undefined;
  /** Called once for each unusable change to the file, with a message that contains no secrets. */
  readonly warn: (message: string) => void;
  /** A monotonic clock, in milliseconds. */
  readonly clock?: (() => number) | undefined;
}

interface Member extends Account {
  readonly settings: AccountSettings;
}

/** Time between two checks of the file, in milliseconds. */
const CHECK_EVERY_MS = 1_000;

/**
 * Opens the accounts from MEDIA_BASE_URL, MEDIA_ACCOUNTS and code. Account lookups check whether the file has changed
 * and read it again. If a change is unusable, the last usable version stays in effect. An account whose base address
 * changes becomes a different account, because its name contains the address's digest.
 * @throws ConfigurationError if the settings are unusable or contain no account
 */
export function openAccounts({ config, accounts = [], warn, clock }: AccountSetOptions): AccountSet {
  const fixed = [...shortForm(config), ...readAccountOptions(accounts)];
  const now = clock ?? (() => performance.now());
  return new OpenAccounts(fixed, config.accounts, new AccountMembers(config), warn, now);
}

/** The current accounts: `fixed` and the accounts in the file. */
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
      this.warn(`${error.message} The accounts read earlier stay in use until the file is fixed.`);
    }
  }
}

function noAccount(file: string | undefined): ConfigurationError {
  if (file !== undefined)
    return new ConfigurationError(
      ACCOUNTS_VARIABLE,
      'the file contains no accounts, and MEDIA_BASE_URL is not set. Add an account to the file or set MEDIA_BASE_URL.',
    );
  return new ConfigurationError(
    'MEDIA_BASE_URL',
    'is not set. Set it to the base address of the service, or set MEDIA_ACCOUNTS to a file with several accounts. Only a worker without activities (MEDIA_SERVE=workflows) needs neither.',
  );
}

/** Creates accounts from their settings. All of the accounts share the set of known keys. */
class AccountMembers {
  private readonly keys = new KnownKeys();
  /** Every client so far, because a removed account's calls in flight must finish. */
  private readonly clients = new Set<MediaClient>();

  constructor(private readonly config: MediaConfig) {}

  /** Returns one member per account. Members with unchanged settings stay the same objects. */
  of(settings: readonly AccountSettings[], before: readonly Member[]): readonly Member[] {
    return settings.map(
      (one) => before.find((member) => member.settings.digest === one.digest) ?? this.make(one),
    );
  }

  /** Reads all keys, so that every account's redactor knows a key before it is used. */
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
    const { baseUrl, allowedMediaOrigins, createsPerSecond, spendLimit, limits, policy } = settings;
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
      limits,
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

/** A stamp that changes when a file changes, is replaced or becomes unreadable. */
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
 * The keys of all of this process's accounts, because a service may echo another account's key. They are kept only in
 * memory. Previous keys are also kept, because they may still be valid after they were replaced.
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

  /** Returns the same array until a key changes. */
  secrets(): readonly string[] {
    return this.all;
  }
}
