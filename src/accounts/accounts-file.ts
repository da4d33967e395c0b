import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { ConfigurationError, createPolicySchema, keyFileText, usableKey } from '../config';
import { type CreatePolicy } from '../domain/create-policy';
import { parseWrittenJson, RepeatedNameError } from '../domain/json';
import { readAmount } from '../domain/price';
import { SPEND_PERIODS, type SpendLimit } from '../domain/spend-limit';
import { normaliseBaseUrl } from '../service/base-url';

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
    spendLimit:
      spendLimit === undefined
        ? undefined
        : {
            microUnits: readAmount(spendLimit.amount)?.microUnits ?? 0,
            currency: spendLimit.currency,
            per: spendLimit.per,
          },
    policy: policy as CreatePolicy | undefined,
  };
  return {
    ...settings,
    apiKey:
      apiKey === undefined
        ? () =>
            usableKey(
              keyFileText(path, ACCOUNTS_VARIABLE, `the keyFile ${ofAccount}`),
              ACCOUNTS_VARIABLE,
              `the key ${ofAccount}`,
            )
        : () => usableKey(apiKey(), 'apiKey', ofAccount),
    digest: JSON.stringify([settings, path]),
  };
}
