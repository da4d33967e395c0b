import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { servedBy, type ServedPart } from '../../src/domain/names';
import { FileArtifactStore } from '../../src/stores/artifacts/file-store';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { readinessOf, storesNeeded } from '../../src/worker/readiness';

describe('whether a worker can take creates', () => {
  let at = 1_000_000;
  const ready = (check: () => Promise<void>) => {
    let asked = 0;
    const isReady = readinessOf(
      [
        {
          checkWritable: () => {
            asked += 1;
            return check();
          },
        },
      ],
      () => at,
    );
    return { isReady, asked: () => asked };
  };

  it('follows its journal, which is asked every ten seconds at most', async () => {
    let isAway = false;
    const { isReady, asked } = ready(async () => {
      if (isAway) throw new Error('the bucket is away');
    });
    expect(await Promise.all([isReady(), isReady()])).toEqual([true, true]);
    isAway = true;
    at += 9_999;
    expect([await isReady(), asked()]).toEqual([true, 1]);
    at += 1;
    expect([await isReady(), asked()]).toEqual([false, 2]);
    isAway = false;
    at += 10_000;
    expect([await isReady(), asked()]).toEqual([true, 3]);
  });

  it('is not ready behind a journal that answers nothing', async () => {
    jest.useFakeTimers();
    try {
      const answer = ready(() => new Promise(() => undefined)).isReady();
      jest.advanceTimersByTime(5_000);
      expect(await answer).toBe(false);
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('the stores that the served parts need', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'readiness-'));
  });
  afterAll(() => rm(dir, { recursive: true }));

  const isReady = (...parts: ServedPart[]): Promise<boolean> => {
    const stores = {
      journal: createFileJournal({ root: join(dir, 'journal') }),
      artifacts: new FileArtifactStore(join(dir, 'artifacts')),
    };
    return readinessOf(storesNeeded(servedBy(parts).kinds, stores))();
  };

  it('while the place of the artifacts is away, a pool that downloads or creates is not ready, and one that polls is', async () => {
    expect(await isReady('create', 'poll', 'download', 'image')).toBe(true);
    await rm(join(dir, 'artifacts'), { recursive: true });
    await writeFile(join(dir, 'artifacts'), 'a file in the place of the folder');
    for (const part of ['download', 'create', 'image'] as const) expect(await isReady(part)).toBe(false);
    expect([await isReady('poll'), await isReady('workflows')]).toEqual([true, true]);
    await rm(join(dir, 'artifacts'));
    expect(await isReady('download')).toBe(true);
  });

  it('while the journal is away, a pool that downloads is ready, and one that creates is not', async () => {
    await rm(join(dir, 'journal'), { recursive: true });
    await writeFile(join(dir, 'journal'), 'a file in the place of the folder');
    expect([await isReady('download', 'poll'), await isReady('create'), await isReady('image')]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
