import { realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { ArtifactError, type ArtifactStore } from '../../artifacts/artifact-store';
import { ingestFile } from '../../artifacts/ingest';
import { type ArtifactRef } from '../../domain/media';

/** What says about a file, and not about the store, that it cannot be used. */
const OF_THE_FILE: ReadonlySet<string> = new Set(['not_media', 'not_readable', 'too_large']);

/**
 * Files that rows name, as artifacts. Only media, and only below the folder of the manifest with links resolved: a
 * manifest, which others may have written, is no way to send any file of this machine to the service (C2.4.6).
 */
export class LocalFiles {
  readonly #known = new Map<string, Promise<ArtifactRef | undefined>>();

  constructor(
    private readonly folder: string | null,
    private readonly store: Pick<ArtifactStore, 'putStream'>,
  ) {}

  /** Undefined for what is not there, lies elsewhere or is no media. @throws ArtifactError when the store fails */
  find(path: string): Promise<ArtifactRef | undefined> {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const found = this.#read(path);
    this.#known.set(path, found);
    return found;
  }

  async #read(path: string): Promise<ArtifactRef | undefined> {
    if (this.folder === null) return undefined;
    const file = await realPath(join(this.folder, path));
    const folder = await realPath(this.folder);
    if (file === undefined || folder === undefined) return undefined;
    if (!file.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)) return undefined;
    try {
      return (await ingestFile(this.store, file)).artifact;
    } catch (error) {
      if (error instanceof ArtifactError && OF_THE_FILE.has(error.code)) return undefined;
      throw error;
    }
  }
}

async function realPath(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined);
}
