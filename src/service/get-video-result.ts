import { type PolledRecord, type PollErrorClass } from '../domain/poll-answers';
import { type TaskError } from '../domain/task-error';

/** A task record, read with tolerance (contract 2.2, C9.2). */
export interface VideoReading {
  /** The record's own id; kept for comparison only, it never replaces the one of the create reply (C2.2.1). */
  readonly id?: string | undefined;
  readonly record: PolledRecord;
  /** Result URLs, most likely first: absolute `http(s):` or `data:`. They never cross into workflow code (C2.2.6). */
  readonly resultUrls: readonly string[];
}

/** What one GET of a task came to. Never thrown. */
export type GetVideoResult =
  | ({
      readonly kind: 'record';
      readonly httpStatus: number;
      /** Tells `record` from its predecessor where that is known without reading the reply. */
      readonly digest?: string;
    } & VideoReading)
  | {
      readonly kind: 'error';
      /** `late` when the caller's signal ended the wait. */
      readonly error: PollErrorClass;
      readonly httpStatus?: number;
      /** Lower bound in milliseconds, never clamped (C8.7). */
      readonly retryAfterMs?: number;
      readonly taskError?: TaskError;
    };
