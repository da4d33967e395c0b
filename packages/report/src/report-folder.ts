import { createHash, randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { otherwise, throwBug } from 'temporal-media/internal/domain/bug';
import { toArtifactError } from 'temporal-media/internal/stores/artifacts/artifact-store';
import {
  ensureFolder,
  removeIfThere,
  syncFolderIfItCan,
  writeSynced,
} from 'temporal-media/internal/stores/files/durable-files';
import { systemCode } from 'temporal-media/internal/stores/files/system-errors';

const LONGEST = 80;

/**
 * Returns a file name for any id: the id itself if it is plain, or else the id with its other characters replaced and a
 * digest added. Two ids never share a name.
 */
export function safeName(id: string): string {
  const plain = id.replace(/[^A-Za-z0-9._-]+/g, '_').replace(/^[.-]+/, '_') || '_';
  if (plain === id && id.length <= LONGEST && !WINDOWS_DEVICE.test(id)) return id;
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 8);
  return `${plain.slice(0, LONGEST)}-${digest}`;
}

const WINDOWS_DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/** Folder inside a report with the state for the next refresh; not part of a zipped report. */
export const STATE_FOLDER = '.report';

/** Whether this is the name of an unfinished `fetchTo` file. */
export function isMediaPart(name: string): boolean {
  return /\.[0-9a-f]{12}\.part$/.test(name);
}

/**
 * A report's files. A file with its final name is complete: it is written in `.report/tmp`, synced and renamed. Paths
 * are relative to the folder, with slashes.
 */
export class ReportFolder {
  readonly #changed = new Set<string>();

  constructor(readonly root: string) {}

  path(relative: string): string {
    return join(this.root, ...relative.split('/'));
  }

  /** Deletes the temporary files of a killed refresh. Only the lock holder may call this. */
  async begin(): Promise<void> {
    await rm(this.path(`${STATE_FOLDER}/tmp`), { recursive: true, force: true });
    await mkdir(this.path(`${STATE_FOLDER}/tmp`), { recursive: true });
  }

  async read(relative: string): Promise<string | null> {
    try {
      return await readFile(this.path(relative), 'utf8');
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return null;
      throw error;
    }
  }

  async list(relative: string): Promise<string[]> {
    try {
      return await readdir(this.path(relative));
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return [];
      throw error;
    }
  }

  /** @returns false when the file already has this content and was not written */
  async write(relative: string, content: string): Promise<boolean> {
    const before = await this.read(relative);
    if (before === content) return false;
    await this.stream(relative, [content]);
    return true;
  }

  /** Writes a file of any size in pieces. */
  async stream(
    relative: string,
    pieces: AsyncIterable<string | Uint8Array> | Iterable<string>,
  ): Promise<void> {
    const temporary = this.path(`${STATE_FOLDER}/tmp/${randomBytes(8).toString('hex')}`);
    const target = this.path(relative);
    try {
      await writeSynced(temporary, pieces, 0o666);
      await ensureFolder(dirname(target), 0o777);
      await rename(temporary, target);
      this.#changed.add(dirname(target));
    } finally {
      await removeIfThere(temporary);
    }
  }

  /**
   * Renames a file unless the target exists, which means that it was already renamed. Only the lock holder may call
   * this.
   */
  async moveAside(relative: string, to: string): Promise<void> {
    const target = this.path(to);
    try {
      if ((await lstat(target).catch(otherwise(undefined))) !== undefined) return;
      await rename(this.path(relative), target);
      this.#changed.add(dirname(target));
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
    }
  }

  async remove(relative: string): Promise<void> {
    await removeIfThere(this.path(relative));
  }

  /** Makes the names of all files written so far durable. */
  async sync(): Promise<void> {
    for (const directory of this.#changed) await syncFolderIfItCan(directory);
    this.#changed.clear();
  }
}

/** Files that a report writes. Without a state folder next to them, such files do not belong to a report. */
const OURS = /^(index\.html|results\.(jsonl|csv)|summary\.json|assets|data|media|page-[0-9-]+\.html)$/;
const OWNER = `${STATE_FOLDER}/campaign.json`;

/**
 * Opens the folder for this campaign's report, and marks it before anything else is written.
 * @throws ReportError if the folder has other content, which stays unchanged
 */
export async function claimFolder(root: string, campaign: string): Promise<ReportFolder> {
  try {
    const folder = new ReportFolder(root);
    await mkdir(root, { recursive: true });
    const names = await folder.list('.');
    if (!names.includes(STATE_FOLDER) && names.some((name) => OURS.test(name)))
      throw new ReportError(
        'folder_occupied',
        'The folder contains files that a report would overwrite. Choose another folder.',
      );
    await mkdir(join(root, STATE_FOLDER, 'tmp'), { recursive: true });
    const owner = await folder.read(OWNER);
    if (owner === null) await folder.write(OWNER, `${JSON.stringify({ v: 1, campaign })}\n`);
    else if (parseJson<{ readonly campaign?: unknown }>(owner).campaign !== campaign)
      throw new ReportError(
        'other_campaign',
        "The folder contains another campaign's report. Choose another folder.",
      );
    return folder;
  } catch (error) {
    if (error instanceof ReportError) throw error;
    throw toArtifactError(error, "The report's folder");
  }
}

/** Why a report could not be written. The codes are public. */
type ReportErrorCode =
  /** Another process is writing this report. */
  | 'busy'
  /** The folder has files that do not belong to a report. */
  | 'folder_occupied'
  /** The folder contains another campaign's report. */
  | 'other_campaign'
  /** A result or the folder's own state cannot be read. */
  | 'unreadable'
  /** The zip file already exists. */
  | 'file_exists';

/** An error in a report. The message contains no path and no prompt. */
export class ReportError extends Error {
  override readonly name = 'ReportError';

  constructor(
    readonly code: ReportErrorCode,
    message: string,
  ) {
    super(message);
  }
}

/** Parses a file of the report's state. @throws ReportError `unreadable` */
export function parseJson<T>(text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throwBug(error);
    throw new ReportError(
      'unreadable',
      "The report's state cannot be read. Choose another folder. The report is rebuilt there from the artifact store.",
    );
  }
}
