import { SANDBOX_OPERATIONS, type SandboxOperation } from './faults';
import { sha256 } from './request-log';

/** How often one operation of the service was called, and with which result. */
export interface OperationCounter {
  /** All requests. */
  received: number;
  /** Requests with a status below 400; for paid calls: accepted work, also when the reply was lost. */
  accepted: number;
  /** Requests with a status of 400 and above. */
  rejected: number;
  /** Bytes of reply bodies that were sent. */
  bytes: number;
}

/** Requests that the sandbox received and accepted. Survives a restart with a data directory. */
export interface SandboxCounters {
  /** By operation. */
  operations: Record<SandboxOperation, OperationCounter>;
  /** Creates of videos. */
  creates: { received: number; accepted: number };
  /** Generations and edits together. */
  images: { received: number; accepted: number; results: number };
  /** Accepted paid calls by `promptHash(prompt)`. */
  acceptedByPromptHash: Record<string, number>;
  /** Accepted paid calls by model id. */
  acceptedByModel: Record<string, number>;
}

/** Counters that all start at zero. */
export function emptyCounters(): SandboxCounters {
  const zero = (): OperationCounter => ({ received: 0, accepted: 0, rejected: 0, bytes: 0 });
  return {
    operations: Object.fromEntries(
      SANDBOX_OPERATIONS.map((name) => [name, zero()]),
    ) as SandboxCounters['operations'],
    creates: { received: 0, accepted: 0 },
    images: { received: 0, accepted: 0, results: 0 },
    acceptedByPromptHash: {},
    acceptedByModel: {},
  };
}

/** The key of `acceptedByPromptHash`. */
export function promptHash(prompt: string): string {
  return sha256(prompt);
}

export function countReceived(counters: SandboxCounters, operation: SandboxOperation): void {
  counters.operations[operation].received += 1;
  if (operation === 'create') counters.creates.received += 1;
  if (operation === 'generate' || operation === 'edit') counters.images.received += 1;
}

/** Counts an accepted paid call. `results` is the number of images. */
export function countAccepted(
  counters: SandboxCounters,
  call: { operation: 'create' | 'generate' | 'edit'; model: string; prompt: string; results: number },
): void {
  counters.operations[call.operation].accepted += 1;
  if (call.operation === 'create') {
    counters.creates.accepted += 1;
  } else {
    counters.images.accepted += 1;
    counters.images.results += call.results;
  }
  const hash = promptHash(call.prompt);
  counters.acceptedByPromptHash[hash] = (counters.acceptedByPromptHash[hash] ?? 0) + 1;
  counters.acceptedByModel[call.model] = (counters.acceptedByModel[call.model] ?? 0) + 1;
}
