import { setFlagsFromString } from 'node:v8';
import { type ReplayCode } from '@temporal-media/replay';
import { replayCode } from '@temporal-media/replay/internal/replay-histories';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { given } from 'temporal-media/internal/domain/json';
import { dataConverterOf } from '../shared/data-converter';
import { CliError, withoutSecrets } from '../shared/errors';

let isInstalled = false;

/** Silences the SDK's log during a replay, because the verdict already contains everything that the log would show. */
export function quietRuntime(): void {
  if (isInstalled) return;
  isInstalled = true;
  // Histories are large and short-lived. Without this setting, memory grows by another 20% before they are collected.
  setFlagsFromString('--heap-growing-percent=50');
  Runtime.install({
    logger: new DefaultLogger('ERROR', () => undefined),
    telemetryOptions: { logging: { filter: 'OFF', forward: {} } },
    // Ctrl-C ends the command.
    shutdownSignals: [],
  });
}

/** Loads the workflow code for a command. @throws CliError `bad_input` when it cannot be bundled or read */
export async function codeFor(
  options: { readonly workflowsPath?: string; readonly bundle?: string },
  env: NodeJS.ProcessEnv,
): Promise<ReplayCode> {
  quietRuntime();
  const { workflowsPath, bundle: bundlePath } = options;
  const converter =
    workflowsPath === undefined ? undefined : await dataConverterOf(env, '', { usesCodec: false });
  try {
    return await replayCode({
      ...(workflowsPath !== undefined && { workflowsPath }),
      ...(bundlePath !== undefined && { bundlePath }),
      ...given({ payloadConverterPath: converter?.payloadConverterPath }),
    });
  } catch (error) {
    if (workflowsPath === undefined && bundlePath === undefined) throw error;
    const option = workflowsPath === undefined ? '--bundle' : '--workflows-path';
    throw new CliError('bad_input', withoutSecrets(`${option}: ${(error as Error).message}`));
  }
}
