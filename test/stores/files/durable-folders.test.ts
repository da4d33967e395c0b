import fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bareFiles, inFolder } from '../../../src/stores/files/durable-files';

describe('a folder that another process has made', () => {
  afterEach(() => jest.restoreAllMocks());

  it('is on the disk, with those above it, before anything is written in it', async () => {
    const folder = await fs.mkdtemp(join(tmpdir(), 'durable-directory-'));
    const path = join(folder, 'parts', 'ab');
    await fs.mkdir(path, { recursive: true });
    const opened: string[] = [];
    const { open } = bareFiles;
    jest.spyOn(bareFiles, 'open').mockImplementation((name, ...rest) => {
      opened.push(String(name));
      return open(name, ...rest);
    });
    const before = await inFolder(path, () => Promise.resolve([...opened]));
    expect(before).toEqual(expect.arrayContaining([dirname(path), folder, dirname(folder)]));
    // Once per process.
    expect(await inFolder(path, () => Promise.resolve(opened.length))).toBe(before.length);
    await fs.rm(folder, { recursive: true });
  });
});
