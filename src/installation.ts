import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { throwBug } from './domain/bug';

/** A worker cannot be assembled as requested, for example because names clash or workflows are missing. */
export class WorkerSetupError extends Error {
  override readonly name = 'WorkerSetupError';
}

/**
 * Returns the path of one of this package's files for the workflow bundler: the compiled file if the package is
 * installed, or else the source.
 * @throws WorkerSetupError if this code was bundled, because bundles do not include these files
 */
export function packageFile(...path: readonly string[]): string {
  refuseBundled();
  const file = join(__dirname, ...path);
  return existsSync(`${file}.js`) ? `${file}.js` : `${file}.ts`;
}

/** Returns the path of this package's workflow code for bundling. @throws WorkerSetupError */
export const packagedWorkflows = (): string => packageFile('workflows', 'index');

/** Throws if this code was bundled. @throws WorkerSetupError */
export function refuseBundled(): void {
  const manifest = join(dirname(__dirname), 'package.json');
  const { name } = existsSync(manifest)
    ? (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly name?: unknown })
    : {};
  if (name === 'temporal-media') return;
  throw new WorkerSetupError(
    `temporal-media was bundled into ${__dirname}, without its workflow code and worker threads. Exclude it and @temporalio/* from your ` +
      "worker's bundle with esbuild's `external` or webpack's `externals` (docs/systems.md#bundlers). Clients may be bundled.",
  );
}

/** An installed copy of @temporalio/common, which defines the failure classes that all code must share. */
export interface SdkCopy {
  /** Name of the package that loads this copy. */
  readonly by: string;
  /** Path of the loaded file, which differs between copies. */
  readonly file: string;
  /** `unknown` if its package.json cannot be read. */
  readonly version: string;
}

const SHARED = '@temporalio/common';

/**
 * Returns the copies of @temporalio/common that this package and the named SDK packages load, one per file.
 * @param resolve resolves a package name as this package does, or from `paths`
 */
export function sdkCopies(
  packages: readonly string[] = ['@temporalio/worker'],
  resolve: NodeJS.RequireResolve = require.resolve,
): readonly SdkCopy[] {
  const copies = [copyAt('temporal-media', resolve(SHARED))];
  for (const name of packages) add(copies, name, resolve(SHARED, { paths: [dirname(resolve(name))] }));
  return copies;
}

/**
 * Returns the same copies, plus the copy that the application in `folder` loads if the application uses this
 * installation of the package. Copies in other projects do not matter.
 */
export function sdkCopiesWithApplication(
  folder: string,
  copies: readonly SdkCopy[],
  ownRoot: string = dirname(__dirname),
): readonly SdkCopy[] {
  const all = [...copies];
  try {
    const { resolve } = createRequire(join(folder, 'package.json'));
    if (dirname(resolve('temporal-media/package.json')) !== ownRoot) return all;
    add(all, 'the application', resolve(SHARED));
  } catch (error) {
    throwBug(error);
    // The application does not have one of the two packages.
  }
  return all;
}

/**
 * Returns the paths of the copies of protobufjs that the SDK uses to write references to external storage. With more than
 * one, it fails with "type must be a Type".
 */
export function protobufCopies(): readonly string[] {
  const ofCommon = createRequire(require.resolve(SHARED));
  const ofProto = createRequire(ofCommon.resolve('@temporalio/proto'));
  const copies = [ofCommon, ofProto].map(({ resolve }) => dirname(resolve('protobufjs/package.json')));
  return [...new Set(copies)];
}

/**
 * Rejects installations with two copies of @temporalio/common. Such copies do not recognize each other's failures, so a
 * non-retryable create would be retried. Also rejects Bun, where the SDK's workers do not run.
 * @throws Error naming both paths, WorkerSetupError
 */
export function refuseUnsoundSdk(): void {
  if (process.versions['bun'] !== undefined)
    throw new Error(
      `This is Bun ${process.versions['bun']}, which cannot run Temporal workers. Start the worker with Node 20.18.1 or later. You can still install the packages with Bun.`,
    );
  refuseBundled();
  const [ours, other] = sdkCopies();
  if (ours === undefined || other === undefined) return;
  throw new Error(
    `Two copies of @temporalio/common are installed: ${ours.file} and ${other.file}. ` +
      'Install the same version of all @temporalio packages (check with npm ls @temporalio/common) and start again.',
  );
}

function add(copies: SdkCopy[], by: string, file: string): void {
  if (!copies.some((copy) => copy.file === file)) copies.push(copyAt(by, file));
}

function copyAt(by: string, file: string): SdkCopy {
  return { by, file, version: versionOf(file) };
}

/** Reads the version from the nearest package.json above the file. */
function versionOf(file: string): string {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (!existsSync(manifest)) continue;
    try {
      const read = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version?: unknown } | null;
      return typeof read?.version === 'string' ? read.version : 'unknown';
    } catch (error) {
      throwBug(error);
      return 'unknown';
    }
  }
  return 'unknown';
}
