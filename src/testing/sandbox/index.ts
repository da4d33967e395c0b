/**
 * @module The service of the contract as a real HTTP server, for tests, demos and development without an account.
 * It shares no code with the client that it judges.
 */
export { type OperationCounter, promptHash, type SandboxCounters } from './counters';
export { type FaultAction, type FaultRule, type LostReply, type SandboxOperation } from './fault-rule';
export { sandboxModels } from './model-catalog';
export { type SandboxPollGaps } from './poll-gaps';
export { promptDirectives } from './prompt-directives';
export { inputColour } from './render-image';
export { createSandbox, type Sandbox, type SandboxAddresses } from './sandbox';
export { SandboxAdmin } from './sandbox-admin';
export {
  type SandboxImageModel,
  type SandboxModel,
  type SandboxModelDocument,
  type SandboxPrice,
  type SandboxReference,
  type SandboxVideoModel,
} from './sandbox-model';
export { type SandboxIdempotency, type SandboxMode, type SandboxOptions } from './sandbox-options';
export { type SandboxProcess, type SandboxProcessOptions, startSandboxProcess } from './sandbox-process';
export { type SandboxFinish, type SandboxPart, type SandboxRequest } from './sandbox-request';
export { type SandboxStatus, type SandboxTask, type SandboxTaskPatch } from './sandbox-task';
