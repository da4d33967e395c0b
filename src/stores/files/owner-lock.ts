import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { otherwise, throwBug } from '../../domain/bug';
import { publishIfAbsent } from './durable-files';
import { ifAbsent, systemCode } from './system-errors';
import { hostOfProcesses, processIdentity, runs } from './this-machine';

/** A lock without a readable owner counts as abandoned after this time without a touch. */
const UNREADABLE_STALE_MS = 60_000;
/**
 * How many times an owner touches its lock before other hosts, which cannot check its process, would consider it
 * abandoned.
 */
const TOUCHES = 12;
const RETRY_MS = 200;

interface Owner {
  readonly nonce: string;
  readonly host: string;
  readonly pid: number;
  readonly identity: string | null;
  /** The process that transferred the lock. */
  readonly starter?: { readonly pid: number; readonly identity: string | null };
}

export interface OwnerLock {
  /**
   * Transfers the lock to another process on this host, which keeps it while that process runs.
   * @throws Error if another owner has taken the lock
   */
  transfer(pid: number): Promise<void>;
  /** Releases the lock. Does nothing if another owner has taken it. */
  release(): Promise<void>;
}

interface OwnerLockOptions {
  /** How long to wait for a running owner, in milliseconds. */
  readonly waitMs: number;
  /** Called once when the wait for a running owner starts. */
  readonly onWait?: (ownerPid: number) => void;
  /**
   * Time without a touch, in milliseconds, after which another host's lock counts as abandoned. Use a longer time on
   * network shares, where clock differences and caches matter.
   * @default 60000
   */
  readonly foreignStaleMs?: number;
}

/**
 * Acquires a lock file for this process. Takes over a lock whose process is no longer running.
 * @throws LockHeldError if a running owner keeps the lock for longer than `waitMs`, or immediately if the process that
 * transferred the lock to that owner is still running
 */
export async function acquireOwnerLock(file: string, options: OwnerLockOptions): Promise<OwnerLock> {
  const until = performance.now() + options.waitMs;
  const nonce = randomUUID();
  const foreignStaleMs = options.foreignStaleMs ?? 60_000;
  let isReported = false;
  for (;;) {
    if (await claim(file, await describe(nonce, process.pid)))
      return held(file, nonce, foreignStaleMs / TOUCHES);
    const owner = await readOwner(file);
    if (owner === 'absent') continue;
    if (!(await isAlive(file, owner, foreignStaleMs))) {
      await removeStale(file, owner);
      continue;
    }
    const pid = owner === 'unreadable' ? 0 : owner.pid;
    // Waiting helps only if the owner is orphaned and about to end. If its starter is still running, the owner may run
    // indefinitely.
    const attended = owner !== 'unreadable' && owner.starter !== undefined && (await runs(owner.starter));
    if (attended || performance.now() >= until) throw new LockHeldError(pid);
    if (!isReported) options.onWait?.(pid);
    isReported = true;
    await delay(RETRY_MS);
  }
}

export class LockHeldError extends Error {
  override readonly name = 'LockHeldError';
  constructor(readonly ownerPid: number) {
    super(`process ${ownerPid} holds the lock`);
  }
}

async function describe(nonce: string, pid: number): Promise<Owner> {
  return { nonce, host: await hostOfProcesses(), pid, identity: await processIdentity(pid) };
}

/** Creates the lock and its content atomically, so readers never see a partly written owner. */
async function claim(file: string, owner: Owner): Promise<boolean> {
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, JSON.stringify(owner), { flag: 'wx' });
    return await publishIfAbsent(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}

async function readOwner(file: string): Promise<Owner | 'absent' | 'unreadable'> {
  const text = await readFile(file, 'utf8').catch(ifAbsent(undefined));
  if (text === undefined) return 'absent';
  try {
    const owner = JSON.parse(text) as Partial<Owner> | null;
    return typeof owner?.nonce === 'string' && typeof owner.pid === 'number' && typeof owner.host === 'string'
      ? {
          nonce: owner.nonce,
          host: owner.host,
          pid: owner.pid,
          identity: owner.identity ?? null,
          ...(owner.starter && { starter: owner.starter }),
        }
      : 'unreadable';
  } catch (error) {
    throwBug(error);
    return 'unreadable';
  }
}

async function isAlive(file: string, owner: Owner | 'unreadable', foreignStaleMs: number): Promise<boolean> {
  if (owner !== 'unreadable' && owner.host === (await hostOfProcesses())) return runs(owner);
  const { mtimeMs } = await stat(file).catch(otherwise({ mtimeMs: 0 }));
  return Date.now() - mtimeMs < (owner === 'unreadable' ? UNREADABLE_STALE_MS : foreignStaleMs);
}

/**
 * Moves a dead owner's lock aside. If another process acquired the lock between the read and the move, restores that
 * lock without overwriting anything.
 */
async function removeStale(file: string, seen: Owner | 'unreadable'): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    throw error;
  }
  const moved = await readOwner(aside);
  const same =
    typeof moved === 'object' && typeof seen === 'object' ? moved.nonce === seen.nonce : moved === seen;
  if (!same) await publishIfAbsent(aside, file).catch(otherwise(undefined));
  await rm(aside, { force: true });
}

function held(file: string, nonce: string, touchMs: number): OwnerLock {
  const touch = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => undefined);
  }, touchMs);
  touch.unref();
  const isOurs = async (): Promise<boolean> => {
    const owner = await readOwner(file);
    return typeof owner === 'object' && owner.nonce === nonce;
  };
  return {
    async transfer(pid) {
      if (!(await isOurs())) throw new Error('another process took the lock');
      const draft = `${file}.${randomUUID()}`;
      const starter = { pid: process.pid, identity: await processIdentity(process.pid) };
      const owner: Owner = { ...(await describe(nonce, pid)), starter };
      await writeFile(draft, JSON.stringify(owner), { flag: 'wx' });
      await rename(draft, file);
    },
    async release() {
      clearInterval(touch);
      if (await isOurs()) await rm(file, { force: true });
    },
  };
}
