import fs from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncFiles, syncFiles } from '../../../src/stores/journal/file-journal';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'temporal-media-files-'));
  for (const name of ['b.entry', 'a.entry', 'c.entry']) await writeFile(join(folder, name), `${name} ü`);
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each([
  ['on any file system', asyncFiles],
  ['on a disk of this host', syncFiles],
])('the files of a journal %s', (_, files) => {
  it('are listed in the order of their names', async () => {
    const names = ['c.entry', 'b.entry', 'a.entry'];
    jest.spyOn(fs, 'readdirSync').mockReturnValue(names as never);
    jest.spyOn(fs.promises, 'readdir').mockResolvedValue(names as never);
    expect(await files.names(folder)).toEqual(['a.entry', 'b.entry', 'c.entry']);
  });

  it('are none where there is no folder, and have no text where there is no file', async () => {
    expect(await files.names(join(folder, 'none'))).toEqual([]);
    expect(await files.text(join(folder, 'none'))).toBeNull();
  });

  it('are text', async () => {
    expect(await files.text(join(folder, 'a.entry'))).toBe('a.entry ü');
  });

  it('that cannot be read are not taken for none', async () => {
    const file = join(folder, 'a.entry');
    await expect(files.names(file)).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(files.text(join(file, 'b'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  });
});
