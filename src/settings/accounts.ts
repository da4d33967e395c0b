import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { type CreatePolicy } from '../domain/create-policy';
import { parseWrittenJson, RepeatedNameError } from '../domain/json';
import { readAmount, SPEND_PERIODS, type SpendLimit } from '../domain/money';
import { DEFAULT_CREDENTIAL } from '../domain/names';
import { accountName, normaliseBaseUrl } from '../service/endpoint';
import { type MediaClient } from '../service/media-client';
import { ConfigurationError, createPolicySchema, keyFileText, type MediaConfig, usableKey } from './config';
import { type ModelSource } from './model-source';

/** When a paid request may be sent: after a pause, or only when its call comes back. */
type Permit = { readonly inMs: number } | { readonly heldForMs: number };

/** Longest pause, in milliseconds, for which a call keeps its slot of the worker; others would wait behind it. */
const LONGEST_PAUSE_MS = 5_000;

/**
 * Limit on the paid requests of one account in one process: they are evenly spaced. A call that would have to pause for
 * long is told when to come back, each a little later than the one before, so that they do not come back together.
 */
export class SendRate {
  private readonly everyMs: number;
  /** When the next request may be sent, in milliseconds of {@link clock}. */
  private next = 0;
  /** When the last call that was sent away comes back. */
  private promised = 0;

  /** @param clock milliseconds that never step back */
  constructor(
    perSecond: number,
    private readonly clock: () => number = () => performance.now(),
  ) {
    this.everyMs = 1_000 / perSecond;
  }

  /** Takes the next permit if it comes soon. */
  take(): Permit {
    const now = this.clock();
    const at = Math.max(this.next, now);
    if (at - now <= LONGEST_PAUSE_MS) {
      this.next = at + this.everyMs;
      return { inMs: at - now };
    }
    this.promised = Math.max(this.promised + this.everyMs, at);
    return { heldForMs: this.promised - now };
  }

  /** Counts a request that cannot wait; those after it wait behind it. */
  count(): void {
    this.next = Math.max(this.next, this.clock()) + this.everyMs;
  }
}

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
  return { find: (account) => accountNamed(accounts, account), all: () => accounts };
}

/** The account of this `name` or `name@digest`; none given means `default`. */
export function accountNamed<Named extends { readonly name: string }>(
  accounts: readonly Named[],
  account: string | undefined,
): Named | undefined {
  const requested = account === undefined || account === '' ? DEFAULT_CREDENTIAL : account;
  return accounts.findLast(({ name }) => name === requested || credentialOf(name) === requested);
}

export function credentialOf(account: string): string {
  const end = account.lastIndexOf('@');
  return end === -1 ? account : account.slice(0, end);
}

export const ACCOUNTS_VARIABLE = 'MEDIA_ACCOUNTS';

/** One account of a worker, as MEDIA_ACCOUNTS and `createMediaWorker({ accounts })` describe it. */
export interface AccountOptions {
  /** Name of the credential: letters, digits, `.`, `_` and `-`; calls name it, outcomes show it. */
  readonly name: string;
  /** Base address of the service; a path prefix is kept. */
  readonly baseUrl: string;
  /** File with the key, read at every use. Relative to the folder of the accounts file; in code to the working directory. */
  readonly keyFile?: string | undefined;
  /** Returns the key, at every use; in code only, instead of `keyFile`. `none` for a service without keys. */
  readonly apiKey?: (() => string) | undefined;
  /** File or address of its model configuration. @default that of the worker */
  readonly models?: string | undefined;
  /** Origins besides its own from which its results may be fetched although their address is not public. @default none */
  readonly allowedMediaOrigins?: readonly string[] | undefined;
  /** Most paid requests per second of one worker process. @default no limit */
  readonly createsPerSecond?: number | undefined;
  /**
   * The most that its calls may cost, by their estimates, in all workers on the journal: `amount` such as `25.00`,
   * `currency` as in the prices, `per` hour, day or month of UTC. @default no limit
   */
  readonly spendLimit?:
    | { readonly amount: string; readonly currency: string; readonly per: SpendLimit['per'] }
    | undefined;
  /** What replies of its service prove; overrides MEDIA_CREATE_POLICY. @default that of the worker */
  readonly policy?: CreatePolicy | undefined;
}

/** A valid description of an account. */
export interface AccountSettings extends Pick<AccountOptions, 'models' | 'createsPerSecond' | 'policy'> {
  readonly credential: string;
  /** Normalised. */
  readonly baseUrl: string;
  /** @throws ConfigurationError, without the key in its message */
  readonly apiKey: () => string;
  readonly allowedMediaOrigins: readonly string[];
  readonly spendLimit?: SpendLimit | undefined;
  /** Equal for equal descriptions: an unchanged account is kept. */
  readonly digest: string;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
const nameText =
  'must be 1 to 63 letters, digits, dots, underscores or hyphens, and begin with a letter or digit';

const account = z.strictObject({
  name: z.string().regex(NAME, nameText),
  baseUrl: z.string().superRefine((text, context) => {
    try {
      normaliseBaseUrl(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message });
    }
  }),
  keyFile: z.string().min(1, 'must be the path of a file with the key'),
  models: z.string().min(1, 'must be a file or an address').optional(),
  allowedMediaOrigins: z
    .array(
      z.string().refine((text) => URL.canParse(text), 'must be an origin such as https://media.example.com'),
    )
    .optional(),
  createsPerSecond: z.number().positive('must be a number above 0').optional(),
  spendLimit: z
    .strictObject({
      amount: z
        .string()
        .regex(/^[0-9]{1,9}(\.[0-9]{1,6})?$/, 'must be a text with at most six decimals, such as "25.00"'),
      currency: z.string().regex(/^[A-Z]{3}$/, 'must be the currency of the prices, such as "USD"'),
      per: z.enum(SPEND_PERIODS),
    })
    .optional(),
  policy: createPolicySchema.optional(),
});

/** Shape of the file that MEDIA_ACCOUNTS names. */
export const accountsSchema = z.strictObject({ version: z.literal(1), accounts: z.array(account) });

type Described = z.infer<typeof account>;

/** Reads the accounts of a file. @throws ConfigurationError that names the field and what is allowed, and no key */
export function readAccountsFile(path: string): readonly AccountSettings[] {
  let json: unknown;
  try {
    json = parseWrittenJson(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof RepeatedNameError) throw wrong(error.message);
    // The message of the parser quotes the file.
    throw wrong(error instanceof SyntaxError ? 'is not JSON' : 'cannot be read by this process');
  }
  const read = accountsSchema.safeParse(json);
  if (!read.success) throw wrong(`is not valid: ${z.prettifyError(read.error)}`);
  const folder = dirname(resolve(path));
  return distinct(read.data.accounts.map((described) => settingsOf(described, folder)));
}

function wrong(problem: string): ConfigurationError {
  const hint = '`temporal-media schema accounts` prints its schema';
  return new ConfigurationError(ACCOUNTS_VARIABLE, `the file ${problem}. ${hint}.`);
}

/** Validates accounts that are given in code. @throws ConfigurationError */
export function readAccountOptions(accounts: readonly AccountOptions[]): readonly AccountSettings[] {
  return accounts.map(({ apiKey, ...described }, index) => {
    if ((apiKey === undefined) === (described.keyFile === undefined))
      throw new ConfigurationError(`accounts[${index}]`, 'needs either apiKey or keyFile.');
    const read = account.safeParse({ ...described, keyFile: described.keyFile ?? 'apiKey' });
    if (!read.success) throw new ConfigurationError(`accounts[${index}]`, z.prettifyError(read.error));
    return settingsOf(read.data, process.cwd(), apiKey);
  });
}

/** @throws ConfigurationError where two accounts have one credential name: calls could not tell them apart */
export function distinct(accounts: readonly AccountSettings[]): readonly AccountSettings[] {
  const names = new Set<string>();
  for (const { credential } of accounts) {
    if (names.has(credential))
      throw new ConfigurationError(
        ACCOUNTS_VARIABLE,
        `two accounts have the name ${credential}; MEDIA_BASE_URL counts as the account that MEDIA_CREDENTIAL names (default: default). Rename one.`,
      );
    names.add(credential);
  }
  return accounts;
}

function settingsOf(
  { name, baseUrl, keyFile, spendLimit, models, policy, ...rest }: Described,
  folder: string,
  apiKey?: () => string,
): AccountSettings {
  const path = resolve(folder, keyFile);
  const ofAccount = `of the account ${name} `;
  const where = models === undefined || /^https?:\/\//i.test(models) ? models : resolve(folder, models);
  const { allowedMediaOrigins = [], createsPerSecond } = rest;
  const settings = {
    credential: name,
    baseUrl: normaliseBaseUrl(baseUrl),
    models: where,
    allowedMediaOrigins,
    createsPerSecond,
    spendLimit: spendLimit && {
      microUnits: readAmount(spendLimit.amount)?.microUnits ?? 0,
      currency: spendLimit.currency,
      per: spendLimit.per,
    },
    policy: policy as CreatePolicy | undefined,
  };
  const keyOfFile = (): string => {
    const text = keyFileText(path, ACCOUNTS_VARIABLE, `the keyFile ${ofAccount}`);
    return usableKey(text, ACCOUNTS_VARIABLE, `the key ${ofAccount}`);
  };
  return {
    ...settings,
    apiKey: apiKey === undefined ? keyOfFile : () => usableKey(apiKey(), 'apiKey', ofAccount),
    digest: JSON.stringify([settings, path]),
  };
}

/** The account of MEDIA_BASE_URL, if it is set. @throws ConfigurationError for an address that cannot be used */
export function shortForm(config: MediaConfig): readonly AccountSettings[] {
  const { baseUrl, credential, apiKey, allowedMediaOrigins } = config;
  if (baseUrl === undefined) return [];
  return [{ credential, baseUrl: usableBaseUrl(baseUrl), apiKey, allowedMediaOrigins, digest: '' }];
}

function usableBaseUrl(text: string): string {
  try {
    return normaliseBaseUrl(text);
  } catch (error) {
    throw new ConfigurationError('MEDIA_BASE_URL', (error as Error).message);
  }
}

/** The accounts of a worker with these settings, as they are now: MEDIA_BASE_URL and MEDIA_ACCOUNTS. @throws ConfigurationError */
export function accountsOf(config: MediaConfig): readonly AccountSettings[] {
  const file = config.accounts === undefined ? [] : readAccountsFile(config.accounts);
  return distinct([...shortForm(config), ...file]);
}

/**
 * The settings as they are for the calls of one account; unchanged where the account is not known here.
 * @param account credential or full name; none is `default`
 */
export function configOfAccount(config: MediaConfig, account: string | undefined): MediaConfig {
  if (config.accounts === undefined) return config;
  const named = accountsOf(config).map((settings) => ({
    name: accountName(settings.credential, settings.baseUrl),
    settings,
  }));
  const found = accountNamed(named, account ?? DEFAULT_CREDENTIAL)?.settings;
  return found === undefined ? config : asOnlyAccount(config, found);
}

/** The settings of a worker that has this account alone. */
export function asOnlyAccount(config: MediaConfig, settings: AccountSettings): MediaConfig {
  const { credential, baseUrl, apiKey, allowedMediaOrigins, models = config.models } = settings;
  const policy = { ...config.policy, ...settings.policy };
  return { ...config, accounts: undefined, credential, baseUrl, apiKey, allowedMediaOrigins, models, policy };
}
