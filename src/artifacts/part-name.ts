import { randomBytes } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { uptime } from 'node:os';
import { join } from 'node:path';

/** Tolerance, in seconds, for a clock that was set while the machine ran. */
const SAME_BOOT_S = 60;

/** Second of this machine's start: after a power cut a part may hold zeros that no check finds, so it is not resumed. */
function bootSecond(): number {
  return Math.round(Date.now() / 1000 - uptime());
}

/** A new name for a part of the owner with this key. */
export function partName(key: string): string {
  return `${key}.${bootSecond()}.${randomBytes(6).toString('hex')}.part`;
}

/** All parts of an owner, and the longest one that was written since this machine started. */
export async function findParts(
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
