/**
 * Finds, starts and stops a real Temporal server for tests, the demo and `dev`. Never imported by workflow code or by
 * a production worker.
 * @module
 */
export { resolveTemporalServer, type ResolveTemporalServerOptions } from './resolve-temporal-server';
export {
  startTemporalServer,
  type RunningTemporalServer,
  type StartTemporalServerOptions,
} from './start-temporal-server';
export { TemporalServerNotFoundError, type FailedStep } from './temporal-server-not-found-error';
export { acquireOwnerLock, LockHeldError, type OwnerLock, type OwnerLockOptions } from './owner-lock';
export { freePort } from './free-port';
export { cliCacheDir } from './cache-dir';
export { TEMPORAL_CLI_VERSION } from './cli-version';
export { type SearchAttributeTypeName } from './server-arguments';
export { type ServerExit } from './server-process';
export {
  type AddressSource,
  type Environment,
  type ExecutableFinder,
  type ExecutableSource,
  type ProgressListener,
  type ServerConnectionOptions,
  type TemporalServerSource,
} from './source';
