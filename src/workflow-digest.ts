import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { packagedWorkflows } from './package-file';

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
