import fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inDirectory, publishIfAbsent } from '../../src/artifacts/durable-file';

describe('publishing a file under its final name', () => {
  let folder: string;
  let source: string;
  let final: string;
  beforeEach(async () => {
    folder = await fs.mkdtemp(join(tmpdir(), 'durable-file-'));
    source = join(folder, 'source');
    final = join(folder, 'final');
    await fs.writeFile(source, 'mine');
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await fs.rm(folder, { recursive: true });
  });

  const linkFails = (code: string) =>
    jest.spyOn(fs, 'link').mockRejectedValue(Object.assign(new Error('link'), { code }));

  describe.each([
    ['with hard links', undefined],
    ['whose hard links are refused', 'EPERM'],
    ['that knows no hard links', 'ENOTSUP'],
  ])('on a file system %s', (_name, code) => {
    beforeEach(() => void (code !== undefined && linkFails(code)));

    it('gives it the name, and takes the old one away', async () => {
      expect(await publishIfAbsent(source, final)).toBe(true);
      expect(await fs.readdir(folder)).toEqual(['final']);
      expect(await fs.readFile(final, 'utf8')).toBe('mine');
    });

    it('leaves both alone when the name is taken', async () => {
      await fs.writeFile(final, 'of another');
      expect(await publishIfAbsent(source, final)).toBe(false);
      expect(await fs.readFile(final, 'utf8')).toBe('of another');
      expect(await fs.readFile(source, 'utf8')).toBe('mine');
    });
  });

  it('a disk that fails is no file system without hard links', async () => {
    linkFails('EIO');
    await expect(publishIfAbsent(source, final)).rejects.toMatchObject({ code: 'EIO' });
    expect(await fs.readdir(folder)).toEqual(['source']);
  });
});

describe('a directory that another process has made', () => {
  afterEach(() => jest.restoreAllMocks());

  it('is on the disk, with those above it, before anything is written in it', async () => {
    const folder = await fs.mkdtemp(join(tmpdir(), 'durable-directory-'));
    const path = join(folder, 'parts', 'ab');
    await fs.mkdir(path, { recursive: true });
    const opened: string[] = [];
    const { open } = fs;
    jest.spyOn(fs, 'open').mockImplementation((name, ...rest) => {
      opened.push(String(name));
      return open(name, ...rest);
    });
    const before = await inDirectory(path, () => Promise.resolve([...opened]));
    expect(before).toEqual(expect.arrayContaining([dirname(path), folder, dirname(folder)]));
    // Once per process.
    expect(await inDirectory(path, () => Promise.resolve(opened.length))).toBe(before.length);
    await fs.rm(folder, { recursive: true });
  });
});
