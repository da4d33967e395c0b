import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type CreateJournal } from '../../src/domain/journal';
import { openJournal } from '../../src/stores';
import type * as Servers from './store-servers';
import { ARE_STORED, PAYLOADS_BUCKET } from './stored-payloads';

/**
 * Where the journal and the artifacts of all tests are. `files` unless TEST_STORES says otherwise: `s3` has both in
 * buckets, `postgres` the journal in a database and the artifacts in a bucket.
 */
export type StoresOfTests = 'files' | 's3' | 'postgres';

export const STORES: StoresOfTests = storesOf(process.env['TEST_STORES']);

function storesOf(text: string | undefined): StoresOfTests {
  if (text === undefined || text === '' || text === 'files') return 'files';
  if (text === 's3' || text === 'postgres') return text;
  throw new Error(`TEST_STORES must be files, s3 or postgres, and is ${text}`);
}

/** Loaded when they are wanted: every test file would pay for them. */
// eslint-disable-next-line typescript/no-require-imports
const servers = () => require('./store-servers') as typeof Servers;

/** Starts the servers of a run, and tells its tests in their environment. Resolves with what stops them. */
export async function startStoresOfRun(say: (line: string) => void): Promise<() => Promise<void>> {
  if (STORES === 'files' && !ARE_STORED) return async () => undefined;
  const buckets = ['tests', ...(ARE_STORED ? [PAYLOADS_BUCKET] : [])];
  const stop = await servers().startStores(buckets, STORES === 'postgres', say);
  say(`Stores of all tests: ${STORES}${ARE_STORED ? '; their payloads: a bucket' : ''}.`);
  return stop;
}

/** A new journal: the value of MEDIA_JOURNAL. @param folder where it is if it is in files */
export async function newJournalPlace(folder: string): Promise<string> {
  if (STORES === 'files') return folder;
  return STORES === 's3' ? `s3://tests/${randomUUID()}` : servers().newDatabase();
}

/** A new artifact store: the value of MEDIA_ARTIFACTS. @param folder where it is if it is in files */
export async function newArtifactsPlace(folder: string): Promise<string> {
  return STORES === 'files' ? folder : `s3://tests/${randomUUID()}`;
}

/**
 * The folder of a worker process of its own: another one for each where the stores are shared by hosts, as if it ran on
 * another machine. @param nth which of the processes of a test
 */
export function dataDirOf(dataDir: string, nth: number): { MEDIA_DATA_DIR: string } {
  return { MEDIA_DATA_DIR: STORES === 'files' ? dataDir : join(dataDir, `host-${nth}`) };
}

const opened = new Map<string, Promise<CreateJournal>>();

/** The journal at a place, to look into it. */
export function journalAt(place: string): Promise<CreateJournal> {
  let journal = opened.get(place);
  if (journal === undefined)
    opened.set(place, (journal = openJournal({ journal: place, journalShared: false })));
  return journal;
}
