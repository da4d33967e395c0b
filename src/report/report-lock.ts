import { randomBytes } from 'node:crypto';
import { readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { systemCode } from '../artifacts/artifact-store';
import { publishIfAbsent, removeIfThere } from '../artifacts/durable-file';
import { ReportError } from './report-folder';

/** Time without a touch, in milliseconds, after which the process of another machine's lock counts as ended. */
const FORGOTTEN_MS = 10 * 60_000;
const TOUCH_MS = 60_000;

/** Exclusive lock on one report: of two concurrent refreshes, one could replace a newer page with an older one. */
export interface ReportLock {
  release(): Promise<void>;
}

/** @throws ReportError `busy` when another process holds it */
export async function lockReport(path: string): Promise<ReportLock> {
  for (let tries = 0; tries < 5; tries += 1) {
    if (await take(path)) return held(path);
    const forgotten = await forgottenLock(path);
    if (forgotten === null || !(await putAside(path, forgotten))) break;
  }
  throw new ReportError('busy', 'Another process writes this report now.');
}

/** Creates the lock together with its owner: a lock without one would stay valid for a minute after a kill. */
async function take(path: string): Promise<boolean> {
  const id = randomBytes(8).toString('hex');
  const draft = `${path}.${id}`;
  try {
    await writeFile(draft, JSON.stringify({ pid: process.pid, host: hostname(), id }), { flag: 'wx' });
    return await publishIfAbsent(draft, path);
  } finally {
    await removeIfThere(draft);
  }
}

function held(path: string): ReportLock {
  const touch = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, TOUCH_MS);
  touch.unref();
  return {
    async release() {
      clearInterval(touch);
      await removeIfThere(path);
    },
  };
}

/** Only one process succeeds with the rename. If it moved the new lock of another process, it restores that lock. */
async function putAside(path: string, forgotten: string): Promise<boolean> {
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await rename(path, aside);
    if ((await readFile(aside, 'utf8')) === forgotten) return true;
    await publishIfAbsent(aside, path).catch(() => undefined);
    return false;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return true;
    throw error;
  } finally {
    await removeIfThere(aside);
  }
}

/** The text of a lock whose owner has ended; null while the lock is valid. */
async function forgottenLock(path: string): Promise<string | null> {
  try {
    const age = Date.now() - (await stat(path)).mtimeMs;
    const text = await readFile(path, 'utf8');
    const owner = parse(text);
    // No owner: an earlier version was killed between creating the lock and writing into it.
    const bound = owner === null ? TOUCH_MS : FORGOTTEN_MS;
    const isGone = owner !== null && owner.host === hostname() && !isAlive(owner.pid);
    return isGone || age > bound ? text : null;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return '';
    throw error;
  }
}

function parse(text: string): { readonly pid: number; readonly host: string } | null {
  try {
    return JSON.parse(text) as { pid: number; host: string };
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}
