import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { mkdir, rmdir, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { otherwise } from '../../domain/bug';
/**
 * The journal of paid sends in files. For workers, and for tests of other journals.
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

/** Creates a journal in the files of one folder. `shared` declares that several hosts use it. */
export function createFileJournal(options: FileRecordsOptions): CreateJournal {
  return createJournal(createFileRecords(options));
}

/** Options for a journal in files. */
export interface FileRecordsOptions {
  /** The journal's folder. Created if it is missing. */
  readonly root: string;
  /**
   * Declares that several hosts share the file system and that its exclusive creates are linearizable.
   * @default false: the journal is bound to this host
   */
  readonly shared?: boolean | undefined;
}

/**
 * Creates a store with one file per record. Records of creation keys are directly in the folder. Creates use a hard
 * link and fsync the record and its folder before they return.
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
        // Records being written have a temporary name in the same folder.
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
      // Keys, tasks and bodies each have their own folder. Remove it with its last record.
      if (/[0-9a-f]{64}$/.test(folder)) await rmdir(folder).catch(otherwise(undefined));
    },
  };
}

/** System calls that records need, and what a file system without them cannot do. */
const NEEDED: { readonly [call: string]: string } = {
  link: 'does not support hard links, which decide between two writers',
  fsync: 'cannot make a file or folder survive a power failure',
};

/** An error with advice if the file system lacks a feature; undefined for missing permissions or space. */
function refused(error: unknown): JournalRecordError | undefined {
  const { syscall } = error as { readonly syscall?: string };
  const lacks = syscall === undefined ? undefined : NEEDED[syscall];
  if (lacks === undefined || !NOT_SUPPORTED.has(systemCode(error))) return undefined;
  return new JournalRecordError(
    `The journal's file system (MEDIA_JOURNAL) ${lacks} (${systemFault(error)}), so nothing is sent. Put the journal on a disk with ext4, XFS, APFS or NTFS, or in a bucket (s3://…) or a database (postgres://…).`,
    { cause: error },
  );
}

export function fileOfRecord(root: string, name: string): string {
  return join(root, ...(name.startsWith(KEYS) ? name.slice(KEYS.length) : name).split('/'));
}

/** Yields the names of the records below a folder in byte order. Does not open folders that sort before `after`. */
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

/** Matches names of creation keys, whose folders are next to all other folders. */
const OF_A_KEY = /^keys\/[0-9a-f]{2}\/(?:[0-9a-f]{64}\/(?:[^/]+)?)?$/;

/**
 * Returns a stable ID for this host, used by file journals: a digest of its machine ID, or else of its host name. Set
 * `MEDIA_HOST_ID` if neither is stable (containers on one volume).
 */
export async function hostId(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const source = env['MEDIA_HOST_ID'] || ((await machineId()) ?? hostname());
  return createHash('sha256').update(source).digest('hex').slice(0, 16);
}

interface JournalFiles {
  /** Returns a file's text, or null if the file does not exist. */
  readonly text: (file: string) => Promise<string | null>;
  /** Returns the names in a folder, sorted; empty if the folder does not exist. */
  readonly names: (folder: string) => Promise<readonly string[]>;
  /** Returns the files and folders in a folder, unsorted; empty if the folder does not exist. */
  readonly entries: (
    folder: string,
  ) => Promise<readonly { readonly name: string; readonly isFolder: boolean }[]>;
}

/** For any file system. Reads may take milliseconds and must not block the event loop. */
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

/** Reads a path. Returns `none` if it does not exist. */
type FindPath = <T, None>(read: () => T | Promise<T>, none: None, path: string) => Promise<T | None>;

/**
 * Reads files on a file system that several hosts share. Such a file system may cache for some seconds that a file or
 * folder does not exist. When money is settled, nothing corrects a read that misses another host's latest write. A path
 * therefore counts as absent only if the parent folder's listing does not contain it.
 */
function seenByAll(root: string): JournalFiles {
  return filesBy(async (read, none, path) => {
    for (let tries = 1; ; tries++) {
      const found = await ifThere(async () => ({ it: await read() }), null);
      if (found !== null) return found.it;
      if (!(await isListed(path, root))) return none;
      // The file was just created, or the listing has refreshed the cache. Try again.
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
  "The journal's file system (MEDIA_JOURNAL) lists a record but cannot read it, because it caches that the file did not exist. If this persists, disable caching of missing files in the mount options (NFS: lookupcache=positive).";

/**
 * For records on a local disk. A read takes a few microseconds, because recent files are in memory. With a thread and a
 * promise per read, the event loop would be busy ten times as long, and a batch that takes over rows reads thousands of
 * records.
 */
export const syncFiles: JournalFiles = {
  text: (file) => ifThere(() => fs.readFileSync(file, 'utf8'), null),
  names: async (folder) => sorted(await ifThere(() => fs.readdirSync(folder), [])),
  // Only listings of the whole journal use this, and no send waits for them.
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
