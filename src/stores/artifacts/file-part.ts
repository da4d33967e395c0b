import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { otherwise, throwBug } from '../../domain/bug';
import { type ArtifactRef, artifactUri } from '../../domain/request';
import {
  bareFiles,
  inFolder,
  publishIfAbsent,
  removeIfThere,
  syncFolderIfItCan,
} from '../files/durable-files';
import { systemCode } from '../files/system-errors';
import { ArtifactError, type StagedArtifact, toArtifactError } from './artifact-store';

export interface PartTargets {
  final(sha256: string): string;
  rejected(sha256: string): string;
  /** Called if the final file already had these bytes. @default does nothing */
  storedAgain?(sha256: string): Promise<void>;
}

const COPY_CHUNK = 1024 * 1024;
/** Starts a sync after this many bytes, so the final sync has less to write. */
const SYNC_EVERY = 32 * 1024 * 1024;

/**
 * A part in a file store. Each stage has its own file. If an abandoned activity attempt is still running, it writes to
 * a file that no longer has a name.
 */
export class FilePart implements StagedArtifact {
  #hash: Hash = createHash('sha256');
  #position = 0;
  #open = true;
  #finished = false;
  #sync: Promise<void> | undefined;
  #syncedTo = 0;
  #syncError: ArtifactError | undefined;
  /** Set if the file contains bytes that are not in the hash. */
  #writeError: ArtifactError | undefined;

  private constructor(
    private readonly handle: FileHandle,
    private readonly path: string,
    private readonly targets: PartTargets,
  ) {}

  /** @param previous the same owner's earlier part to resume from; its bytes are hashed again */
  static async create(path: string, targets: PartTargets, previous?: string): Promise<FilePart> {
    const part = new FilePart(await open(path, 'wx+', 0o600), path, targets);
    try {
      if (previous !== undefined) await part.copyFrom(previous);
    } catch (error) {
      await part.discard().catch(otherwise(undefined));
      throw toArtifactError(error);
    }
    return part;
  }

  get position(): number {
    return this.#position;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#assertOpen();
    const written = this.#writeToFile(chunk);
    // Updates a copy of the hash during the write, so that a failed write does not change the hash.
    const hash = this.#hash.copy().update(chunk);
    await written;
    this.#hash = hash;
    this.#position += chunk.length;
    this.#beginSync();
  }

  /**
   * Runs one sync at a time during the download. Remembers a failure, because the system reports it only once and a
   * later sync would succeed.
   */
  #beginSync(): void {
    if (this.#sync !== undefined || this.#position - this.#syncedTo < SYNC_EVERY) return;
    this.#syncedTo = this.#position;
    this.#sync = bareFiles
      .syncData(this.handle.fd)
      .catch((error: unknown) => {
        this.#syncError = toArtifactError(error);
      })
      .finally(() => {
        this.#sync = undefined;
      });
  }

  async #writeToFile(chunk: Uint8Array): Promise<void> {
    try {
      let done = 0;
      while (done < chunk.length) {
        const left = chunk.length - done;
        const { bytesWritten } = await this.handle.write(chunk, done, left, this.#position + done);
        done += bytesWritten;
      }
    } catch (error) {
      const failure = toArtifactError(error);
      // A full disk may accept part of a chunk. The file must not contain bytes that are not in the hash.
      await this.handle.truncate(this.#position).catch((error: unknown) => {
        throwBug(error);
        this.#writeError = failure;
      });
      throw failure;
    }
  }

  /** Makes the bytes durable. @throws the error of any sync, including earlier ones */
  async #synced(): Promise<void> {
    await this.#sync;
    const failed = this.#syncError ?? this.#writeError;
    if (failed !== undefined) throw failed;
    await bareFiles.sync(this.handle.fd);
  }

  async restart(): Promise<void> {
    this.#assertOpen();
    await this.#sync;
    await this.handle.truncate(0).catch((error: unknown) => {
      throw toArtifactError(error);
    });
    this.#hash = createHash('sha256');
    this.#position = 0;
    this.#syncedTo = 0;
    this.#writeError = undefined;
  }

  inspectPath(): string {
    return this.path;
  }

  sha256(): string {
    return this.#hash.copy().digest('hex');
  }

  /**
   * Makes the bytes durable in place, so that the file can be copied.
   * @throws ArtifactError `superseded` if the part is closed; the error of any write or sync
   */
  async settle(): Promise<void> {
    this.#assertOpen();
    try {
      await this.#synced();
    } catch (error) {
      throw toArtifactError(error);
    }
  }

  async publish(mediaType: string): Promise<ArtifactRef> {
    const again = this.targets.storedAgain?.bind(this.targets);
    return this.#finish(this.targets.final(this.sha256()), mediaType, again);
  }

  async reject(): Promise<ArtifactRef> {
    return this.#finish(this.targets.rejected(this.sha256()), 'application/octet-stream');
  }

  async discard(): Promise<void> {
    this.#finished = true;
    try {
      await removeIfThere(this.path);
    } catch (error) {
      throw toArtifactError(error);
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    try {
      // A later attempt resumes from these bytes, so they must survive a power failure.
      if (!this.#finished) await this.#synced();
    } catch (error) {
      throw toArtifactError(error);
    } finally {
      await this.#sync;
      await this.handle.close();
    }
  }

  async #finish(
    final: string,
    mediaType: string,
    storedAgain?: (sha256: string) => Promise<void>,
  ): Promise<ArtifactRef> {
    this.#assertOpen();
    const sha256 = this.sha256();
    const publish = () => inFolder(dirname(final), () => publishIfAbsent(this.path, final));
    try {
      await this.#synced();
      if (!(await publish())) {
        // The same name means the same bytes, unless the stored file is damaged. Then this file replaces it.
        if (!(await isIntact(final, this.#position, sha256))) {
          await rename(this.path, final);
          await syncFolderIfItCan(dirname(final));
        } else {
          await storedAgain?.(sha256);
          // In the meantime, the stored file may have been removed because it was old.
          if (!(await publish())) await removeIfThere(this.path);
        }
      }
    } catch (error) {
      if (systemCode(error) === 'ENOENT')
        throw new ArtifactError('superseded', 'Another attempt at this download took over its part.');
      throw toArtifactError(error);
    }
    this.#finished = true;
    await this.close();
    return { uri: artifactUri(sha256), mediaType, bytes: this.#position, sha256 };
  }

  private async copyFrom(previous: string): Promise<void> {
    const source = await open(previous, 'r');
    try {
      const buffer = Buffer.allocUnsafe(COPY_CHUNK);
      for (;;) {
        const { bytesRead } = await source.read(buffer, 0, COPY_CHUNK, this.#position);
        if (bytesRead === 0) return;
        await this.write(buffer.subarray(0, bytesRead));
      }
    } finally {
      await source.close();
    }
  }

  #assertOpen(): void {
    if (!this.#open || this.#finished) throw new ArtifactError('superseded', 'This part is closed.');
  }
}

export async function isIntact(path: string, bytes: number, sha256: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    if ((await handle.stat()).size !== bytes) return false;
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafe(Math.min(Math.max(bytes, 1), COPY_CHUNK));
    for (let at = 0; ;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) break;
      hash.update(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
    return hash.digest('hex') === sha256;
  } finally {
    await handle.close();
  }
}
