import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { type CreatePolicy } from '../domain/create-policy';
import { parseWrittenJson, RepeatedNameError } from '../domain/json';
import {
  type Amount,
  isLabel,
  LABEL_FORM,
  type LabelLimit,
  readAmount,
  SPEND_PERIODS,
  type SpendLimit,
  type SpendLimits,
  WHEN_REACHED,
} from '../domain/money';
import { credentialOf, DEFAULT_CREDENTIAL } from '../domain/names';
import { accountName, normaliseBaseUrl } from '../service/endpoint';
import { type MediaClient } from '../service/media-client';
import { ConfigurationError, createPolicySchema, keyFileText, type MediaConfig, usableKey } from './config';
import { type ModelSource } from './model-source';

/** When a paid request may be sent: after a pause, or only on a later attempt of its call. */
type Permit = { readonly inMs: number } | { readonly heldForMs: number };

/** The longest pause, in milliseconds, for which a call keeps its worker slot and makes other calls wait. */
const LONGEST_PAUSE_MS = 5_000;

/**
 * Limits one account's paid requests in one process by spacing them evenly. A call that would have to pause for long
 * gets a time for its next attempt instead. These times are staggered, so that the calls are not all retried at once.
 */
export class SendRate {
  private readonly everyMs: number;
  /** When the next request may be sent, in {@link clock} milliseconds. */
  private next = 0;
  /** When the last postponed call is retried. */
  private promised = 0;

  /** @param clock a monotonic clock, in milliseconds */
  constructor(
    perSecond: number,
    private readonly clock: () => number = () => performance.now(),
  ) {
    this.everyMs = 1_000 / perSecond;
  }

  /** Takes the next permit if it is due soon. */
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

  /** Counts a request that cannot wait. Later requests wait longer because of it. */
  count(): void {
    this.next = Math.max(this.next, this.clock()) + this.everyMs;
  }
}

/**
 * One credential at one service. This is the only place that combines a key with a base address. Its limits apply to all
 * workers that use the journal.
 */
export interface Account extends SpendLimits {
  /** Credential name + `@` + 8 hex digits of the base address's digest (architecture: Requests). */
  readonly name: string;
  /** The account's HTTP client, with its own sockets and key. */
  readonly client: MediaClient;
  /** Whether a key can currently be read. */
  hasKey(): Promise<boolean>;
  /** The account's model configuration. @default the worker's */
  readonly models?: ModelSource | undefined;
  /** Overrides the worker's create policy, but not a model's or a caller's. @default none */
  readonly policy?: CreatePolicy | undefined;
  /** Limits this process's paid requests. @default no limit */
  readonly rate?: SendRate | undefined;
}

/** The accounts that a worker can pay with. */
export interface AccountRegistry {
  /** Finds an account by credential name or full name; undefined if this worker does not have it. */
  find(account: string | undefined): Account | undefined;
  /** Returns every account that can currently be used. */
  all(): readonly Account[];
}

/** Creates a registry that looks accounts up by `name` or `name@digest`. Without a name, it finds `default`. */
export function accountRegistry(accounts: readonly Account[]): AccountRegistry {
  return { find: (account) => accountNamed(accounts, account), all: () => accounts };
}

/** Finds the account with this `name` or `name@digest`, or `default` if no name is given. */
export function accountNamed<Named extends { readonly name: string }>(
  accounts: readonly Named[],
  account: string | undefined,
): Named | undefined {
  const requested = account === undefined || account === '' ? DEFAULT_CREDENTIAL : account;
  return accounts.findLast(({ name }) => name === requested || credentialOf(name) === requested);
}

export const ACCOUNTS_VARIABLE = 'MEDIA_ACCOUNTS';

/** One of a worker's accounts, as in MEDIA_ACCOUNTS and `createMediaWorker({ accounts })`. */
export interface AccountOptions {
  /** Credential name: letters, digits, `.`, `_` and `-`. Calls refer to it, and outcomes show it. */
  readonly name: string;
  /** Base address of the service. A path prefix is kept. */
  readonly baseUrl: string;
  /** File with the key, read at every use. Relative to the accounts file; in code, to the working directory. */
  readonly keyFile?: string | undefined;
  /** Returns the key at every use. In code only, instead of `keyFile`. `none` for a service without keys. */
  readonly apiKey?: (() => string) | undefined;
  /** File or URL of its model configuration. @default the worker's */
  readonly models?: string | undefined;
  /** Additional non-public origins from which its results may be fetched. @default none */
  readonly allowedMediaOrigins?: readonly string[] | undefined;
  /** Maximum paid requests per second in one worker process. @default no limit */
  readonly createsPerSecond?: number | undefined;
  /**
   * The maximum estimated cost of the account's calls, across all workers that use the journal: `amount` such as
   * `25.00`, `currency` as in the prices, `per` hour, day or month in UTC. @default no limit
   */
  readonly spendLimit?:
    | { readonly amount: string; readonly currency: string; readonly per: SpendLimit['per'] }
    | undefined;
  /**
   * The maximum cost of the account's calls with the same value of a label, enforced like `spendLimit`: `each` for every
   * value, such as `50USD`, or another amount for one of `values`. A call that would exceed one waits, or is rejected.
   * @default none
   */
  readonly limits?:
    | readonly {
        readonly label: string;
        readonly each?: string | undefined;
        readonly values?: { readonly [value: string]: string } | undefined;
        readonly per: SpendLimit['per'];
        /** @default 'wait' */
        readonly whenReached?: LabelLimit['whenReached'] | undefined;
      }[]
    | undefined;
  /** What the service's replies prove about a create. Overrides MEDIA_CREATE_POLICY. @default the worker's */
  readonly policy?: CreatePolicy | undefined;
}

/** Validated account settings. */
export interface AccountSettings
  extends SpendLimits, Pick<AccountOptions, 'models' | 'createsPerSecond' | 'policy'> {
  readonly credential: string;
  /** Normalized. */
  readonly baseUrl: string;
  /** Returns the key. @throws ConfigurationError without the key in its message */
  readonly apiKey: () => string;
  readonly allowedMediaOrigins: readonly string[];
  /** Equal for equal settings, so that unchanged accounts are kept. */
  readonly digest: string;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
const nameText =
  'must be 1 to 63 letters, digits, dots, underscores or hyphens, and start with a letter or digit';

const amountText = z
  .string()
  .refine(
    (text) => (readAmount(text)?.currency ?? null) !== null,
    'must be an amount with its currency, such as "50USD"',
  );

const labelLimit = z
  .strictObject({
    label: z.string().refine((name) => isLabel([name, 'x']), `must be the name of a label: ${LABEL_FORM}`),
    each: amountText.optional(),
    values: z.record(z.string(), amountText).optional(),
    per: z.enum(SPEND_PERIODS),
    whenReached: z.enum(WHEN_REACHED).optional(),
  })
  .refine(
    ({ each, values = {} }) => each !== undefined || Object.keys(values).length > 0,
    'needs `each` or `values`',
  )
  .refine(
    (limit) => new Set(amountsOf(limit).map(({ currency }) => currency)).size <= 1,
    'must use one currency',
  );

interface WrittenLimit {
  readonly each?: string | undefined;
  readonly values?: { readonly [value: string]: string } | undefined;
}

function amountsOf({ each, values = {} }: WrittenLimit): readonly Amount[] {
  return [...(each === undefined ? [] : [each]), ...Object.values(values)].flatMap(
    (text) => readAmount(text) ?? [],
  );
}

function limitOf({
  label,
  each,
  values = {},
  per,
  whenReached = 'wait',
}: z.infer<typeof labelLimit>): LabelLimit {
  const microUnits = (text: string): number => readAmount(text)?.microUnits ?? 0;
  return {
    label,
    each: each === undefined ? null : microUnits(each),
    values: Object.fromEntries(Object.entries(values).map(([value, text]) => [value, microUnits(text)])),
    currency: amountsOf({ each, values })[0]?.currency ?? '',
    per,
    whenReached,
  };
}

const account = z.strictObject({
  name: z.string().regex(NAME, nameText),
  baseUrl: z.string().superRefine((text, context) => {
    try {
      normaliseBaseUrl(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message });
    }
  }),
  keyFile: z.string().min(1, 'must be the path of a file that contains the key'),
  models: z.string().min(1, 'must be a file path or a URL').optional(),
  allowedMediaOrigins: z
    .array(
      z.string().refine((text) => URL.canParse(text), 'must be an origin such as https://media.example.com'),
    )
    .optional(),
  createsPerSecond: z.number().positive('must be a number greater than 0').optional(),
  spendLimit: z
    .strictObject({
      amount: z
        .string()
        .regex(
          /^[0-9]{1,9}(\.[0-9]{1,6})?$/,
          'must be a string with at most six decimal places, such as "25.00"',
        ),
      currency: z.string().regex(/^[A-Z]{3}$/, 'must be the currency code used in the prices, such as "USD"'),
      per: z.enum(SPEND_PERIODS),
    })
    .optional(),
  limits: z
    .array(labelLimit)
    .refine(
      (all) => new Set(all.map(({ label, per }) => `${label} ${per}`)).size === all.length,
      'must have one entry for a label and period: put exceptions into its `values`',
    )
    .optional(),
  policy: createPolicySchema.optional(),
});

/** The schema of the MEDIA_ACCOUNTS file. */
export const accountsSchema = z.strictObject({ version: z.literal(1), accounts: z.array(account) });

type Described = z.infer<typeof account>;

/** Reads an accounts file. @throws ConfigurationError with the field and the allowed values, without any key */
export function readAccountsFile(path: string): readonly AccountSettings[] {
  let json: unknown;
  try {
    json = parseWrittenJson(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof RepeatedNameError) throw wrong(error.message);
    // The parser's message quotes the file, which may contain secrets.
    throw wrong(error instanceof SyntaxError ? 'is not JSON' : 'cannot be read by this process');
  }
  const read = accountsSchema.safeParse(json);
  if (!read.success) throw wrong(`is not valid: ${z.prettifyError(read.error)}`);
  const folder = dirname(resolve(path));
  return distinct(read.data.accounts.map((described) => settingsOf(described, folder)));
}

function wrong(problem: string): ConfigurationError {
  const hint = 'To see its schema, run `temporal-media schema accounts`';
  return new ConfigurationError(ACCOUNTS_VARIABLE, `the file ${problem}. ${hint}.`);
}

/** Validates accounts from code. @throws ConfigurationError */
export function readAccountOptions(accounts: readonly AccountOptions[]): readonly AccountSettings[] {
  return accounts.map(({ apiKey, ...described }, index) => {
    if ((apiKey === undefined) === (described.keyFile === undefined))
      throw new ConfigurationError(`accounts[${index}]`, 'needs exactly one of apiKey and keyFile.');
    const read = account.safeParse({ ...described, keyFile: described.keyFile ?? 'apiKey' });
    if (!read.success) throw new ConfigurationError(`accounts[${index}]`, z.prettifyError(read.error));
    return settingsOf(read.data, process.cwd(), apiKey);
  });
}

/** @throws ConfigurationError if two accounts have the same credential name, because calls need unique names */
export function distinct(accounts: readonly AccountSettings[]): readonly AccountSettings[] {
  const names = new Set<string>();
  for (const { credential } of accounts) {
    if (names.has(credential))
      throw new ConfigurationError(
        ACCOUNTS_VARIABLE,
        `two accounts have the name ${credential}. MEDIA_BASE_URL also defines an account, named by MEDIA_CREDENTIAL (default: default). Rename one of them.`,
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
  const ofAccount = `of account ${name} `;
  const where = models === undefined || /^https?:\/\//i.test(models) ? models : resolve(folder, models);
  const { allowedMediaOrigins = [], createsPerSecond, limits } = rest;
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
    limits: limits?.map(limitOf),
    policy: policy as CreatePolicy | undefined,
  };
  const keyOfFile = (): string => {
    const text = keyFileText(path, ACCOUNTS_VARIABLE, `the keyFile ${ofAccount}`);
    return usableKey(text, ACCOUNTS_VARIABLE, `the key ${ofAccount}`);
  };
  return {
    ...settings,
    apiKey: apiKey === undefined ? keyOfFile : () => usableKey(apiKey(), 'apiKey', `the key ${ofAccount}`),
    digest: JSON.stringify([settings, path]),
  };
}

/** Returns the account from MEDIA_BASE_URL, if that is set. @throws ConfigurationError for an unusable address */
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

/** Returns a worker's current accounts from MEDIA_BASE_URL and MEDIA_ACCOUNTS. @throws ConfigurationError */
export function accountsOf(config: MediaConfig): readonly AccountSettings[] {
  const file = config.accounts === undefined ? [] : readAccountsFile(config.accounts);
  return distinct([...shortForm(config), ...file]);
}

/**
 * Returns the settings that apply to one account's calls. Returns them unchanged if the account is not known here.
 * @param account credential name or full name; `default` if omitted
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

/** Returns the settings of a worker with this account only. */
export function asOnlyAccount(config: MediaConfig, settings: AccountSettings): MediaConfig {
  const { credential, baseUrl, apiKey, allowedMediaOrigins, models = config.models } = settings;
  const policy = { ...config.policy, ...settings.policy };
  return { ...config, accounts: undefined, credential, baseUrl, apiKey, allowedMediaOrigins, models, policy };
}
