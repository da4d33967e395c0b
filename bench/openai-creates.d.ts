import { type SandboxAdmin } from '../packages/sandbox/src/sandbox-process';
import { type WireFault } from './wire-faults';

/** A sandbox in `compat` mode; its tasks, counters and faults are reset. */
export interface CompatSandbox {
  readonly url: string;
  readonly admin: SandboxAdmin;
  /** @default 'sandbox-key' */
  readonly apiKey?: string;
}

export interface OpenaiCreatesOptions {
  /** How many replies the fault hits. @default 0, every one */
  readonly times?: number;
  /** @default the client's own, 2 */
  readonly maxRetries?: number;
  /** The client's timeout per attempt, in milliseconds: its own default of ten minutes is too long. @default 2000 */
  readonly timeoutMs?: number;
  /** After so many milliseconds a call that neither returned nor threw counts as hung. @default 20000 */
  readonly giveUpMs?: number;
}

/** What one call of the client came to. */
export interface OpenaiCreates {
  readonly fault: WireFault;
  /** Creates that reached the server. */
  readonly sent: number;
  /** Creates that the server accepted: each is a video to pay for. */
  readonly accepted: number;
  /** Of those sent, how many had an idempotency key. */
  readonly withKey: number;
  readonly outcome: 'returned' | 'threw' | 'hung';
  readonly taskId?: string;
  /** Class of the error. */
  readonly error?: string;
}

/** One `videos.create` of the official client under a fault; never rejects for what the fault does. */
export function openaiCreates(
  sandbox: CompatSandbox,
  fault: WireFault,
  options?: OpenaiCreatesOptions,
): Promise<OpenaiCreates>;
