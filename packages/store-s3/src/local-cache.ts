import { randomBytes } from 'node:crypto';
import { link, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable } from 'node:stream';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { isHash, toArtifactError } from 'temporal-media/internal/stores/artifacts/artifact-store';
import {
  inFolder,
  linkIfAbsent,
  removeIfThere,
  writeSynced,
} from 'temporal-media/internal/stores/files/durable-files';
import { ifAbsent, systemCode } from 'temporal-media/internal/stores/files/system-errors';

/** How long a path remains valid after it was handed out. */
const HANDED_OUT_MS = 3_600_000;
/** A copy that is still unfinished after this time was left behind by a process that ended. */
const DRAFT_MS = 86_400_000;
/** Copies are counted again once this fraction of the limit has been added. */
const RECOUNT = 1 / 20;
const PLACE = 'The local artifact cache';

export interface LocalCacheOptions {
  readonly folder: string;
  /** @default 10 GB (10,000,000,000 bytes) */
  readonly maxBytes?: number;
}

/**
 * Local copies of a remote store's artifacts, by hash. A copy is complete or absent. When the copies exceed about
 * `maxBytes` (the size is counted only occasionally), the least recently used ones are removed. Any number of processes
 * may share the folder.
 *
 * `copies/<h[0:2]>/<hash>` are the copies; `<hash>.used` beside a copy records when it was last requested. A caller
 * gets another name for the same file, `handed-out/<milliseconds>.<random>.<hash>`, which does not count toward the
 * limit and is kept for an hour. A copy can therefore be removed while it is being read, and processes do not need to
 * know what others read. The file's own times never change, because a Blob cannot be read once its file has been
 * touched.
 */
export class LocalCache {
  readonly #copies: string;
  readonly #handedOut: string;
  readonly #maxBytes: number;
  readonly #fetching = new Map<string, Promise<string>>();
  #added = Infinity;
  #trimming: Promise<void> | undefined;

  constructor({ folder, maxBytes = 10 * 1000 ** 3 }: LocalCacheOptions) {
    this.#copies = join(folder, 'copies');
    this.#handedOut = join(folder, 'handed-out');
    this.#maxBytes = maxBytes;
  }

  /** Returns the path of an artifact's copy. A file moved there becomes a copy once {@link added} is called. */
  copyOf(sha256: string): string {
    return join(this.#copies, sha256.slice(0, 2), sha256);
  }

  /**
   * Returns a path to the artifact's bytes that remains valid for at least an hour.
   * @param read returns the verified bytes; called if there is no copy
   */
  async pathOf(sha256: string, read: () => Promise<Readable>): Promise<string> {
    try {
      const there = await this.#handOut(sha256);
      if (there !== undefined) return there;
      const running = this.#fetching.get(sha256);
      if (running !== undefined) return await running;
      const fetching = this.#fetch(sha256, read).finally(() => this.#fetching.delete(sha256));
      this.#fetching.set(sha256, fetching);
      return await fetching;
    } catch (error) {
      throw toArtifactError(error, PLACE);
    }
  }

  /** Records that another code path added a copy. */
  async added(bytes: number): Promise<void> {
    this.#added += bytes;
    if (this.#added < this.#maxBytes * RECOUNT) return;
    this.#added = 0;
    this.#trimming ??= this.#trim().finally(() => {
      this.#trimming = undefined;
    });
    // An oversized cache must not fail the request for an artifact.
    await this.#trimming.catch(otherwise(undefined));
  }

  /** Removes an artifact's copy. Paths that have already been handed out remain valid for their hour. */
  async remove(sha256: string): Promise<void> {
    try {
      await this.#removeCopy(sha256);
    } catch (error) {
      throw toArtifactError(error, PLACE);
    }
  }

  #name(sha256: string): string {
    return join(this.#handedOut, `${Date.now()}.${randomBytes(6).toString('hex')}.${sha256}`);
  }

  /** Gives the copy a new name atomically. Returns undefined if there is no copy. */
  async #handOut(sha256: string): Promise<string | undefined> {
    const name = this.#name(sha256);
    const copy = this.copyOf(sha256);
    try {
      await inFolder(this.#handedOut, () => link(copy, name));
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined;
      throw error;
    }
    // This affects only the order of removal.
    await writeFile(`${copy}.used`, '', { mode: 0o600 }).catch(otherwise(undefined));
    return name;
  }

  async #fetch(sha256: string, read: () => Promise<Readable>): Promise<string> {
    const source = await read();
    const draft = `${this.#name(sha256)}.draft`;
    try {
      await inFolder(this.#handedOut, () => writeSynced(draft, source as AsyncIterable<Uint8Array>, 0o600));
      const copy = this.copyOf(sha256);
      await inFolder(join(copy, '..'), () => linkIfAbsent(draft, copy));
      const { size } = await stat(draft);
      const name = this.#name(sha256);
      await rename(draft, name);
      await this.added(size);
      return name;
    } finally {
      source.destroy();
      await removeIfThere(draft).catch(otherwise(undefined));
    }
  }

  async #trim(): Promise<void> {
    const now = Date.now();
    for (const name of await readdir(this.#handedOut).catch(ifAbsent([]))) {
      const age = now - Number(name.split('.')[0]);
      if (age > (name.endsWith('.draft') ? DRAFT_MS : HANDED_OUT_MS))
        await removeIfThere(join(this.#handedOut, name));
    }
    const copies = await this.#all();
    let bytes = copies.reduce((sum, copy) => sum + copy.bytes, 0);
    for (const copy of copies.sort((a, b) => a.used - b.used)) {
      if (bytes <= this.#maxBytes) return;
      await this.#removeCopy(copy.sha256);
      bytes -= copy.bytes;
    }
  }

  async #all(): Promise<{ sha256: string; bytes: number; used: number }[]> {
    const all: { sha256: string; bytes: number; used: number }[] = [];
    for (const folder of await readdir(this.#copies).catch(ifAbsent([]))) {
      for (const sha256 of await readdir(join(this.#copies, folder)).catch(ifAbsent([]))) {
        if (!isHash(sha256)) continue;
        const copy = this.copyOf(sha256);
        // Another process may have removed it.
        const there = await stat(copy).catch(otherwise(undefined));
        if (there === undefined) continue;
        const used = await stat(`${copy}.used`).catch(otherwise(there));
        all.push({ sha256, bytes: there.size, used: Math.max(used.mtimeMs, there.mtimeMs) });
      }
    }
    return all;
  }

  async #removeCopy(sha256: string): Promise<void> {
    await removeIfThere(this.copyOf(sha256));
    await removeIfThere(`${this.copyOf(sha256)}.used`);
  }
}
