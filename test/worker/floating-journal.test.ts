import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/settings/config';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { openWorkerStores } from '../../src/worker/media-parts';

describe('a journal whose place depends on the folder in which a worker is started', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'temporal-media-floating-'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  test.each([
    [{}, 'MEDIA_DATA_DIR'],
    [{ MEDIA_DATA_DIR: '.data' }, 'MEDIA_DATA_DIR'],
    [{ MEDIA_DATA_DIR: '/srv/media', MEDIA_JOURNAL: 'journal' }, 'MEDIA_JOURNAL'],
    [{ MEDIA_DATA_DIR: '/srv/media' }, undefined],
    [{ MEDIA_JOURNAL: '/srv/media/journal' }, undefined],
    [{ MEDIA_JOURNAL: 's3://bucket/journal' }, undefined],
    [{ MEDIA_JOURNAL: 'postgres://media@db/media' }, undefined],
  ])('%j floats by %s', (env, variable) => {
    expect(readConfig(env).journalFloats).toBe(variable);
  });

  test('keeps a worker from starting, with the variable to set, and nothing is made anywhere', async () => {
    const before = await readdir(process.cwd());
    const config = readConfig({ MEDIA_ARTIFACTS: join(dir, 'artifacts') });
    await expect(openWorkerStores({}, config)).rejects.toMatchObject({
      name: 'ConfigurationError',
      variable: 'MEDIA_DATA_DIR',
      message: expect.stringMatching(
        /absolute path that outlives the process, or set MEDIA_JOURNAL to a bucket/,
      ) as string,
    });
    expect(await readdir(process.cwd())).toEqual(before);
  });

  test('does not matter to a worker that is given its journal', async () => {
    const config = readConfig({ MEDIA_ARTIFACTS: join(dir, 'artifacts') });
    const journal = createFileJournal({ root: join(dir, 'journal') });
    expect((await openWorkerStores({ journal }, config)).journal).toBe(journal);
  });
});
