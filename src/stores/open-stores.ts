import { statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { throwBug } from '../domain/bug';
import { type CreateJournal } from '../domain/journal';
import { ConfigurationError, type MediaConfig, readConfig } from '../settings/config';
import { type ArtifactStore } from './artifacts/artifact-store';
import { FileArtifactStore } from './artifacts/file-store';
import { systemCode } from './files/system-errors';
import { createJournal } from './journal/create-journal';
import { createFileRecords } from './journal/file-journal';
import { type RecordStore } from './journal/record-store';
import { IDENTITY } from './journal/records';

/**
 * The `storePackage` export of a store package, for addresses with its scheme. If the address or the environment cannot
 * be used, each function throws an Error whose message does not repeat the value.
 */
export interface StorePackage {
  /** Opens the journal's record store. */
  readonly openRecords: (address: string) => RecordStore;
}

export interface ArtifactStorePackage extends StorePackage {
  readonly openArtifactStore: (address: string, options: FolderOfCopies) => ArtifactStore;
}

/** A store package that can also keep payloads outside of Temporal. `Driver` is the SDK's StorageDriver. */
export interface PayloadStorePackage<Driver> extends StorePackage {
  readonly openPayloadDriver: (address: string) => Driver;
}

interface FolderOfCopies {
  /** The folder for unfinished uploads and cached copies. Losing it is harmless. */
  readonly folder: string;
  /** The maximum total size of cached copies there, in bytes. */
  readonly cacheBytes?: number;
}

/** File systems whose files are lost with the container or at a reboot, by their statfs(2) numbers. */
const EPHEMERAL: ReadonlyMap<number, string> = new Map([
  [0x79_4c_76_30, 'overlay'],
  [0x01_02_19_94, 'tmpfs'],
  [0x85_84_58_f6, 'ramfs'],
]);

/**
 * Returns a warning if a journal in this folder would be lost with its container or machine. The folder need not exist
 * yet. An orchestrator's volume that is removed with its pod looks like any disk and is not recognized.
 */
export async function ephemeralJournal(folder: string): Promise<string | undefined> {
  const kind = EPHEMERAL.get(await typeAt(folder));
  return kind === undefined
    ? undefined
    : `The journal of paid calls is on a file system (${kind}) whose files are lost with the container or the machine. Paid results could then not be found again.`;
}

/** The file system type of the nearest existing folder; 0 if it is unknown. */
async function typeAt(folder: string): Promise<number> {
  try {
    return (await statfs(folder)).type;
  } catch (error) {
    throwBug(error);
    const above = dirname(folder);
    return systemCode(error) === 'ENOENT' && above !== folder ? typeAt(above) : 0;
  }
}

/** A worker's settings for the location of its journal. */
export type JournalSettings = Pick<MediaConfig, 'journal' | 'journalShared'>;
/** A worker's settings for the location of its artifacts. */
export type ArtifactSettings = Pick<MediaConfig, 'artifacts' | 'dataDir' | 'cacheBytes'>;

/** Opens the journal's record store. Does not create anything. @throws ConfigurationError */
export async function openRecords({ journal, journalShared }: JournalSettings): Promise<RecordStore> {
  const store = packageOf<StorePackage>(JOURNAL, journal);
  return store === undefined
    ? createFileRecords({ root: journal, shared: journalShared })
    : configured(JOURNAL, () => store.openRecords(journal));
}

/** Opens the SDK's storage driver for the address in MEDIA_EXTERNAL_STORAGE. @throws ConfigurationError */
export function openPayloadDriver<Driver>(address: string): Driver {
  const store = packageOf<PayloadStorePackage<Driver>>(PAYLOADS, address);
  if (store === undefined) throw new ConfigurationError(PAYLOADS.variable, PAYLOADS.allowed);
  return configured(PAYLOADS, () => store.openPayloadDriver(address));
}

/** Opens the journal of paid sends. @throws ConfigurationError */
export async function openJournal(settings: JournalSettings): Promise<CreateJournal> {
  return createJournal(await openRecords(settings));
}

/** Opens the record store if it contains a journal. Does not create one. @throws ConfigurationError */
export async function existingRecords(settings: JournalSettings): Promise<RecordStore | undefined> {
  const records = await openRecords(settings);
  return (await records.read(IDENTITY)) === null ? undefined : records;
}

/** Opens the journal if it exists. @throws ConfigurationError */
export async function existingJournal(settings: JournalSettings): Promise<CreateJournal | undefined> {
  const records = await existingRecords(settings);
  return records === undefined ? undefined : createJournal(records);
}

/**
 * Opens the store of results and input files, as workers do.
 * @param settings an environment with MEDIA_ARTIFACTS, MEDIA_DATA_DIR and MEDIA_CACHE_BYTES, or a configuration
 * @throws ConfigurationError
 */
export async function openArtifactStore(
  settings: NodeJS.ProcessEnv | ArtifactSettings = process.env,
): Promise<ArtifactStore> {
  const { artifacts, dataDir, cacheBytes } = isSettings(settings) ? settings : readConfig(settings);
  const store = packageOf<ArtifactStorePackage>(ARTIFACTS, artifacts);
  if (store === undefined) return new FileArtifactStore(artifacts);
  const options = { folder: join(dataDir, 's3'), ...(cacheBytes !== undefined && { cacheBytes }) };
  return configured(ARTIFACTS, () => store.openArtifactStore(artifacts, options));
}

/**
 * Refuses addresses with quotes (copied from an env file) or a missing slash. Such an address would be read as a folder
 * in the working directory, which is lost with the container. @throws ConfigurationError that does not repeat the value
 */
function refuseHalfAddress({ variable }: Place, address: string): void {
  if (/^["']|^[a-z][a-z0-9+.-]+:\/[^/]|^\/\/[^/]*@/i.test(address))
    throw new ConfigurationError(
      variable,
      'is neither a folder nor a complete address. Write it without quotes, as s3://bucket/prefix or postgres://user@host/database.',
    );
}

function isSettings(settings: NodeJS.ProcessEnv | ArtifactSettings): settings is ArtifactSettings {
  return typeof settings['artifacts'] === 'string' && typeof settings['dataDir'] === 'string';
}

/** An address's scheme, such as `s3` for `s3://…`; undefined for a path. */
export function schemeOf(place: string): string | undefined {
  return /^([a-z][a-z0-9+.-]+):\/\//i.exec(place)?.[1]?.toLowerCase();
}

interface Place {
  readonly variable: string;
  readonly allowed: string;
  /** The package for each address scheme. A worker installs the packages that it uses. */
  readonly packages: { readonly [scheme: string]: string | undefined };
}

const S3 = '@temporal-media/store-s3';
const POSTGRES = '@temporal-media/store-postgres';
const JOURNAL: Place = {
  variable: 'MEDIA_JOURNAL',
  allowed: 'must be a folder, s3://bucket/prefix or postgres://….',
  packages: { s3: S3, postgres: POSTGRES, postgresql: POSTGRES },
};
const ARTIFACTS: Place = {
  variable: 'MEDIA_ARTIFACTS',
  allowed: 'must be a folder or s3://bucket/prefix.',
  packages: { s3: S3 },
};

const PAYLOADS: Place = {
  variable: 'MEDIA_EXTERNAL_STORAGE',
  allowed: 'must be s3://bucket.',
  packages: { s3: S3 },
};

/** Loads the package that opens an address; undefined for a folder. @throws ConfigurationError if it is missing */
function packageOf<Package extends StorePackage>(place: Place, address: string): Package | undefined {
  const { variable, allowed, packages } = place;
  const scheme = schemeOf(address);
  if (scheme === undefined) {
    refuseHalfAddress(place, address);
    return undefined;
  }
  const name = packages[scheme];
  if (name === undefined) throw new ConfigurationError(variable, allowed);
  try {
    // `import()` would fail under jest, which loads this package as CommonJS.
    return (require(name) as { storePackage: Package }).storePackage;
  } catch (error) {
    const missing = /Cannot find (?:module|package) '([^']+)'/.exec((error as Error).message)?.[1];
    if (missing !== name) throw error;
    throw new ConfigurationError(variable, `needs the package ${name}. Run: npm install ${name}`);
  }
}

/** Reports any error in an address as a configuration error. @throws ConfigurationError */
function configured<Store>({ variable }: Place, make: () => Store): Store {
  try {
    return make();
  } catch (error) {
    throw new ConfigurationError(variable, (error as Error).message);
  }
}
