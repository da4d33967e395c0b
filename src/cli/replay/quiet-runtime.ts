import { DefaultLogger, Runtime } from '@temporalio/worker';

/** A replay logs nothing: what the SDK would log about a history that differs is part of the verdict. */
export function quietRuntime(): void {
  Runtime.install({
    logger: new DefaultLogger('ERROR', () => undefined),
    telemetryOptions: { logging: { filter: 'OFF', forward: {} } },
    // Ctrl-C ends the command.
    shutdownSignals: [],
  });
}
