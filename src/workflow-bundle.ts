import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type WorkerOptions } from '@temporalio/worker';
import { packagedWorkflows } from './packaged-workflows';

/**
 * Workflow code as workers take it. Bundling costs seconds, so that it happens once per process and path, and for
 * the commands of this package once per version of the code.
 *
 * @module
 */

type Workflows = Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'>;

const bundles = new Map<string, Promise<{ readonly code: string }>>();

/**
 * In memory: the worker that binds the journal and the worker proper run the same code, and neither bundles it again.
 * @param workflows the user's own code or a prebuilt bundle; default: the workflows of this package
 */
export async function bundledWorkflows(workflows: Workflows | undefined): Promise<Workflows> {
  if (workflows?.workflowBundle != null) return workflows;
  return { workflowBundle: await bundleOnce(workflows?.workflowsPath ?? packagedWorkflows()) };
}

/**
 * On disk: the bundle of this package's workflows in `cacheDir`, under a name made of the SDK's version and the code,
 * because a bundle needs the exact SDK version of its worker.
 */
export async function cachedWorkflowBundle(cacheDir: string): Promise<{ codePath: string }> {
  const codePath = join(cacheDir, `workflows-${await digest()}.js`);
  if (await isThere(codePath)) return { codePath };
  const { code } = await bundleOnce(packagedWorkflows());
  await mkdir(cacheDir, { recursive: true });
  // Complete or absent, whoever else starts at the same time.
  const draft = `${codePath}.${randomUUID()}`;
  await writeFile(draft, code);
  await rename(draft, codePath);
  return { codePath };
}

function bundleOnce(workflowsPath: string): Promise<{ readonly code: string }> {
  let bundle = bundles.get(workflowsPath);
  if (bundle === undefined) {
    bundle = makeBundle(workflowsPath);
    bundles.set(workflowsPath, bundle);
    bundle.catch(() => bundles.delete(workflowsPath));
  }
  return bundle;
}

async function makeBundle(workflowsPath: string): Promise<{ readonly code: string }> {
  // Loaded only where something is bundled: a command that finds its bundle on disk starts without it.
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  // The bundler tells every module at INFO; a failure is thrown and needs no log.
  return bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
}

/** Folders that the workflow code of this package consists of (design 3). */
const FOLDERS = ['workflows', 'domain'];

async function digest(): Promise<string> {
  const hash = createHash('sha256');
  const { version } = JSON.parse(
    await readFile(require.resolve('@temporalio/worker/package.json'), 'utf8'),
  ) as { version: string };
  hash.update(version);
  const entry = packagedWorkflows();
  const root = dirname(dirname(entry));
  for (const folder of FOLDERS) {
    const names = (await readdir(join(root, folder)))
      .filter((name) => name.endsWith(extension(entry)))
      .sort();
    for (const name of names) hash.update(name).update(await readFile(join(root, folder, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Compiled when installed, sources when run from them. */
const extension = (entry: string): string => (entry.endsWith('.ts') ? '.ts' : '.js');

async function isThere(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
