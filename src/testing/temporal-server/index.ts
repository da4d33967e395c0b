/**
 * Finds, starts and stops a real Temporal server for tests, the demo and `dev`. Not imported by workflow code or by
 * a production worker.
 * @module
 */
export { resolveTemporalServer, type ResolveTemporalServerOptions } from './resolve-temporal-server';
export {
  startTemporalServer,
  type RunningTemporalServer,
  type StartTemporalServerOptions,
} from './start-temporal-server';
export { TemporalServerNotFoundError, type FailedStep } from './server-source';
export {
  acquireOwnerLock,
  LockHeldError,
  type OwnerLock,
  type OwnerLockOptions,
} from '../../files/owner-lock';
export { freePort } from './process';
export { cliCacheDir } from './server-source';
export { type SearchAttributeTypeName } from './server-arguments';
export { type ServerExit } from './process';
export {
  type AddressSource,
  type Environment,
  type ExecutableFinder,
  type ExecutableSource,
  type ProgressListener,
  type ServerConnectionOptions,
  type TemporalServerSource,
} from './server-source';
