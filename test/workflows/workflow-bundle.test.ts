import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packagedWorkflows } from '../../src/package-file';
import { bundledWorkflows, cachedWorkflowBundle } from '../../src/workflow-bundle';

describe('the workflow code of a worker', () => {
  let cacheDir: string;
  beforeAll(async () => {
    cacheDir = join(await mkdtemp(join(tmpdir(), 'temporal-media-bundle-')), 'cache');
  });
  afterAll(() => rm(join(cacheDir, '..'), { recursive: true, force: true }));

  it('is bundled once per process and path', async () => {
    const [first, second] = await Promise.all([
      bundledWorkflows(undefined),
      bundledWorkflows({ workflowsPath: packagedWorkflows() }),
    ]);
    expect(second.workflowBundle).toBe(first.workflowBundle);
  });

  it('is taken as it is when it comes as a bundle', async () => {
    const prebuilt = { workflowBundle: { codePath: 'mine.js' } };
    expect(await bundledWorkflows(prebuilt)).toBe(prebuilt);
  });

  it('is the same on disk, written whole and once', async () => {
    const { workflowBundle } = await bundledWorkflows(undefined);
    const [{ codePath }, other] = await Promise.all([
      cachedWorkflowBundle(cacheDir),
      cachedWorkflowBundle(cacheDir),
    ]);
    expect(other).toEqual({ codePath });
    expect(await readdir(cacheDir)).toEqual([codePath.slice(cacheDir.length + 1)]);
    // Compared by themselves: a difference would print megabytes.
    const { code } = workflowBundle as { readonly code: string };
    expect((await readFile(codePath, 'utf8')) === code).toBe(true);
    const { ino } = await stat(codePath);
    expect(await cachedWorkflowBundle(cacheDir)).toEqual({ codePath });
    expect((await stat(codePath)).ino).toBe(ino);
  });
});
