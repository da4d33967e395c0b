import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type * as Worker from '@temporalio/worker';
import { type WorkerOptions } from '@temporalio/worker';
import { throwBug } from './domain/bug';
import { packagedWorkflows } from './installation';

/**
 * Provides the workflow bundle for workers. Bundling takes seconds, so this package ships a bundle. If the shipped
 * bundle does not match the SDK, the code is bundled once per process and path.
 *
 * @module
 */

type Workflows = Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'>;

const bundles = new Map<string, Promise<{ readonly code: string }>>();

/**
 * Returns the shipped bundle if it matches, otherwise one built in memory. The main worker and the worker that binds
 * the journal run the same code, so it is bundled only once.
 * @param workflows the user's own code or a prebuilt bundle; default: the workflows of this package
 * @param onBundling called before our own code is bundled, with the reason why the shipped bundle is not used
 */
export async function bundledWorkflows(
  workflows?: Workflows,
  onBundling?: (because: string) => void,
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
 * Returns the workflows of a worker with these options. If the bundle must include the user's interceptors, converters
 * or plugins, the SDK does the bundling, because it knows what its options add to the code.
 */
export async function workflowsFor(
  given: Workflows | undefined,
  options: Pick<WorkerOptions, 'interceptors' | 'bundlerOptions' | 'dataConverter' | 'plugins'>,
): Promise<Workflows> {
  const { interceptors, bundlerOptions, dataConverter, plugins = [] } = options;
  const isShaped =
    (interceptors?.workflowModules ?? []).length > 0 ||
    bundlerOptions !== undefined ||
    dataConverter?.payloadConverterPath !== undefined ||
    dataConverter?.failureConverterPath !== undefined ||
    plugins.length > 0;
  if (given?.workflowBundle == null && isShaped)
    return { workflowsPath: given?.workflowsPath ?? packagedWorkflows() };
  const { Runtime } = require('@temporalio/worker') as typeof Worker;
  return bundledWorkflows(given, (because) => {
    Runtime.instance().logger.info('Bundling the workflow code, which takes seconds', { because });
  });
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
  // Loaded lazily: a command that only looks at the shipped bundle starts without it.
  const { bundleWorkflowCode, DefaultLogger } = require('@temporalio/worker') as typeof Worker;
  // The bundler logs every module at INFO; a failure is thrown and needs no log.
  return bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
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

/** This package's bundle, or the reason why it cannot be used here. */
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

/** Folders of this package's workflow code (architecture: Folders). */
const FOLDERS = ['workflows', 'domain'];

/** SDK packages in a bundle, and the worker that runs it: a bundle needs exactly these versions. */
const SDK_PACKAGES = ['@temporalio/common', '@temporalio/worker', '@temporalio/workflow'];

/** Installed versions of the SDK's packages, by name. */
export async function sdkVersions(): Promise<Record<string, string>> {
  const versions = SDK_PACKAGES.map(async (name) => {
    const manifest = await readFile(require.resolve(`${name}/package.json`), 'utf8');
    return [name, (JSON.parse(manifest) as { readonly version: string }).version] as const;
  });
  return Object.fromEntries(await Promise.all(versions));
}

/**
 * First 16 hex digits of the SHA-256 of this package's workflow code, compiled or as sources: the same on every operating
 * system, whichever separators and line ends it has.
 */
export async function workflowDigest(): Promise<string> {
  const hash = createHash('sha256');
  const entry = packagedWorkflows();
  const root = dirname(dirname(entry));
  for (const folder of FOLDERS) {
    const names = (await readdir(join(root, folder), { recursive: true }))
      .filter((name) => name.endsWith(extension(entry)))
      .map((name) => name.replaceAll('\\', '/'))
      .sort();
    for (const name of names) {
      const code = await readFile(join(root, folder, name), 'utf8');
      hash.update(name).update(code.replaceAll('\r\n', '\n'));
    }
  }
  return hash.digest('hex').slice(0, 16);
}

/** `.js` when installed, `.ts` when run from sources. */
const extension = (entry: string): string => (entry.endsWith('.ts') ? '.ts' : '.js');
