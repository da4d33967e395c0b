import fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publishIfAbsent } from '../../src/artifacts/durable-file';

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
