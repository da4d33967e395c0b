import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { acquireOwnerLock } from '../../src/stores/files/owner-lock';
import { ROOT, SOURCE_FOLDERS } from './sources';

const CACHE = path.join(ROOT, 'node_modules', '.cache', 'temporal-media');
const STAMP = path.join(CACHE, 'lib-built');

/**
 * Compiles every `src` to its `lib` when anything in one changed since the last time: tests run the command line and the
 * worker as they are published. Two runs at once build one after the other. `say` is told before a build and after it.
 */
export async function bringLibUpToDate(say: (line: string) => void): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const lock = await acquireOwnerLock(path.join(CACHE, 'lib-build.lock'), { waitMs: 300_000 });
  try {
    if (isUpToDate()) return;
    // The stamp carries the time of the start: what is saved during the build is built by the next run.
    const started = new Date();
    say('Compiling src to lib, because it changed: 5 to 20 seconds …');
    const { status, stdout } = spawnSync(process.execPath, [path.join(ROOT, 'scripts', 'build.js')], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    if (status !== 0) process.stderr.write(`lib was built with errors:\n${stdout}\n`);
    writeFileSync(STAMP, '');
    utimesSync(STAMP, started, started);
    say(`lib compiled in ${Math.round((Date.now() - started.getTime()) / 1000)} s`);
  } finally {
    await lock.release();
  }
}

function isUpToDate(): boolean {
  const built = path.join(ROOT, 'lib', 'domain', 'index.js');
  if (!existsSync(built) || !existsSync(STAMP)) return false;
  return Math.max(...SOURCE_FOLDERS.map(newestUnder)) <= statSync(STAMP).mtimeMs;
}

/** Directories count: a file that was removed or renamed changes only these. */
function newestUnder(dir: string): number {
  let newest = 0;
  for (const name of ['.', ...readdirSync(path.join(ROOT, dir), { recursive: true, encoding: 'utf8' })]) {
    const entry = statSync(path.join(ROOT, dir, name), { throwIfNoEntry: false });
    newest = Math.max(newest, entry?.mtimeMs ?? 0);
  }
  return newest;
}
