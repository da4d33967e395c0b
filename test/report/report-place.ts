import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileArtifactStore } from '../../src/stores/artifacts/file-store';

export interface ReportPlace {
  readonly root: string;
  readonly out: string;
  readonly store: FileArtifactStore;
  remove(): Promise<void>;
}

/** A folder with an artifact store, and room for a report. */
export async function reportPlace(): Promise<ReportPlace> {
  const root = await mkdtemp(join(tmpdir(), 'media-report-'));
  return {
    root,
    out: join(root, 'trip'),
    store: new FileArtifactStore(join(root, 'store')),
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

/** Digests of all files of a report by their paths, without the state of refreshes. */
export async function filesOf(directory: string): Promise<{ readonly [path: string]: string }> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.startsWith(join(directory, '.report')))
    .sort();
  const found: { [path: string]: string } = {};
  for (const path of files)
    found[path.slice(directory.length + 1)] = createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  return found;
}
