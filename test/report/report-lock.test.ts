import { spawnSync } from 'node:child_process';
import fs from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockReport } from '../../src/report/report-lock';

describe('the lock of a report', () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await fs.mkdtemp(join(tmpdir(), 'report-lock-'));
    path = join(folder, 'lock');
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await fs.rm(folder, { recursive: true });
  });

  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
  const leave = async (text: string, minutes: number) => {
    await fs.writeFile(path, text);
    await fs.utimes(path, minutesAgo(minutes), minutesAgo(minutes));
  };
  const ofAnotherHost = JSON.stringify({ pid: 1, host: `not-${hostname()}` });
  const busy = { code: 'busy' };

  /** As on a FAT disk or some network shares. */
  const withoutHardLinks = () =>
    jest.spyOn(fs, 'link').mockRejectedValue(Object.assign(new Error('no hard links'), { code: 'EPERM' }));

  describe.each([
    ['with hard links', () => undefined],
    ['without hard links', withoutHardLinks],
  ])('on a file system %s', (_name, prepare) => {
    beforeEach(() => void prepare());

    it('is held by one, names its owner, and leaves nothing behind', async () => {
      const lock = await lockReport(path);
      expect(JSON.parse(await fs.readFile(path, 'utf8'))).toMatchObject({
        pid: process.pid,
        host: hostname(),
      });
      await expect(lockReport(path)).rejects.toMatchObject(busy);
      expect(await fs.readdir(folder)).toEqual(['lock']);
      await lock.release();
      await (await lockReport(path)).release();
      expect(await fs.readdir(folder)).toEqual([]);
    });

    it('of a process that is gone is taken over', async () => {
      const { pid } = spawnSync(process.execPath, ['--version']);
      await leave(JSON.stringify({ pid, host: hostname() }), 0);
      const lock = await lockReport(path);
      await expect(lockReport(path)).rejects.toMatchObject(busy);
      await lock.release();
    });

    it.each([
      ['of another machine', ofAnotherHost, 9, 11],
      ['without an owner', '', 0.5, 2],
    ])('%s is taken over when nobody has touched it', async (_of, text, holdsAt, goneAt) => {
      await leave(text, holdsAt);
      await expect(lockReport(path)).rejects.toMatchObject(busy);
      expect(await fs.readFile(path, 'utf8')).toBe(text);
      await leave(text, goneAt);
      await (await lockReport(path)).release();
      expect(await fs.readdir(folder)).toEqual([]);
    });
  });
});
