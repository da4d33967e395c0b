import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rename, stat, writeFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type * as Worker from '@temporalio/worker';
import { type WorkerOptions } from '@temporalio/worker';
import { throwBug } from './domain/bug';
import { packagedWorkflows } from './package-file';
import { sdkVersions, workflowDigest } from './workflow-digest';

/**
 * Provides the workflow bundle for workers. Bundling takes seconds, so this package ships a bundle. Where that does not
 * match the SDK, the code is bundled once per process and path, and for the commands once per version of the code.
 *
 * @module
 */

type Workflows = Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'>;

/** Called before the code is bundled, with the reason why the shipped bundle is not used. */
type OnBundling = (because: string) => void;

const bundles = new Map<string, Promise<{ readonly code: string }>>();

/**
 * Returns the shipped bundle where it matches, else one in memory: the worker that binds the journal and the main
 * worker run the same code, and it is bundled once.
 * @param workflows the user's own code or a prebuilt bundle; default: the workflows of this package
 */
export async function bundledWorkflows(
  workflows: Workflows | undefined,
  onBundling?: OnBundling,
): Promise<Workflows> {
  if (workflows?.workflowBundle != null) return workflows;
  const path = workflows?.workflowsPath;
  if (path !== undefined) return { workflowBundle: await bundleOnce(path) };
  const shipped = await shippedBundle();
  if ('codePath' in shipped) return { workflowBundle: shipped };
  onBundling?.(shipped.because);
  return { workflowBundle: await bundleOnce(packagedWorkflows()) };
}

/**
 * Whether something of the user belongs into the bundle, so that one that was made without it does not do: interceptors,
 * converters, or plugins, which may add them.
 */
export function shapesBundle(
  options: Pick<WorkerOptions, 'interceptors' | 'bundlerOptions' | 'dataConverter' | 'plugins'>,
): boolean {
  const { interceptors, bundlerOptions, dataConverter, plugins = [] } = options;
  return (
    (interceptors?.workflowModules ?? []).length > 0 ||
    bundlerOptions !== undefined ||
    dataConverter?.payloadConverterPath !== undefined ||
    dataConverter?.failureConverterPath !== undefined ||
    plugins.length > 0
  );
}

/**
 * Returns the shipped bundle where it matches, else one on disk in `cacheDir`. Its name depends on the SDK's version
 * and the code, because a bundle needs the exact SDK version of its worker.
 */
export async function cachedWorkflowBundle(
  cacheDir: string,
  onBundling?: OnBundling,
): Promise<{ readonly codePath: string }> {
  const shipped = await shippedBundle();
  if ('codePath' in shipped) return shipped;
  const codePath = join(cacheDir, `workflows-${await version()}.js`);
  if (await isThere(codePath)) return { codePath };
  onBundling?.(shipped.because);
  const { code } = await bundleOnce(packagedWorkflows());
  await mkdir(cacheDir, { recursive: true });
  // Renamed when complete, because another process may write the same file.
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
  // Loaded lazily: a command that finds its bundle on disk starts without it.
  const { bundleWorkflowCode, DefaultLogger } = require('@temporalio/worker') as typeof Worker;
  // The bundler logs every module at INFO; a failure is thrown and needs no log.
  return bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
}

async function version(): Promise<string> {
  const made = JSON.stringify([await sdkVersions(), await workflowDigest()]);
  return createHash('sha256').update(made).digest('hex').slice(0, 16);
}

async function isThere(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    throwBug(error);
    return false;
  }
}

/** Folder of the bundle that the build makes; it does not exist beside the sources. */
export const SHIPPED_BUNDLE = join(__dirname, 'workflow-bundle');

/** What a bundle was built from; the build writes it beside the bundle. */
export interface BundleManifest {
  readonly v: 1;
  /** Versions of the SDK's packages, by name. */
  readonly sdk: Readonly<Record<string, string>>;
  readonly digest: string;
}

/** The bundle of this package, or why it cannot be used here. */
export type ShippedBundle = { readonly codePath: string } | { readonly because: string };

/**
 * Returns the bundle only on an exact match (architecture: Bundle): another SDK version would run code that was not
 * built for it.
 * @param folder of `manifest.json` and `workflows.js`
 */
export async function shippedBundle(folder: string = SHIPPED_BUNDLE): Promise<ShippedBundle> {
  const manifest = await readManifest(folder);
  if (manifest === undefined) return { because: 'no bundle came with this package' };
  for (const [name, version] of Object.entries(await sdkVersions())) {
    const made = manifest.sdk[name];
    if (made !== version)
      return { because: `the bundle of this package is for ${name} ${made}, not ${version}` };
  }
  if (manifest.digest !== (await workflowDigest()))
    return { because: 'the bundle of this package was made of other workflow code' };
  return { codePath: join(folder, 'workflows.js') };
}

async function readManifest(folder: string): Promise<BundleManifest | undefined> {
  try {
    const manifest = JSON.parse(
      await readFile(join(folder, 'manifest.json'), 'utf8'),
    ) as BundleManifest | null;
    return manifest?.v === 1 ? manifest : undefined;
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}
