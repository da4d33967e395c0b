import { randomBytes } from 'node:crypto';
import { type Stats } from 'node:fs';
import { open, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable } from 'node:stream';
import { type ArtifactRef } from '../../domain/request';
import { removeIfThere } from '../files/durable-files';
import { systemCode } from '../files/system-errors';
import {
  type ArtifactStore,
  assertHash,
  isHash,
  notFound,
  type PrunedBytes,
  type PruneRejected,
  type PutOptions,
  type StagedArtifact,
  type StageOptions,
  STORED_AGAIN_MS,
  type StoredArtifact,
  storeIdentity,
  toArtifactError,
  verifiedStream,
} from './artifact-store';
import { PartFolder, removeFiles, STALE_PART_MS, writeWhole } from './part-folder';
import { fetchToFile } from './user-files';

/**
 * Artifacts in a directory (architecture: Stores): `<root>/sha256/<h[0:2]>/<hash>`, parts in `<root>/parts/`, refused
 * bytes as `<root>/rejected/<hash>.rejected`. `<hash>.stored` beside a file records when its bytes were last stored
 * again. The file itself is never touched, because a running upload of it would fail. Files have mode 0600, directories
 * 0700. Names never come from a service.
 */
export class FileArtifactStore implements ArtifactStore {
  readonly kind = 'file';
  readonly #parts: PartFolder;

  constructor(private readonly root: string) {
    this.#parts = new PartFolder(join(root, 'parts'), {
      final: (sha256) => this.#path(sha256),
      rejected: (sha256) => join(root, 'rejected', `${sha256}.rejected`),
      storedAgain: (sha256) => this.#storedAgain(sha256),
    });
  }

  async stage(owner: string, options?: StageOptions): Promise<StagedArtifact> {
    return this.#parts.stage(owner, options);
  }

  async read(ref: { readonly sha256: string }): Promise<Readable> {
    assertHash(ref.sha256);
    try {
      const handle = await open(this.#path(ref.sha256), 'r');
      return verifiedStream(handle.createReadStream(), ref.sha256);
    } catch (error) {
      if (systemCode(error) === 'ENOENT') throw notFound(ref.sha256);
      throw toArtifactError(error);
    }
  }

  async has(sha256: string): Promise<number | null> {
    assertHash(sha256);
    return (await this.#fileOf(sha256))?.size ?? null;
  }

  async localPath({ sha256 }: { readonly sha256: string }): Promise<string> {
    if ((await this.has(sha256)) === null) throw notFound(sha256);
    return this.#path(sha256);
  }

  async list(after: string | null, limit: number): Promise<readonly StoredArtifact[]> {
    const found: StoredArtifact[] = [];
    for (const folder of await namesIn(join(this.root, 'sha256'))) {
      if (after !== null && folder < after.slice(0, 2)) continue;
      for (const sha256 of await namesIn(join(this.root, 'sha256', folder))) {
        if (found.length >= limit) return found;
        if (!isHash(sha256) || sha256.slice(0, 2) !== folder || (after !== null && sha256 <= after)) continue;
        const stored = await this.#stored(sha256);
        if (stored !== null) found.push(stored);
      }
    }
    return found;
  }

  async remove(sha256: string): Promise<void> {
    assertHash(sha256);
    try {
      await removeIfThere(this.#path(sha256));
      await removeIfThere(this.#note(sha256));
    } catch (error) {
      throw toArtifactError(error);
    }
  }

  async putBuffer(bytes: Uint8Array, options: PutOptions): Promise<ArtifactRef> {
    return this.putStream([bytes], options);
  }

  async putStream(
    source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options: PutOptions,
  ): Promise<ArtifactRef> {
    return writeWhole(await this.#parts.stageOnce('put'), source, options);
  }

  async fetchTo(ref: ArtifactRef, destination: string): Promise<'written' | 'already_there'> {
    return fetchToFile(ref, destination, () => this.read(ref));
  }

  async identity(): Promise<string> {
    try {
      return await storeIdentity(this.root);
    } catch (error) {
      throw toArtifactError(error);
    }
  }

  /** Writes, flushes, publishes, reads and removes a file, as storing a result would. */
  async checkWritable(): Promise<void> {
    const probe = await this.putBuffer(randomBytes(32), { mediaType: 'application/octet-stream' });
    try {
      for await (const _chunk of await this.read(probe));
    } catch (error) {
      throw toArtifactError(error);
    } finally {
      await this.remove(probe.sha256);
    }
  }

  /**
   * Deletes parts that activities left behind and have not modified for this long. @returns how many were deleted
   */
  async removeStaleParts(olderThanMs = STALE_PART_MS, now = Date.now()): Promise<number> {
    return this.#parts.removeStale(olderThanMs, now);
  }

  async pruneRejected({ before, dryRun }: PruneRejected): Promise<PrunedBytes> {
    const isOld = (name: string, refused: number) => name.endsWith('.rejected') && refused < before;
    return removeFiles(join(this.root, 'rejected'), isOld, dryRun);
  }

  async #stored(sha256: string): Promise<StoredArtifact | null> {
    const found = await this.#fileOf(sha256);
    if (found === null) return null;
    const again = await statOf(this.#note(sha256));
    const last = Math.max(found.mtimeMs, again?.mtimeMs ?? 0);
    return { sha256, bytes: found.size, storedAt: new Date(last).toISOString() };
  }

  async #storedAgain(sha256: string): Promise<void> {
    const stored = await this.#stored(sha256);
    if (stored === null || Date.now() - Date.parse(stored.storedAt) < STORED_AGAIN_MS) return;
    // A write, unlike setting the time, uses the file system's clock.
    await writeFile(this.#note(sha256), '\n', { mode: 0o600 });
  }

  async #fileOf(sha256: string): Promise<Stats | null> {
    const found = await statOf(this.#path(sha256));
    return found?.isFile() === true ? found : null;
  }

  #note(sha256: string): string {
    return `${this.#path(sha256)}.stored`;
  }

  #path(sha256: string): string {
    return join(this.root, 'sha256', sha256.slice(0, 2), sha256);
  }
}

async function statOf(path: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw toArtifactError(error);
  }
}

/** The names in a folder, sorted; empty if the folder does not exist. */
async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error))) return [];
    throw toArtifactError(error);
  }
}
