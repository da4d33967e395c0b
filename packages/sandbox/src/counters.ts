import { SANDBOX_OPERATIONS, type SandboxOperation } from './faults';
import { hexDigest } from './request-log';

/** Times between two polls of the same task, in milliseconds; null before the first gap. */
export interface SandboxPollGaps {
  /** Number of gaps. */
  gaps: number;
  /** Half of the gaps are shorter. */
  p50: number | null;
  /** 95% of the gaps are shorter. */
  p95: number | null;
  /** 99% of the gaps are shorter. */
  p99: number | null;
  /** The longest gap. */
  max: number | null;
}

const STEP_MS = 10;
const STEPS = 12_000;

/** Histogram of the times between polls; its size does not depend on the number of polls. */
export class PollGaps {
  private readonly last = new Map<string, number>();
  private readonly counts = new Uint32Array(STEPS + 1);
  private gaps = 0;
  private max = 0;

  polled(taskId: string, now: number): void {
    const before = this.last.get(taskId);
    this.last.set(taskId, now);
    if (before === undefined) return;
    const gap = now - before;
    const step = Math.min(STEPS, Math.floor(gap / STEP_MS));
    this.counts[step] = (this.counts[step] ?? 0) + 1;
    this.gaps += 1;
    this.max = Math.max(this.max, gap);
  }

  /** Drops a task that will not be polled again. */
  forget(taskId: string): void {
    this.last.delete(taskId);
  }

  /** Resets the histogram; gaps that have already started are still counted. */
  begin(): void {
    this.counts.fill(0);
    this.gaps = this.max = 0;
  }

  clear(): void {
    this.begin();
    this.last.clear();
  }

  show(): SandboxPollGaps {
    const { gaps } = this;
    const max = gaps === 0 ? null : this.max;
    return { gaps, p50: this.share(0.5), p95: this.share(0.95), p99: this.share(0.99), max };
  }

  private share(part: number): number | null {
    if (this.gaps === 0) return null;
    let left = Math.ceil(this.gaps * part);
    for (const [step, count] of this.counts.entries()) {
      left -= count;
      if (left <= 0) return (step + 1) * STEP_MS;
    }
    return STEPS * STEP_MS;
  }
}

/** How often one service operation was called, and with what results. */
export interface OperationCounter {
  /** Number of requests received. */
  received: number;
  /**
   * Number of requests with a status below 400. For paid calls, the number that were accepted, even if the reply was
   * lost.
   */
  accepted: number;
  /** Number of requests with a status of 400 or above. */
  rejected: number;
  /** Number of reply body bytes that were sent. */
  bytes: number;
}

/** Requests that the sandbox received and accepted. The counts survive a restart if there is a data directory. */
export interface SandboxCounters {
  /** Counters by operation. */
  operations: Record<SandboxOperation, OperationCounter>;
  /** Counts for video creates. */
  creates: { received: number; accepted: number };
  /** Counts for generations and edits together. */
  images: { received: number; accepted: number; results: number };
  /** Accepted paid calls by `promptHash(prompt)`. */
  acceptedByPromptHash: Record<string, number>;
  /** Accepted paid calls by model id. */
  acceptedByModel: Record<string, number>;
}

/** Returns counters that all start at zero. */
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

/** Returns a prompt's key in `acceptedByPromptHash`. */
export function promptHash(prompt: string): string {
  return hexDigest(prompt);
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
