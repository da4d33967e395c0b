import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import { hostId } from '../../../src/stores/journal/file-journal';

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);

afterEach(() => {
  jest.restoreAllMocks();
});

describe('the name of this host', () => {
  it('is what the environment says', async () => {
    expect(await hostId({ MEDIA_HOST_ID: 'volume-7' })).toBe(digest('volume-7'));
  });

  it('is the machine id, never told itself', async () => {
    const read = jest.spyOn(fs, 'readFile').mockResolvedValue('  abc123\n');
    expect(await hostId({})).toBe(digest('abc123'));
    expect(read).toHaveBeenCalledWith('/etc/machine-id', 'utf8');
  });

  it.each([
    ['there is no machine id', () => Promise.reject(new Error('ENOENT'))],
    ['the machine id is empty', () => Promise.resolve('\n')],
  ])('is the host name where %s', async (_, answer) => {
    jest.spyOn(fs, 'readFile').mockImplementation(answer);
    expect(await hostId({})).toBe(digest(os.hostname()));
  });

  it('is read from the environment of the process by default', async () => {
    expect(await hostId()).toBe(await hostId(process.env));
  });
});
