import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { acquireOwnerLock, LockHeldError } from '../../../src/stores/files/owner-lock';

describe('acquireOwnerLock', () => {
  let dir: string;
  let file: string;
  beforeEach(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'owner-lock-'));
    file = path.join(dir, 'a.lock');
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await rm(dir, { recursive: true, force: true });
  });

  /** As on a FAT disk or some network shares. */
  const withoutHardLinks = () =>
    jest.spyOn(fs, 'link').mockRejectedValue(Object.assign(new Error('no hard links'), { code: 'EPERM' }));

  describe.each([
    ['with hard links', () => undefined],
    ['without hard links', withoutHardLinks],
  ])('on a file system %s', (_name, prepare) => {
    beforeEach(() => void prepare());

    test('is held by one, names its owner, and leaves nothing behind', async () => {
      const lock = await acquireOwnerLock(file, { waitMs: 0 });
      expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ pid: process.pid, host: hostname() });
      await expect(acquireOwnerLock(file, { waitMs: 0 })).rejects.toThrow(LockHeldError);
      expect(await readdir(dir)).toEqual(['a.lock']);
      await lock.release();
      await (await acquireOwnerLock(file, { waitMs: 0 })).release();
      expect(await readdir(dir)).toEqual([]);
    });

    const ofAnotherHost = JSON.stringify({ nonce: 'x', pid: 1, host: `not-${hostname()}`, identity: 'b/1' });
    test.each([
      ['of another host', ofAnotherHost, 60_000, 0.5, 2],
      ['of another host, on a slow share', ofAnotherHost, 600_000, 9, 11],
      ['without an owner', '', 600_000, 0.5, 2],
    ])('%s is taken over when nobody has touched it', async (_of, text, foreignStaleMs, holdsAt, goneAt) => {
      const leave = async (minutes: number) => {
        await writeFile(file, text);
        const then = new Date(Date.now() - minutes * 60_000);
        await utimes(file, then, then);
      };
      await leave(holdsAt);
      await expect(acquireOwnerLock(file, { waitMs: 0, foreignStaleMs })).rejects.toThrow(LockHeldError);
      expect(await readFile(file, 'utf8')).toBe(text);
      await leave(goneAt);
      await (await acquireOwnerLock(file, { waitMs: 0, foreignStaleMs })).release();
      expect(await readdir(dir)).toEqual([]);
    });
  });

  test('one holder at a time; the next one waits, is told once and gets it', async () => {
    const first = await acquireOwnerLock(file, { waitMs: 0 });
    await expect(acquireOwnerLock(file, { waitMs: 0 })).rejects.toMatchObject({
      name: 'LockHeldError',
      ownerPid: process.pid,
    });
    let told: (pid: number) => void = () => undefined;
    const waiting = new Promise<number>((resolve) => (told = resolve));
    const second = acquireOwnerLock(file, { waitMs: 60_000, onWait: told });
    expect(await waiting).toBe(process.pid);
    await first.release();
    await (await second).release();
    expect(await readdir(dir)).toEqual([]);
  });

  test('the lock of a process that is gone is taken over', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    await writeFile(
      file,
      JSON.stringify({ nonce: 'x', host: hostname(), pid: child.pid, identity: 'boot/1' }),
    );
    const lock = await acquireOwnerLock(file, { waitMs: 0 });
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ pid: process.pid });
    await lock.release();
  });

  test('so is the lock of an earlier process with the number of a living one', async () => {
    await writeFile(
      file,
      JSON.stringify({ nonce: 'x', host: hostname(), pid: process.pid, identity: 'earlier boot/1' }),
    );
    await (await acquireOwnerLock(file, { waitMs: 0 })).release();
  });

  test('of many that see the same dead owner exactly one gets it', async () => {
    await writeFile(file, JSON.stringify({ nonce: 'x', host: hostname(), pid: 999_999_999, identity: null }));
    const tries = await Promise.allSettled(
      Array.from({ length: 20 }, () => acquireOwnerLock(file, { waitMs: 0 })),
    );
    const won = tries.filter((t) => t.status === 'fulfilled');
    expect(won).toHaveLength(1);
    for (const t of tries) if (t.status === 'rejected') expect(t.reason).toBeInstanceOf(LockHeldError);
    await won[0]?.value.release();
    expect(await readdir(dir)).toEqual([]);
  });

  test('a lock of another host that is still touched is respected', async () => {
    await writeFile(file, JSON.stringify({ nonce: 'x', host: 'another-host', pid: 1, identity: 'b/1' }));
    await expect(acquireOwnerLock(file, { waitMs: 0 })).rejects.toThrow(LockHeldError);
  });

  test('a lock handed to a child stays held until the child ends', async () => {
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    await once(child, 'spawn');
    const lock = await acquireOwnerLock(file, { waitMs: 0 });
    await lock.transfer(child.pid ?? 0);
    // However patient: a child that is looked after does not go away by itself.
    await expect(acquireOwnerLock(file, { waitMs: 600_000 })).rejects.toMatchObject({ ownerPid: child.pid });
    child.stdin.end();
    await once(child, 'exit');
    const next = await acquireOwnerLock(file, { waitMs: 0 });
    await lock.release();
    await expect(acquireOwnerLock(file, { waitMs: 0 })).rejects.toThrow(LockHeldError);
    await next.release();
  });
});
