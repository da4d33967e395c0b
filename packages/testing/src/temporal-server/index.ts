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
export { cliCacheDir } from './server-source';
export { type SearchAttributeTypeName } from './server-arguments';
export {
  type AddressSource,
  type ServerConnectionOptions,
} from 'temporal-media/internal/client/address-source';
export { type ServerExit } from './server-process';
export {
  type Environment,
  type ExecutableFinder,
  type ExecutableSource,
  type ProgressListener,
  type TemporalServerSource,
} from './server-source';
