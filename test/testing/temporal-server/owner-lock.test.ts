import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { acquireOwnerLock, LockHeldError } from '../../../src/testing/temporal-server';

describe('acquireOwnerLock', () => {
  let dir: string;
  let file: string;
  beforeEach(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'owner-lock-'));
    file = path.join(dir, 'a.lock');
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

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
