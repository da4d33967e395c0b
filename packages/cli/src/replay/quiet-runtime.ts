import { setFlagsFromString } from 'node:v8';
import { DefaultLogger, Runtime } from '@temporalio/worker';

let isInstalled = false;

/** A replay logs nothing: what the SDK would log about a history that differs is part of the verdict. */
export function quietRuntime(): void {
  if (isInstalled) return;
  isInstalled = true;
  // Histories are large and short-lived: without this, memory grows by a fifth more before it is collected.
  setFlagsFromString('--heap-growing-percent=50');
  Runtime.install({
    logger: new DefaultLogger('ERROR', () => undefined),
    telemetryOptions: { logging: { filter: 'OFF', forward: {} } },
    // Ctrl-C ends the command.
    shutdownSignals: [],
  });
}
