import { createHash, randomBytes } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { otherwise } from '../../domain/bug';
import { type ArtifactRef } from '../../domain/request';
import { inFolder, removeIfThere } from '../files/durable-files';
import { systemCode } from '../files/system-errors';
import {
  type PrunedBytes,
  type PutOptions,
  type StagedArtifact,
  type StageOptions,
  toArtifactError,
} from './artifact-store';
import { FilePart, type PartTargets } from './file-part';

const NO_PARTS = { all: [], resumable: undefined } as const;

/** A store's parts as local files in one folder, where their owners find them again. */
export class PartFolder {
  constructor(
    private readonly folder: string,
    private readonly targets: PartTargets,
  ) {}

  /** Opens a part for this owner and resumes from its longest earlier part. */
  async stage(owner: string, { fresh = false }: StageOptions = {}): Promise<FilePart> {
    const key = createHash('sha256').update(owner).digest('hex').slice(0, 32);
    try {
      return await inFolder(this.folder, async () => {
        const { resumable, all } = fresh ? NO_PARTS : await findParts(this.folder, key);
        const previous = resumable === undefined ? undefined : join(this.folder, resumable);
        const part = await FilePart.create(join(this.folder, partName(key)), this.targets, previous);
        for (const name of all) await removeIfThere(join(this.folder, name));
        return part;
      });
    } catch (error) {
      throw toArtifactError(error);
    }
  }

  /** Opens a part that is never resumed. */
  stageOnce(purpose: string): Promise<FilePart> {
    return this.stage(`${purpose}/${randomBytes(16).toString('hex')}`, { fresh: true });
  }

  /** Rejects if a part cannot be written and flushed right now. */
  async checkWritable(): Promise<void> {
    const probe = await this.stageOnce('probe');
    try {
      await probe.write(Buffer.from('probe'));
      await probe.settle();
    } finally {
      await probe.discard();
    }
  }

  /**
   * Deletes parts that activities left behind and have not modified for this long. @returns how many were deleted
   */
  async removeStale(olderThanMs: number, now: number): Promise<number> {
    return (await removeFiles(this.folder, (_name, touched) => now - touched >= olderThanMs)).removed;
  }
}

/** Removes a folder's files by name and modification time. Does nothing if the folder does not exist. */
export async function removeFiles(
  folder: string,
  isOld: (name: string, touched: number) => boolean,
  dryRun = false,
): Promise<PrunedBytes> {
  const counts = { removed: 0, removedBytes: 0 };
  try {
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      const found = await stat(path).catch(otherwise(undefined));
      if (found === undefined || !isOld(name, found.mtimeMs)) continue;
      if (!dryRun) await removeIfThere(path);
      counts.removed += 1;
      counts.removedBytes += found.size;
    }
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw toArtifactError(error);
  }
  return counts;
}

/** Writes all bytes of a source to a part and publishes it, or discards the part. */
export async function writeWhole(
  part: StagedArtifact,
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { mediaType }: PutOptions,
): Promise<ArtifactRef> {
  try {
    for await (const chunk of source) await part.write(chunk);
    return await part.publish(mediaType);
  } catch (error) {
    await part.discard().catch(otherwise(undefined));
    throw error;
  }
}

/** One week. No activity that can still resume its part is older than this. */
export const STALE_PART_MS = 7 * 86_400_000;

/** Tolerance in seconds for clock adjustments since the machine started. */
const SAME_BOOT_S = 60;

/**
 * When this machine started, in seconds. Parts written before that are not resumed, because after a power failure they
 * may contain zeros that no check detects.
 */
function bootSecond(): number {
  return Math.round(Date.now() / 1000 - uptime());
}

/** Creates a name for a part whose owner has this key. */
function partName(key: string): string {
  return `${key}.${bootSecond()}.${randomBytes(6).toString('hex')}.part`;
}

/** Finds all parts of an owner and the longest one that was written since this machine started. */
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
    const size = (await stat(join(directory, name)).catch(otherwise(undefined)))?.size ?? 0;
    if (size > longest) [resumable, longest] = [name, size];
  }
  return { all, resumable };
}
