import { createHash } from 'node:crypto';
import { access, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type * as Worker from '@temporalio/worker';
import type * as Plugin from '../plugin';
import { bundledWorkflows } from '../workflow-bundle';
import { type ReplayCode } from './replay-histories';

/** Whose code replays. */
export interface CodeOptions {
  /** File of the user's workflows, which are bundled beside those of this package. */
  readonly workflowsPath?: string;
  /** A bundle that was made before. */
  readonly bundlePath?: string;
}

/**
 * The code at hand: the user's workflows beside ours, a bundle, or else the workflows of this package.
 * @throws what the bundler throws; a file system error when the bundle cannot be read
 */
export async function replayCode({ workflowsPath, bundlePath }: CodeOptions = {}): Promise<ReplayCode> {
  const shipped = await shippedCode();
  const { version } = JSON.parse(await readFile(join(__dirname, '..', '..', 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  const known = shipped === undefined ? {} : { shipped: { version, build: await buildIdOf(shipped) } };
  if (bundlePath !== undefined) {
    const code = await readFile(bundlePath, 'utf8');
    if (!code.includes('__TEMPORAL__') || !code.includes('//# sourceMappingURL=data:'))
      throw new Error('The file is no bundle of bundleWorkflowCode.');
    return { bundle: { code }, ...known };
  }
  if (workflowsPath !== undefined) {
    // The bundler would say something else.
    await access(workflowsPath);
    const { bundleWorkflowCode, DefaultLogger } = require('@temporalio/worker') as typeof Worker;
    // It loads all that a worker needs.
    const { MediaPlugin } = require('../plugin') as typeof Plugin;
    const bundle = await bundleWorkflowCode({
      workflowsPath: resolve(workflowsPath),
      plugins: [new MediaPlugin()],
      logger: new DefaultLogger('ERROR'),
    });
    return { bundle, ...known };
  }
  if (shipped !== undefined) return { bundle: shipped, ...known };
  throw new Error('This package has no workflow bundle.');
}

async function shippedCode(): Promise<{ readonly code: string } | undefined> {
  const { workflowBundle } = await bundledWorkflows(undefined);
  if (workflowBundle == null) return undefined;
  if ('code' in workflowBundle) return { code: workflowBundle.code };
  return { code: await readFile(workflowBundle.codePath, 'utf8') };
}

/** The build id that the SDK gives to a worker with this code. */
async function buildIdOf({ code }: { readonly code: string }): Promise<string> {
  const { version } = JSON.parse(
    await readFile(require.resolve('@temporalio/worker/package.json'), 'utf8'),
  ) as { readonly version: string };
  return `@temporalio/worker@${version}+${createHash('sha256').update(code).digest('hex')}`;
}
