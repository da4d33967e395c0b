import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const CACHE = path.join(
  process.env['XDG_CACHE_HOME'] ?? path.join(os.homedir(), '.cache'),
  'temporal-media',
  'languages',
);

/**
 * A folder outside the tree that is filled once and kept; its name says what it was made of. It is removed
 * again when filling it fails, and has a mark when it is whole.
 * @throws what `fill` throws, and keeps nothing then
 */
export function cachedFolder(name: string, madeOf: string, fill: (folder: string) => void): string {
  const digest = createHash('sha256').update(madeOf).digest('hex').slice(0, 16);
  const folder = path.join(CACHE, `${name}-${digest}`);
  // Not renamed: a virtual environment knows its own path.
  const mark = path.join(folder, '.whole');
  if (existsSync(mark)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    fill(folder);
    writeFileSync(mark, '');
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return folder;
}
