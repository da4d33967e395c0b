import { join, resolve } from 'node:path';
import { DEFAULT_CREATE_POLICY } from 'temporal-media/internal/domain/create-policy';
import { DEFAULT_CREDENTIAL, DEFAULT_TASK_QUEUE, SERVED_PARTS } from 'temporal-media/internal/domain/names';
import { normaliseBaseUrl } from 'temporal-media/internal/service/endpoint';
import { readAccountsFile } from 'temporal-media/internal/settings/accounts';
import { DEFAULT_CONNECTIONS, readConfig } from 'temporal-media/internal/settings/config';
import { createModelSource } from 'temporal-media/internal/settings/model-source';
import { spendLimitOf } from '../shared/confirm';

/** How to show a value: unchanged, as a URL or path without secrets, as a list of locations, or not at all. */
type Shown = 'plain' | 'location' | 'locations' | 'never';

export interface MediaVariable {
  readonly name: string;
  readonly shown: Shown;
  /** Returns the default value, or null if there is none. */
  default?(inForce: { readonly dataDir: string; readonly models: string | null }): string | null;
}

/** Every MEDIA_* variable that the package reads, in display order. */
export const MEDIA_VARIABLES: readonly MediaVariable[] = [
  { name: 'MEDIA_BASE_URL', shown: 'location' },
  { name: 'MEDIA_API_KEY', shown: 'never' },
  { name: 'MEDIA_API_KEY_FILE', shown: 'plain' },
  { name: 'MEDIA_ACCOUNTS', shown: 'plain' },
  { name: 'MEDIA_CREDENTIAL', shown: 'plain', default: () => DEFAULT_CREDENTIAL },
  { name: 'MEDIA_MODELS', shown: 'location' },
  {
    name: 'MEDIA_UNKNOWN_MODELS',
    shown: 'plain',
    default: ({ models }) => (models === null ? 'allow' : 'refuse'),
  },
  { name: 'MEDIA_TASK_QUEUE', shown: 'plain', default: () => DEFAULT_TASK_QUEUE },
  { name: 'MEDIA_DATA_DIR', shown: 'plain', default: () => resolve('.data') },
  { name: 'MEDIA_ARTIFACTS', shown: 'location', default: ({ dataDir }) => join(dataDir, 'artifacts') },
  { name: 'MEDIA_CACHE_BYTES', shown: 'plain', default: () => '10000000000' },
  { name: 'MEDIA_JOURNAL', shown: 'location', default: ({ dataDir }) => join(dataDir, 'journal') },
  { name: 'MEDIA_JOURNAL_SHARED', shown: 'plain', default: () => 'off' },
  { name: 'MEDIA_HOST_ID', shown: 'plain' },
  { name: 'MEDIA_EXTERNAL_STORAGE', shown: 'location' },
  { name: 'MEDIA_EXTERNAL_STORAGE_THRESHOLD', shown: 'plain', default: () => '262144' },
  { name: 'MEDIA_DATA_CONVERTER', shown: 'plain' },
  { name: 'MEDIA_INPUT_ROOTS', shown: 'locations' },
  { name: 'MEDIA_ALLOWED_MEDIA_ORIGINS', shown: 'locations' },
  { name: 'MEDIA_CREATE_POLICY', shown: 'plain', default: () => JSON.stringify(DEFAULT_CREATE_POLICY) },
  { name: 'MEDIA_MAX_SPEND', shown: 'plain' },
  { name: 'MEDIA_POLLING', shown: 'plain', default: () => 'own' },
  { name: 'MEDIA_POLL_CONNECTIONS', shown: 'plain', default: () => `${DEFAULT_CONNECTIONS.poll}` },
  { name: 'MEDIA_DOWNLOAD_CONNECTIONS', shown: 'plain', default: () => `${DEFAULT_CONNECTIONS.download}` },
  { name: 'MEDIA_CREATES_PER_SECOND', shown: 'plain' },
  { name: 'MEDIA_CACHED_WORKFLOWS', shown: 'plain' },
  { name: 'MEDIA_HEALTH_ADDRESS', shown: 'plain' },
  { name: 'MEDIA_METRICS_ADDRESS', shown: 'plain' },
  { name: 'MEDIA_LOG_FORMAT', shown: 'plain', default: () => 'text' },
  { name: 'MEDIA_SERVE', shown: 'plain', default: () => SERVED_PARTS.join(',') },
  { name: 'MEDIA_DEPLOYMENT', shown: 'plain' },
  { name: 'MEDIA_NEXUS', shown: 'plain', default: () => 'off' },
  { name: 'MEDIA_NOTIFY', shown: 'plain' },
  { name: 'MEDIA_SEARCH_ATTRIBUTES', shown: 'plain', default: () => 'off' },
];

/** Returns the reason a MEDIA_* variable's value is invalid, or undefined if it is valid. Does not use the network. */
export function valueProblem(name: string, value: string): string | undefined {
  try {
    validate(name, value);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(`${name}: `, '');
  }
}

function validate(name: string, value: string): void {
  const config = readConfig({ [name]: value });
  if (name === 'MEDIA_API_KEY' || name === 'MEDIA_API_KEY_FILE') config.apiKey();
  if (name === 'MEDIA_BASE_URL') normaliseBaseUrl(value);
  if (name === 'MEDIA_ACCOUNTS') readAccountsFile(value);
  // Validates only the syntax of the location, without opening it.
  if (name === 'MEDIA_MODELS') createModelSource({ location: value });
  if (name === 'MEDIA_MAX_SPEND') spendLimitOf(undefined, { [name]: value });
}

/**
 * A value's source. `file`: the profile in Temporal's configuration file. `dev`: a running `temporal-media dev`.
 */
export type ValueOrigin = 'flag' | 'environment' | 'file' | 'dev' | 'default';

/** One line of `config show`. */
export interface ConfigValue {
  readonly name: string;
  /** A secret is shown as `set (N characters)`. Null if the variable is not set and has no default. */
  readonly value: string | null;
  readonly origin: ValueOrigin;
  /** Whether the value is never shown. */
  readonly secret: boolean;
  /** Why the value is invalid. */
  readonly problem?: string;
  /** A note for the reader, such as why the value is not used. */
  readonly note?: string;
  /**
   * Set for a variable that the package does not read. It is never shown, because it may be a secret with a misspelled
   * name.
   */
  readonly unknown?: true;
  /** A similar known name. */
  readonly nearest?: string | null;
}

/** Shows that a secret is set and how long it is, but never any part of it. */
export function masked(secret: string): string {
  return `set (${secret.length} characters)`;
}
