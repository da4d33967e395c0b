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
 * Returns the shipped bundle if it matches the installed SDK, or else builds a bundle in memory. All workers of a
 * process share the bundle.
 * @param workflows the user's own code or a prebuilt bundle; this package's workflows by default
 * @param onBundling called before this package's code is bundled, with the reason that the shipped bundle is not used
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
 * Returns the workflows for a worker with these options. If the bundle must include the user's interceptors, converters
 * or plugins, the SDK bundles the code, because only the SDK knows what these options add.
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
  // Load the SDK lazily, because a command that only checks the shipped bundle does not need it.
  const { bundleWorkflowCode, DefaultLogger } = require('@temporalio/worker') as typeof Worker;
  // The bundler logs every module at INFO. Failures are thrown and do not need to be logged.
  return bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
}

/**
 * The folder of the bundle that the build creates. It exists only in the installed package, not next to the sources.
 */
export const SHIPPED_BUNDLE = join(__dirname, 'workflow-bundle');

/** Describes the sources of a bundle. The build writes this manifest next to the bundle. */
export interface BundleManifest {
  readonly v: 1;
  /** Versions of the SDK's packages, by name. */
  readonly sdk: Readonly<Record<string, string>>;
  readonly digest: string;
}

/** The shipped bundle, or the reason that it cannot be used here. */
export type ShippedBundle = { readonly codePath: string } | { readonly because: string };

/**
 * Returns the bundle only if it exactly matches the SDK and this package's workflow code (architecture: Bundle).
 * Otherwise, an SDK version would run code that was not built for it.
 * @param folder the folder with `manifest.json` and `workflows.js`
 */
export async function shippedBundle(folder: string = SHIPPED_BUNDLE): Promise<ShippedBundle> {
  const manifest = await readManifest(folder);
  if (manifest === undefined) return { because: 'this package does not include a bundle' };
  for (const [name, version] of Object.entries(await sdkVersions())) {
    const made = manifest.sdk[name];
    if (made !== version)
      return { because: `this package's bundle was built for ${name} ${made}, not ${version}` };
  }
  if (manifest.digest !== (await workflowDigest()))
    return { because: "this package's bundle was built from different workflow code" };
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

/** The folders with this package's workflow code (architecture: Folders). */
const FOLDERS = ['workflows', 'domain'];

/** The SDK packages that a bundle contains, and the SDK worker that runs it. A bundle requires their exact versions. */
const SDK_PACKAGES = ['@temporalio/common', '@temporalio/worker', '@temporalio/workflow'];

/** Returns the installed versions of the SDK's packages, by name. */
export async function sdkVersions(): Promise<Record<string, string>> {
  const versions = SDK_PACKAGES.map(async (name) => {
    const manifest = await readFile(require.resolve(`${name}/package.json`), 'utf8');
    return [name, (JSON.parse(manifest) as { readonly version: string }).version] as const;
  });
  return Object.fromEntries(await Promise.all(versions));
}

/**
 * Returns the first 16 hex digits of the SHA-256 of this package's workflow code, either compiled or as sources. The
 * result does not depend on the operating system's path separators or line endings.
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
