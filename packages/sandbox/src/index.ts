/**
 * @module The contract's service as a real HTTP server, for tests, demos and development without an account. It does
 * not share code with the client whose requests it validates.
 */
export { type OperationCounter, promptHash, type SandboxCounters } from './counters';
export { type FaultAction, type FaultRule, type LostReply, type SandboxOperation } from './faults';
export { sandboxModels } from './models';
export { type SandboxPollGaps } from './counters';
export { promptDirectives } from './prompt-directives';
export { inputColour } from './render-image';
export { createSandbox, type Sandbox, type SandboxAddresses } from './sandbox';
export { SandboxAdmin } from './sandbox-process';
export {
  type SandboxImageModel,
  type SandboxModel,
  type SandboxModelDocument,
  type SandboxPrice,
  type SandboxReference,
  type SandboxVideoModel,
} from './models';
export { type InvoiceError, type InvoiceErrors, type PlantedError, type SandboxInvoice } from './invoice';
export { type SandboxIdempotency, type SandboxMode, type SandboxOptions } from './options';
export { type SandboxProcess, type SandboxProcessOptions, startSandboxProcess } from './sandbox-process';
export { type SandboxFinish, type SandboxPart, type SandboxRequest } from './request-log';
export { type SandboxStatus, type SandboxTask, type SandboxTaskPatch } from './tasks';
