import { join } from 'node:path';
import { type ArtifactStore } from '../artifacts/artifact-store';
import { FileArtifactStore } from '../artifacts/file-store';
import { ConfigurationError, type MediaConfig, readConfig } from '../config';
import { type CreateJournal } from '../domain/journal';
import { createJournal } from '../journal/create-journal';
import { createFileRecords } from '../journal/file-journal';
import { IDENTITY } from '../journal/record-names';
import { type RecordStore } from '../journal/record-store';
import type * as Postgres from '../postgres/index.js';
import type * as S3 from '../s3/index.js';

/** Settings of a worker that say where its journal is. */
export type JournalSettings = Pick<MediaConfig, 'journal' | 'journalShared'>;
/** Settings of a worker that say where artifacts are stored. */
export type ArtifactSettings = Pick<MediaConfig, 'artifacts' | 'dataDir' | 'cacheBytes'>;

/** The place of the journal. Creates nothing. @throws ConfigurationError */
export async function openRecords({ journal, journalShared }: JournalSettings): Promise<RecordStore> {
  switch (schemeOf(journal)) {
    case undefined:
      refuseHalfAddress('MEDIA_JOURNAL', journal);
      return createFileRecords({ root: journal, shared: journalShared });
    case 's3': {
      const { createS3Client, createS3Records, parseS3Address } = optional('MEDIA_JOURNAL', loadS3);
      return configured('MEDIA_JOURNAL', () =>
        createS3Records({ client: createS3Client(), ...parseS3Address(journal) }),
      );
    }
    case 'postgres':
    case 'postgresql': {
      const { createPostgresRecords } = optional('MEDIA_JOURNAL', loadPostgres);
      return configured('MEDIA_JOURNAL', () => createPostgresRecords({ url: journal }));
    }
    default:
      throw new ConfigurationError('MEDIA_JOURNAL', 'must be a folder, s3://bucket/prefix or postgres://….');
  }
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
  switch (schemeOf(artifacts)) {
    case undefined:
      refuseHalfAddress('MEDIA_ARTIFACTS', artifacts);
      return new FileArtifactStore(artifacts);
    case 's3': {
      const { createS3ArtifactStore, createS3Client, parseS3Address } = optional('MEDIA_ARTIFACTS', loadS3);
      return configured('MEDIA_ARTIFACTS', () =>
        createS3ArtifactStore({
          client: createS3Client(),
          ...parseS3Address(artifacts),
          // What is unfinished or a copy: the folder may be lost.
          folder: join(dataDir, 's3'),
          ...(cacheBytes !== undefined && { cacheBytes }),
        }),
      );
    }
    default:
      throw new ConfigurationError('MEDIA_ARTIFACTS', 'must be a folder or s3://bucket/prefix.');
  }
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

// Not by `import()`: jest, which loads this package as CommonJS, refuses that.
const loadS3 = () => require('../s3/index.js') as typeof S3;
const loadPostgres = () => require('../postgres/index.js') as typeof Postgres;

/** Loads a store whose packages are optional. @throws ConfigurationError that says what to install */
function optional<Module>(variable: string, load: () => Module): Module {
  try {
    return load();
  } catch (error) {
    const name = /Cannot find (?:module|package) '([^']+)'/.exec((error as Error).message)?.[1];
    if (name === undefined || name.startsWith('.')) throw error;
    throw new ConfigurationError(
      variable,
      `needs the package ${name}, which is optional: npm install @aws-sdk/client-s3 @aws-sdk/lib-storage @aws-sdk/s3-request-presigner for s3://, npm install pg for postgres://.`,
    );
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
