import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, rename, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { type Readable } from 'node:stream';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { ArtifactError, toArtifactError } from 'temporal-media/internal/stores/artifacts/artifact-store';
import {
  bareFiles,
  ensureFolder,
  publishIfAbsent,
  removeIfThere,
  syncFolderIfItCan,
} from 'temporal-media/internal/stores/files/durable-files';
import { ZipFile } from 'yazl';
import { isMediaPart, ReportError, safeName, STATE_FOLDER } from './report-folder';

export interface ZipOptions {
  /** Replaces an existing file. @default false: `file_exists` */
  readonly replace?: boolean;
}

export interface ZippedReport {
  /** Absolute path. */
  readonly file: string;
  readonly entries: number;
  readonly bytes: number;
}

/**
 * Packs a report as one folder, which can be unpacked anywhere because all of its links are relative. Excludes the
 * refresh state. Media are not compressed, and entries are ordered by name. A report with a file over 4 GiB or with
 * more than 65,535 files becomes a zip64 archive. The zip file is complete or absent.
 * @throws ReportError `file_exists`, ArtifactError
 */
export async function zipReport(
  directory: string,
  file: string,
  { replace = false }: ZipOptions = {},
): Promise<ZippedReport> {
  const root = resolve(directory);
  const target = resolve(file);
  const part = `${target}.${randomBytes(6).toString('hex')}.part`;
  try {
    await ensureFolder(dirname(target), 0o777);
    if (!replace && (await stat(target).catch(otherwise(undefined))) !== undefined) throw exists();
    const names = (await filesOf(root)).filter((name) => ![target, part].includes(join(root, name)));
    const bytes = await pack(root, names, part);
    if (replace) {
      await rename(part, target);
      await syncFolderIfItCan(dirname(target));
    } else if (!(await publishIfAbsent(part, target))) throw exists();
    return { file: target, entries: names.length, bytes };
  } catch (error) {
    if (error instanceof ReportError || error instanceof ArtifactError) throw error;
    throw toArtifactError(error, 'The zip file or the report');
  } finally {
    await removeIfThere(part).catch(otherwise(undefined));
  }
}

/** Returns relative paths in order, without the refresh state. */
async function filesOf(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !isMediaPart(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((name) => !name.startsWith(`${STATE_FOLDER}/`))
    .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

async function pack(root: string, names: readonly string[], part: string): Promise<number> {
  const zip = new ZipFile();
  const handle = await open(part, 'wx', 0o666);
  let bytes = 0;
  try {
    const folder = safeName(basename(root));
    for (const name of names) {
      const path = join(root, name);
      const { mtime } = await stat(path);
      // Each stream is opened only when needed, to avoid thousands of open files and pending `stat` calls.
      zip.addReadStreamLazy(
        `${folder}/${name}`,
        { mtime, mode: 0o100644, compress: !name.startsWith('media/') },
        (ready) => ready(null, createReadStream(path)),
      );
    }
    zip.end();
    const failed = new Promise<never>((_, reject) => zip.on('error', reject));
    await Promise.race([
      failed,
      (async () => {
        for await (const chunk of zip.outputStream as Readable) {
          await handle.writeFile(chunk as Uint8Array);
          bytes += (chunk as Uint8Array).length;
        }
      })(),
    ]);
    await bareFiles.sync(handle.fd);
  } finally {
    await handle.close();
  }
  return bytes;
}

function exists(): ReportError {
  return new ReportError('file_exists', 'A file with that name already exists.');
}
