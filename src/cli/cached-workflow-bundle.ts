import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { packagedWorkflows } from '../packaged-workflows';

/** Folders that the workflow code of this package consists of (design 3). */
const FOLDERS = ['workflows', 'domain'];

/**
 * The bundle of this package's workflows, kept in `cacheDir` under a name made of the SDK's version and the code:
 * a bundle needs the exact SDK version of its worker, and bundling costs seconds at every start.
 */
export async function cachedWorkflowBundle(cacheDir: string): Promise<{ codePath: string }> {
  const codePath = join(cacheDir, `workflows-${await digest()}.js`);
  if (await isThere(codePath)) return { codePath };
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const { code } = await bundleWorkflowCode({
    workflowsPath: packagedWorkflows(),
    logger: new DefaultLogger('WARN'),
  });
  await mkdir(cacheDir, { recursive: true });
  const draft = `${codePath}.${randomUUID()}`;
  await writeFile(draft, code);
  await rename(draft, codePath);
  return { codePath };
}

async function digest(): Promise<string> {
  const hash = createHash('sha256');
  const { version } = JSON.parse(
    await readFile(require.resolve('@temporalio/worker/package.json'), 'utf8'),
  ) as { version: string };
  hash.update(version);
  const root = dirname(dirname(packagedWorkflows()));
  for (const folder of FOLDERS) {
    const names = (await readdir(join(root, folder))).filter((name) => name.endsWith('.js')).sort();
    for (const name of names) hash.update(name).update(await readFile(join(root, folder, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

async function isThere(path: string): Promise<boolean> {
  try {
    await readFile(path);
    return true;
  } catch {
    return false;
  }
}
