import { join } from 'node:path';
import { type ArtifactStore } from '../artifacts/artifact-store';
import { FileArtifactStore } from '../artifacts/file-store';
import { ConfigurationError, type MediaConfig, readConfig } from '../config';
import { type CreateJournal } from '../domain/journal';
import { createJournal } from '../journal/create-journal';
import { createFileRecords } from '../journal/file-journal';
import { IDENTITY } from '../journal/record-names';
import { type RecordStore } from '../journal/record-store';
import { type StorePackage } from './store-package';

/** Settings of a worker that say where its journal is. */
export type JournalSettings = Pick<MediaConfig, 'journal' | 'journalShared'>;
/** Settings of a worker that say where artifacts are stored. */
export type ArtifactSettings = Pick<MediaConfig, 'artifacts' | 'dataDir' | 'cacheBytes'>;

/** The place of the journal. Creates nothing. @throws ConfigurationError */
export async function openRecords({ journal, journalShared }: JournalSettings): Promise<RecordStore> {
  const scheme = schemeOf(journal);
  if (scheme === undefined) {
    refuseHalfAddress('MEDIA_JOURNAL', journal);
    return createFileRecords({ root: journal, shared: journalShared });
  }
  const name = STORE_PACKAGES[scheme];
  if (name === undefined)
    throw new ConfigurationError('MEDIA_JOURNAL', 'must be a folder, s3://bucket/prefix or postgres://….');
  const store = load('MEDIA_JOURNAL', name);
  return configured('MEDIA_JOURNAL', () => store.openRecords(journal));
}

/** The journal of paid sends. @throws ConfigurationError */
export async function openJournal(settings: JournalSettings): Promise<CreateJournal> {
  return createJournal(await openRecords(settings));
}

/** The place of the journal, if one is there: asking a journal for its identity would make one. @throws ConfigurationError */
export async function existingRecords(settings: JournalSettings): Promise<RecordStore | undefined> {
  const records = await openRecords(settings);
  return (await records.read(IDENTITY)) === null ? undefined : records;
}

/** The journal, if there is one. @throws ConfigurationError */
export async function existingJournal(settings: JournalSettings): Promise<CreateJournal | undefined> {
  const records = await existingRecords(settings);
  return records === undefined ? undefined : createJournal(records);
}

/**
 * The store of results and input files, as the workers have it.
 * @param settings an environment with MEDIA_ARTIFACTS, MEDIA_DATA_DIR and MEDIA_CACHE_BYTES, or a configuration
 * @throws ConfigurationError
 */
export async function openArtifactStore(
  settings: NodeJS.ProcessEnv | ArtifactSettings = process.env,
): Promise<ArtifactStore> {
  const { artifacts, dataDir, cacheBytes } = isSettings(settings) ? settings : readConfig(settings);
  const scheme = schemeOf(artifacts);
  if (scheme === undefined) {
    refuseHalfAddress('MEDIA_ARTIFACTS', artifacts);
    return new FileArtifactStore(artifacts);
  }
  const name = STORE_PACKAGES[scheme];
  const store = name === undefined ? undefined : load('MEDIA_ARTIFACTS', name);
  const open = store?.openArtifactStore;
  if (open === undefined)
    throw new ConfigurationError('MEDIA_ARTIFACTS', 'must be a folder or s3://bucket/prefix.');
  const options = { folder: join(dataDir, 's3'), ...(cacheBytes !== undefined && { cacheBytes }) };
  return configured('MEDIA_ARTIFACTS', () => open(artifacts, options));
}

/**
 * An address in quotes, as files of variables keep them, or with a slash too few would be a folder in the working
 * directory: what is recorded there is gone with a container. @throws ConfigurationError that does not repeat the value
 */
function refuseHalfAddress(variable: string, place: string): void {
  if (/^["']|^[a-z][a-z0-9+.-]+:\/[^/]|^\/\/[^/]*@/i.test(place))
    throw new ConfigurationError(
      variable,
      'is neither a folder nor a complete address. Write it without quotes, as s3://bucket/prefix or postgres://user@host/database.',
    );
}

function isSettings(settings: NodeJS.ProcessEnv | ArtifactSettings): settings is ArtifactSettings {
  return typeof settings['artifacts'] === 'string' && typeof settings['dataDir'] === 'string';
}

/** `s3` of `s3://…`; undefined for a path. */
export function schemeOf(place: string): string | undefined {
  return /^([a-z][a-z0-9+.-]+):\/\//i.exec(place)?.[1]?.toLowerCase();
}

/** The package that opens the addresses of a scheme. A worker installs those that it names. */
const STORE_PACKAGES: { readonly [scheme: string]: string | undefined } = {
  s3: '@temporal-media/store-s3',
  postgres: '@temporal-media/store-postgres',
  postgresql: '@temporal-media/store-postgres',
};

/** @throws ConfigurationError that says what to install */
function load(variable: string, name: string): StorePackage {
  try {
    // Not by `import()`: jest, which loads this package as CommonJS, refuses that.
    return (require(name) as { storePackage: StorePackage }).storePackage;
  } catch (error) {
    const missing = /Cannot find (?:module|package) '([^']+)'/.exec((error as Error).message)?.[1];
    if (missing !== name) throw error;
    throw new ConfigurationError(variable, `needs the package ${name}: npm install ${name}.`);
  }
}

/** The address is a setting, whoever finds the fault in it. @throws ConfigurationError */
function configured<Store>(variable: string, make: () => Store): Store {
  try {
    return make();
  } catch (error) {
    throw new ConfigurationError(variable, (error as Error).message);
  }
}
