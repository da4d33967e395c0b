import { replayCode } from '@temporal-media/replay/internal/replay-code';
import { type ReplayCode } from '@temporal-media/replay';
import { CliError, withoutSecrets } from '../errors';
import { quietRuntime } from './quiet-runtime';

/** The workflow code that a command names. @throws CliError `bad_input` when it cannot be bundled or read */
export async function codeFor(options: {
  readonly workflowsPath?: string;
  readonly bundle?: string;
}): Promise<ReplayCode> {
  quietRuntime();
  const { workflowsPath, bundle: bundlePath } = options;
  try {
    return await replayCode({
      ...(workflowsPath !== undefined && { workflowsPath }),
      ...(bundlePath !== undefined && { bundlePath }),
    });
  } catch (error) {
    if (workflowsPath === undefined && bundlePath === undefined) throw error;
    const option = workflowsPath === undefined ? '--bundle' : '--workflows-path';
    throw new CliError('bad_input', withoutSecrets(`${option}: ${(error as Error).message}`));
  }
}
