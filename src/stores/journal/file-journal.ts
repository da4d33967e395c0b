import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { mkdir, rmdir, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { otherwise } from '../../domain/bug';
/**
 * The record of paid sends in files. For workers, and for tests of other journals.
 *
 * @module
 */
import { type CreateJournal } from '../../domain/journal';
import { bareFiles, createIfAbsent, removeIfThere, syncFolder } from '../files/durable-files';
import { ifAbsent, NOT_SUPPORTED, systemCode, systemFault } from '../files/system-errors';
import { machineId } from '../files/this-machine';
import { createJournal } from './create-journal';
import { type RecordStore } from './record-store';
import { JournalRecordError, KEYS } from './records';

/** A journal in the files of one folder; `shared` declares that several hosts use it. */
export function createFileJournal(options: FileRecordsOptions): CreateJournal {
  return createJournal(createFileRecords(options));
}

/** The folder of a journal in files. */
export interface FileRecordsOptions {
  /** Folder of the journal; created when missing. */
  readonly root: string;
  /**
   * Declares that the file system is shared by several hosts and linearizable for exclusive creates.
   * @default false: the journal is bound to this host
   */
  readonly shared?: boolean | undefined;
}

/**
 * Records in files, one each; those of creation keys are directly in the folder. Create-if-absent by a hard link; every
 * record is fsynced with its folder before the call returns.
 */
export function createFileRecords({ root: given, shared = false }: FileRecordsOptions): RecordStore {
  const root = resolve(given);
  const files = shared ? seenByAll(root) : syncFiles;
  const fileOf = (name: string) => fileOfRecord(root, name);

  return {
    kind: 'file',
    ...(!shared && { host: () => hostId() }),

    read: (name) => files.text(fileOf(name)),

    async readAll(prefix): Promise<ReadonlyMap<string, string>> {
      const cut = prefix.lastIndexOf('/') + 1;
      const names = (await files.names(fileOf(prefix.slice(0, cut))))
        // A record that is being written has a temporary name beside its own.
        .filter((name) => !name.startsWith('.'))
        .map((name) => `${prefix.slice(0, cut)}${name}`)
        .filter((name) => name.startsWith(prefix));
      const texts = new Map<string, string>();
      for (const name of names) {
        const text = await files.text(fileOf(name));
        if (text !== null) texts.set(name, text);
      }
      return texts;
    },

    async names(prefix, after, limit): Promise<readonly string[]> {
      const names: string[] = [];
      const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
      for await (const name of namesBelow(files, root, folder, after ?? '')) {
        if (name.startsWith(prefix) && name > (after ?? '')) names.push(name);
        if (names.length >= limit) break;
      }
      return names;
    },

    create: (name, text) =>
      createIfAbsent(fileOf(name), text).catch((error: unknown) => {
        throw refused(error) ?? error;
      }),

    async note(name, text): Promise<void> {
      if (text === null) return unlink(fileOf(name)).catch(otherwise(undefined));
      await mkdir(dirname(fileOf(name)), { recursive: true, mode: 0o700 });
      await writeFile(fileOf(name), text, { mode: 0o600 });
    },

    async remove(name): Promise<void> {
      const file = fileOf(name);
      const folder = dirname(file);
      await removeIfThere(file);
      await syncFolder(folder).catch(ifAbsent(undefined));
      // The folder of a key, a task or a body is its own: it goes with its last record.
      if (/[0-9a-f]{64}$/.test(folder)) await rmdir(folder).catch(otherwise(undefined));
    },
  };
}

/** Calls that a record cannot do without, and what a file system that refuses them is not able to do. */
const NEEDED: { readonly [call: string]: string } = {
  link: 'has no hard links, by which one of two writers wins',
  fsync: 'cannot keep a file or a folder through a loss of power',
};

/** What to change where the file system is the fault, and not its rights or its room. */
function refused(error: unknown): JournalRecordError | undefined {
  const { syscall } = error as { readonly syscall?: string };
  const lacks = syscall === undefined ? undefined : NEEDED[syscall];
  if (lacks === undefined || !NOT_SUPPORTED.has(systemCode(error))) return undefined;
  return new JournalRecordError(
    `The file system of the journal (MEDIA_JOURNAL) ${lacks} (${systemFault(error)}), so nothing is sent with it. Put the journal on a disk with ext4, XFS, APFS or NTFS, or into a bucket (s3://…) or a database (postgres://…).`,
    { cause: error },
  );
}

export function fileOfRecord(root: string, name: string): string {
  return join(root, ...(name.startsWith(KEYS) ? name.slice(KEYS.length) : name).split('/'));
}

/** Names of the records below a folder, in the order of their bytes; folders that come before `after` are not opened. */
async function* namesBelow(
  files: JournalFiles,
  root: string,
  folder: string,
  after: string,
): AsyncGenerator<string> {
  const entries = await files.entries(fileOfRecord(root, folder));
  const names = entries
    .filter(({ name }) => !name.startsWith('.'))
    .map(({ name, isFolder }) => `${folder}${name}${isFolder ? '/' : ''}`)
    .filter((name) => !name.startsWith(KEYS) || OF_A_KEY.test(name));
  for (const name of names.sort()) {
    if (!name.endsWith('/')) yield name;
    else if (name > after || after.startsWith(name)) yield* namesBelow(files, root, name, after);
  }
}

/** The folders of creation keys lie beside those of everything else. */
const OF_A_KEY = /^keys\/[0-9a-f]{2}\/(?:[0-9a-f]{64}\/(?:[^/]+)?)?$/;

/**
 * A stable name of this host for file journals: the digest of its machine id, else of its host name.
 * `MEDIA_HOST_ID` overrides both where neither is stable (containers on one volume).
 */
export async function hostId(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const source = env['MEDIA_HOST_ID'] || ((await machineId()) ?? hostname());
  return createHash('sha256').update(source).digest('hex').slice(0, 16);
}

interface JournalFiles {
  /** The text of a file; null when there is none. */
  readonly text: (file: string) => Promise<string | null>;
  /** Names in a folder, sorted; none when there is no such folder. */
  readonly names: (folder: string) => Promise<readonly string[]>;
  /** Files and folders in a folder, in no order; none when there is no such folder. */
  readonly entries: (
    folder: string,
  ) => Promise<readonly { readonly name: string; readonly isFolder: boolean }[]>;
}

/** For any file system: a read may take milliseconds and must not block the event loop. */
export const asyncFiles = filesBy(ifThere);

function filesBy(find: FindPath): JournalFiles {
  return {
    text: (file) => find(() => bareFiles.read(file, 'utf8'), null, file),
    names: async (folder) => sorted(await find(() => fs.promises.readdir(folder), [], folder)),
    entries: async (folder) => {
      const entries = await find(() => fs.promises.readdir(folder, { withFileTypes: true }), [], folder);
      return entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
    },
  };
}

/** Reads a path; `none` when it is not there. */
type FindPath = <T, None>(read: () => T | Promise<T>, none: None, path: string) => Promise<T | None>;

/**
 * For a file system of several hosts, which may remember for some seconds that a file or a folder was not there. Where
 * money is settled, nothing corrects a read that misses what another host has just written: so only a listing of the
 * folder above says that it is not there.
 */
function seenByAll(root: string): JournalFiles {
  return filesBy(async (read, none, path) => {
    for (let tries = 1; ; tries++) {
      const found = await ifThere(async () => ({ it: await read() }), null);
      if (found !== null) return found.it;
      if (!(await isListed(path, root))) return none;
      // It came just now, or the listing has corrected what was remembered.
      if (tries === 2) throw new JournalRecordError(REMEMBERED);
    }
  });
}

async function isListed(path: string, root: string): Promise<boolean> {
  if (path === root) return false;
  const names = await ifThere(() => fs.promises.readdir(dirname(path)), null);
  return names?.includes(basename(path)) ?? isListed(dirname(path), root);
}

const REMEMBERED =
  'The file system of the journal (MEDIA_JOURNAL) lists a record, and remembers that it was not there. If this lasts, mount it so that it does not remember what is absent (NFS: lookupcache=positive).';

/**
 * For records on a disk of this host. A read takes some microseconds, because recent files are in memory; a thread
 * and a promise for each would keep the event loop busy ten times as long, and a batch that takes over rows makes
 * thousands.
 */
export const syncFiles: JournalFiles = {
  text: (file) => ifThere(() => fs.readFileSync(file, 'utf8'), null),
  names: async (folder) => sorted(await ifThere(() => fs.readdirSync(folder), [])),
  // Asked by listings of the whole journal, which no send waits for.
  entries: (folder) => asyncFiles.entries(folder),
};

async function ifThere<T, None>(read: () => T | Promise<T>, none: None): Promise<T | None> {
  try {
    return await read();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return none;
    throw error;
  }
}

function sorted(names: readonly string[]): readonly string[] {
  return [...names].sort();
}
