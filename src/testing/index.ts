/**
 * For tests, demos and development: the sandbox service and a real Temporal server. Not for production workers; needs
 * the optional peer dependencies that the README names.
 *
 * @module
 */
export {
  createSandbox,
  inputColour,
  promptDirectives,
  promptHash,
  SandboxAdmin,
  sandboxModels,
  startSandboxProcess,
  type FaultAction,
  type FaultRule,
  type Sandbox,
  type SandboxCounters,
  type SandboxOptions,
  type SandboxProcess,
  type SandboxRequest,
  type SandboxTask,
} from './sandbox';
export {
  resolveTemporalServer,
  startTemporalServer,
  TemporalServerNotFoundError,
  type RunningTemporalServer,
  type StartTemporalServerOptions,
  type TemporalServerSource,
} from './temporal-server';
