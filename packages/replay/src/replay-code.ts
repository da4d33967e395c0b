import { access, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type * as Worker from '@temporalio/worker';
import type * as Plugin from 'temporal-media/plugin';
import { bundledWorkflows } from 'temporal-media/internal/workflow-bundle';
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
  if (bundlePath !== undefined) {
    const code = await readFile(bundlePath, 'utf8');
    if (!code.includes('__TEMPORAL__') || !code.includes('//# sourceMappingURL=data:'))
      throw new Error('The file is no bundle of bundleWorkflowCode.');
    return { bundle: { code } };
  }
  if (workflowsPath !== undefined) {
    // The bundler would say something else.
    await access(workflowsPath);
    const { bundleWorkflowCode, DefaultLogger } = require('@temporalio/worker') as typeof Worker;
    // It loads all that a worker needs.
    const { MediaPlugin } = require('temporal-media/plugin') as typeof Plugin;
    const bundle = await bundleWorkflowCode({
      workflowsPath: resolve(workflowsPath),
      plugins: [new MediaPlugin()],
      logger: new DefaultLogger('ERROR'),
    });
    return { bundle };
  }
  const shipped = await shippedCode();
  if (shipped !== undefined) return { bundle: shipped };
  throw new Error('This package has no workflow bundle.');
}

async function shippedCode(): Promise<{ readonly code: string } | undefined> {
  const { workflowBundle } = await bundledWorkflows(undefined);
  if (workflowBundle == null) return undefined;
  if ('code' in workflowBundle) return { code: workflowBundle.code };
  return { code: await readFile(workflowBundle.codePath, 'utf8') };
}
