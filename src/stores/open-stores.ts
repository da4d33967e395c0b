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
 * What a package of stores exports as `storePackage`, for addresses of its scheme. Where an address or the environment
 * cannot be used, each function throws an Error with a sentence that does not repeat the value.
 */
export interface StorePackage {
  /** The place of the journal. */
  readonly openRecords: (address: string) => RecordStore;
}

export interface ArtifactStorePackage extends StorePackage {
  readonly openArtifactStore: (address: string, options: FolderOfCopies) => ArtifactStore;
}

interface FolderOfCopies {
  /** Folder of what is unfinished, and of copies; it may be lost. */
  readonly folder: string;
  /** Bytes of copies that are kept there. */
  readonly cacheBytes?: number;
}

/** File systems whose files end with a container or at the next start of the machine, by their numbers in statfs(2). */
const EPHEMERAL: ReadonlyMap<number, string> = new Map([
  [0x79_4c_76_30, 'overlay'],
  [0x01_02_19_94, 'tmpfs'],
  [0x85_84_58_f6, 'ramfs'],
]);

/**
 * What to say of a journal in this folder, there or to be made, that is lost with its container or machine. A volume of an
 * orchestrator that is removed with its pod looks as any disk does, and is not recognised.
 */
export async function ephemeralJournal(folder: string): Promise<string | undefined> {
  const kind = EPHEMERAL.get(await typeAt(folder));
  return kind === undefined
    ? undefined
    : `The journal of paid calls is on a file system (${kind}) whose files are lost with the container or the machine: what was paid for could then not be found again.`;
}

/** Of the nearest folder that is there; 0 where the system does not say it. */
async function typeAt(folder: string): Promise<number> {
  try {
    return (await statfs(folder)).type;
  } catch (error) {
    throwBug(error);
    const above = dirname(folder);
    return systemCode(error) === 'ENOENT' && above !== folder ? typeAt(above) : 0;
  }
}

/** Settings of a worker that say where its journal is. */
export type JournalSettings = Pick<MediaConfig, 'journal' | 'journalShared'>;
/** Settings of a worker that say where artifacts are stored. */
export type ArtifactSettings = Pick<MediaConfig, 'artifacts' | 'dataDir' | 'cacheBytes'>;

/** The place of the journal. Creates nothing. @throws ConfigurationError */
export async function openRecords({ journal, journalShared }: JournalSettings): Promise<RecordStore> {
  const store = packageOf<StorePackage>(JOURNAL, journal);
  return store === undefined
    ? createFileRecords({ root: journal, shared: journalShared })
    : configured(JOURNAL, () => store.openRecords(journal));
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
  const store = packageOf<ArtifactStorePackage>(ARTIFACTS, artifacts);
  if (store === undefined) return new FileArtifactStore(artifacts);
  const options = { folder: join(dataDir, 's3'), ...(cacheBytes !== undefined && { cacheBytes }) };
  return configured(ARTIFACTS, () => store.openArtifactStore(artifacts, options));
}

/**
 * An address in quotes, as files of variables keep them, or with a slash too few would be a folder in the working
 * directory: what is recorded there is gone with a container. @throws ConfigurationError that does not repeat the value
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

/** `s3` of `s3://…`; undefined for a path. */
export function schemeOf(place: string): string | undefined {
  return /^([a-z][a-z0-9+.-]+):\/\//i.exec(place)?.[1]?.toLowerCase();
}

interface Place {
  readonly variable: string;
  readonly allowed: string;
  /** The package that opens the addresses of a scheme. A worker installs those that it names. */
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

/** The package that opens an address; undefined for a folder. @throws ConfigurationError that says what to install */
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
    // Not by `import()`: jest, which loads this package as CommonJS, refuses that.
    return (require(name) as { storePackage: Package }).storePackage;
  } catch (error) {
    const missing = /Cannot find (?:module|package) '([^']+)'/.exec((error as Error).message)?.[1];
    if (missing !== name) throw error;
    throw new ConfigurationError(variable, `needs the package ${name}: npm install ${name}.`);
  }
}

/** The address is a setting, whoever finds the fault in it. @throws ConfigurationError */
function configured<Store>({ variable }: Place, make: () => Store): Store {
  try {
    return make();
  } catch (error) {
    throw new ConfigurationError(variable, (error as Error).message);
  }
}
