import { join, resolve } from 'node:path';
import { DEFAULT_CONNECTIONS } from '../../config';
import { DEFAULT_CREATE_POLICY } from '../../domain/create-policy';
import { DEFAULT_CREDENTIAL, DEFAULT_TASK_QUEUE } from '../../domain/names';

/** How a value may be shown: as it is, an address or path without its secrets, a list of those, or not at all. */
type Shown = 'plain' | 'location' | 'locations' | 'never';

export interface MediaVariable {
  readonly name: string;
  readonly shown: Shown;
  /** What counts when nothing is set; null when there is no default. */
  default?(inForce: { readonly dataDir: string; readonly models: string | null }): string | null;
}

/** Every MEDIA_* variable that is read anywhere, in the order in which they are shown. */
export const MEDIA_VARIABLES: readonly MediaVariable[] = [
  { name: 'MEDIA_BASE_URL', shown: 'location' },
  { name: 'MEDIA_API_KEY', shown: 'never' },
  { name: 'MEDIA_API_KEY_FILE', shown: 'plain' },
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
  { name: 'MEDIA_JOURNAL', shown: 'location', default: ({ dataDir }) => join(dataDir, 'journal') },
  { name: 'MEDIA_JOURNAL_SHARED', shown: 'plain', default: () => 'off' },
  { name: 'MEDIA_HOST_ID', shown: 'plain' },
  { name: 'MEDIA_INPUT_ROOTS', shown: 'locations' },
  { name: 'MEDIA_ALLOWED_MEDIA_ORIGINS', shown: 'locations' },
  { name: 'MEDIA_CREATE_POLICY', shown: 'plain', default: () => JSON.stringify(DEFAULT_CREATE_POLICY) },
  { name: 'MEDIA_MAX_SPEND', shown: 'plain' },
  { name: 'MEDIA_POLL_CONNECTIONS', shown: 'plain', default: () => `${DEFAULT_CONNECTIONS.poll}` },
  { name: 'MEDIA_DOWNLOAD_CONNECTIONS', shown: 'plain', default: () => `${DEFAULT_CONNECTIONS.download}` },
  { name: 'MEDIA_CREATES_PER_SECOND', shown: 'plain' },
];
