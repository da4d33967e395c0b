import { type PaidRequest } from '../domain/request';

/** What is known about a create of unknown fate, for a search in the service's own records. Contains no prompt. */
export interface SentCreate {
  /** What was asked for. */
  readonly operation: PaidRequest['operation'];
  /** Credential name and digest of the base address. */
  readonly account: string;
  /** Public model id; null where the journal does not say. */
  readonly model: string | null;
  /** Null where the request named none. */
  readonly durationSeconds: number | null;
  /** Null where the request named none. */
  readonly resolution: string | null;
  /** `none`, or kinds with counts; null for an image. */
  readonly referenceMode: string | null;
  /** SHA-256 of the request body. */
  readonly bodyHash: string;
  /** What the header of the policy `idempotency` carries, whether or not it was sent. */
  readonly idempotencyKey: string;
  /** ISO 8601: when it was sent, and until when it may have been in flight. */
  readonly intentAt: string;
  /** ISO 8601 time until which it may have been in flight. */
  readonly sendWindowEnd: string;
  /** Allow-listed headers of the reply, such as a request id; empty when there was none. */
  readonly headers: { readonly [name: string]: string };
}

/** What the records of a service say about one send. `unknown`: they could not be read, or are not complete yet. */
export type TaskRecord =
  | { readonly found: 'task'; readonly taskId: string }
  /** The records are complete and hold no such task. */
  | { readonly found: 'none' }
  | { readonly found: 'unknown' };

/**
 * Settles creates of unknown fate without a person, where a service lists its tasks (a console's API, a bill, a
 * gateway's log) (failure model: The log). The contract of the service itself has no such endpoint.
 */
export interface TaskRecords {
  /** How long the service may work on a request before its record appears, in milliseconds; at most 10 minutes. */
  readonly longestRequestMs: number;
  /** Must return `task` only for a task of this exact send. An exception counts as `unknown`. */
  find(sent: SentCreate): Promise<TaskRecord>;
}
