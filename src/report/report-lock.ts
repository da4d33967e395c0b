import { randomBytes } from 'node:crypto';
import { readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { systemCode } from '../artifacts/artifact-store';
import { publishIfAbsent, removeIfThere } from '../artifacts/durable-file';
import { ReportError } from './report-folder';

/** A lock of another machine that nobody touched for this long, in milliseconds, belongs to a process that is gone. */
const FORGOTTEN_MS = 10 * 60_000;
const TOUCH_MS = 60_000;

/** Sole right to write one report: two refreshes at once could put an older page over a newer one. */
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

/** With its owner in it from the first moment: one without would hold for a minute after a kill. */
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

/** Only one process wins the rename. What it took by mistake, the fresh lock of another, is put back. */
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

/** The text of a lock whose owner is gone; null while it holds. */
async function forgottenLock(path: string): Promise<string | null> {
  try {
    const age = Date.now() - (await stat(path)).mtimeMs;
    const text = await readFile(path, 'utf8');
    const owner = parse(text);
    // Without an owner: an earlier version was killed between creating the lock and writing into it.
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
