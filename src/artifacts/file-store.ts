import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';
import { type ArtifactRef } from '../domain/request';
import {
  ArtifactError,
  type ArtifactStore,
  type PutOptions,
  type StagedArtifact,
  type StageOptions,
  toArtifactError,
} from './artifact-store';
import { systemCode } from '../files/system-code';
import { removeIfThere } from '../files/create-if-absent';
import { inFolder } from '../files/durable-folders';
import { FilePart, type PartTargets } from './file-part';
import { fetchToFile } from './ingest';
import { storeIdentity } from './store-identity';

const NO_PARTS = { all: [], resumable: undefined } as const;
const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Artifacts in a directory (architecture: Stores): `<root>/sha256/<h[0:2]>/<hash>`, parts in `<root>/parts/`, refused
 * bytes as `<root>/rejected/<hash>.rejected`. Files are 0600, directories 0700; all names are made here, none comes
 * from a service.
 */
export class FileArtifactStore implements ArtifactStore {
  readonly kind = 'file';
  readonly #parts: string;
  readonly #targets: PartTargets;

  constructor(private readonly root: string) {
    this.#parts = join(root, 'parts');
    this.#targets = {
      final: (sha256) => this.#path(sha256),
      rejected: (sha256) => join(root, 'rejected', `${sha256}.rejected`),
    };
  }

  async stage(owner: string, { fresh = false }: StageOptions = {}): Promise<StagedArtifact> {
    const key = createHash('sha256').update(owner).digest('hex').slice(0, 32);
    try {
      return await inFolder(this.#parts, async () => {
        const { resumable, all } = fresh ? NO_PARTS : await findParts(this.#parts, key);
        const previous = resumable === undefined ? undefined : join(this.#parts, resumable);
        const part = await FilePart.create(join(this.#parts, partName(key)), this.#targets, previous);
        for (const name of all) await removeIfThere(join(this.#parts, name));
        return part;
      });
    } catch (error) {
      throw toArtifactError(error);
    }
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
    try {
      const found = await stat(this.#path(sha256));
      return found.isFile() ? found.size : null;
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return null;
      throw toArtifactError(error);
    }
  }

  localPath(sha256: string): string | undefined {
    if (!SHA256.test(sha256)) return undefined;
    const path = this.#path(sha256);
    return existsSync(path) ? path : undefined;
  }

  async putBuffer(bytes: Uint8Array, options: PutOptions): Promise<ArtifactRef> {
    return this.putStream([bytes], options);
  }

  async putStream(
    source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options: PutOptions,
  ): Promise<ArtifactRef> {
    const part = await this.stage(`put/${randomBytes(16).toString('hex')}`, { fresh: true });
    try {
      for await (const chunk of source) await part.write(chunk);
      return await part.publish(options.mediaType);
    } catch (error) {
      await part.discard().catch(() => undefined);
      throw error;
    }
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

  async checkWritable(): Promise<void> {
    const probe = await this.stage(`probe/${randomBytes(16).toString('hex')}`);
    try {
      await probe.write(Buffer.from('probe'));
    } finally {
      await probe.discard();
    }
  }

  /** Deletes parts that were not modified for this long: their activities were terminated. @returns how many. */
  async removeStaleParts(olderThanMs = 7 * 86_400_000, now = Date.now()): Promise<number> {
    let removed = 0;
    try {
      for (const name of await readdir(this.#parts)) {
        const path = join(this.#parts, name);
        const touched = (await stat(path).catch(() => undefined))?.mtimeMs;
        if (touched === undefined || now - touched < olderThanMs) continue;
        await removeIfThere(path);
        removed += 1;
      }
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw toArtifactError(error);
    }
    return removed;
  }

  #path(sha256: string): string {
    return join(this.root, 'sha256', sha256.slice(0, 2), sha256);
  }
}

function assertHash(sha256: string): void {
  if (!SHA256.test(sha256))
    throw new ArtifactError('not_found', 'Not the SHA-256 of an artifact: 64 lowercase hexadecimal digits.');
}

function notFound(sha256: string): ArtifactError {
  return new ArtifactError('not_found', `The artifact store does not have ${sha256}.`);
}

/** A file store below `root`; directories are created when something is stored. */
export function createFileStore({ root }: { readonly root: string }): FileArtifactStore {
  return new FileArtifactStore(root);
}

/** Passes the bytes on and fails at the end, with `hash_mismatch`, when they do not have this SHA-256. */
export function verifiedStream(source: Readable, sha256: string): Readable {
  const hash = createHash('sha256');
  const check = new Transform({
    transform(chunk: Uint8Array, _encoding, done: TransformCallback) {
      hash.update(chunk);
      done(null, chunk);
    },
    flush(done: TransformCallback) {
      const same = hash.digest('hex') === sha256;
      done(same ? null : new ArtifactError('hash_mismatch', `Artifact ${sha256} is damaged in the store.`));
    },
  });
  source.once('error', (error) => check.destroy(toArtifactError(error)));
  // pipeline closes the source when the reader closes the result, and passes errors on to the reader.
  pipeline(source, check, () => undefined);
  return check;
}

/** Tolerance, in seconds, for a clock that was set while the machine ran. */
const SAME_BOOT_S = 60;

/**
 * When this machine started, in seconds: after a power cut a part may hold zeros that no check finds, so it is not
 * resumed.
 */
function bootSecond(): number {
  return Math.round(Date.now() / 1000 - uptime());
}

/** A new name for a part of the owner with this key. */
export function partName(key: string): string {
  return `${key}.${bootSecond()}.${randomBytes(6).toString('hex')}.part`;
}

/** All parts of an owner, and the longest one that was written since this machine started. */
async function findParts(
  directory: string,
  key: string,
): Promise<{ all: readonly string[]; resumable: string | undefined }> {
  const all = (await readdir(directory)).filter(
    (name) => name.startsWith(`${key}.`) && name.endsWith('.part'),
  );
  let resumable: string | undefined;
  let longest = 0;
  for (const name of all) {
    const boot = Number(name.split('.')[1]);
    if (!(Math.abs(boot - bootSecond()) <= SAME_BOOT_S)) continue;
    const size = (await stat(join(directory, name)).catch(() => undefined))?.size ?? 0;
    if (size > longest) [resumable, longest] = [name, size];
  }
  return { all, resumable };
}

const EXTENSIONS: { readonly [mediaType: string]: string } = {
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'application/json': 'json',
};

/** File extension of a media type, without the dot; `bin` for any other. */
export function fileExtension(mediaType: string): string {
  return EXTENSIONS[mediaType.replace(/;.*/s, '')] ?? 'bin';
}
