import '../../support/quiet-temporal';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Runtime } from '@temporalio/worker';
import { readConfig } from '../../../src/settings/config';
import { ephemeralJournal } from '../../../src/stores/open-stores';
import { openWorkerStores } from '../../../src/worker/media-parts';
import { runDoctor } from '../../cli/support/doctor-run';

/** A file system in memory that Linux has wherever it runs. */
const IN_MEMORY = '/dev/shm';

(process.platform === 'linux' ? describe : describe.skip)('a journal that is lost with its machine', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(IN_MEMORY, 'temporal-media-ephemeral-'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));
  const env = () => ({ MEDIA_DATA_DIR: dir, MEDIA_JOURNAL: join(dir, 'not', 'made', 'yet') });

  test('is recognised, there or to be made; a disk is not, nor a place that nothing can be said of', async () => {
    expect(await ephemeralJournal(dir)).toContain('(tmpfs)');
    expect(await ephemeralJournal(env().MEDIA_JOURNAL)).toContain('(tmpfs)');
    expect(await ephemeralJournal('/proc/self')).toBeUndefined();
    expect(await ephemeralJournal(join(__filename, 'below'))).toBeUndefined();
  });

  test('is named by doctor, with where to put it', async () => {
    const { checks } = await runDoctor({
      ...process.env,
      ...env(),
      MEDIA_BASE_URL: 'http://127.0.0.1:9',
      MEDIA_API_KEY: 'k',
    });
    expect(checks['journal']).toMatchObject({
      state: 'warning',
      message: expect.stringContaining('lost with the container or the machine') as string,
      remedy: expect.stringContaining('MEDIA_JOURNAL') as string,
    });
  });

  test('is named in the log of a worker when it starts', async () => {
    const warn = jest.spyOn(Runtime.instance().logger, 'warn');
    await openWorkerStores({}, readConfig(env()));
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0]?.[0]).toMatch(/tmpfs.*MEDIA_JOURNAL to a volume/);
    expect(warn.mock.calls[0]?.[0]).not.toContain(dir);
    warn.mockRestore();
  });
});
