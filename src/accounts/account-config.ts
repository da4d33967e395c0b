import { ConfigurationError, type MediaConfig } from '../config';
import { DEFAULT_CREDENTIAL } from '../domain/names';
import { accountName, normaliseBaseUrl } from '../service/base-url';
import { type AccountSettings, distinct, readAccountsFile } from './accounts-file';
import { accountNamed } from './registry';

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
