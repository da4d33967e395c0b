import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A worker that cannot be put together as it was asked for: two things of one name, or workflows that are missing. */
export class WorkerSetupError extends Error {
  override readonly name = 'WorkerSetupError';
}

/**
 * A file of this package that the bundler of workflows opens by its path: compiled when installed, the source when run from
 * sources. @throws WorkerSetupError where this code was put into a bundle, which leaves such files behind
 */
export function packageFile(...path: readonly string[]): string {
  refuseBundled();
  const file = join(__dirname, ...path);
  return existsSync(`${file}.js`) ? `${file}.js` : `${file}.ts`;
}

/** Path of this package's workflow code for bundling. @throws WorkerSetupError */
export const packagedWorkflows = (): string => packageFile('workflows', 'index');

/** @throws WorkerSetupError */
export function refuseBundled(): void {
  const manifest = join(dirname(__dirname), 'package.json');
  const { name } = existsSync(manifest)
    ? (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly name?: unknown })
    : {};
  if (name === 'temporal-media') return;
  throw new WorkerSetupError(
    `temporal-media is part of a bundle in ${__dirname}, without its workflow code and its threads. Leave it and @temporalio/* out of the ` +
      'bundle of a worker: `external` of esbuild, `externals` of webpack (docs/systems.md#bundlers). Clients may be bundled.',
  );
}
