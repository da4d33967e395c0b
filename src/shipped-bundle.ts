import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sdkVersions, workflowDigest } from './workflow-digest';

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
    const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as BundleManifest;
    return manifest.v === 1 ? manifest : undefined;
  } catch {
    return undefined;
  }
}
