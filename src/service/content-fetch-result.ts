import { type Readable } from 'node:stream';
import { type TaskError } from '../domain/task-error';

export interface ContentFetchRequest {
  readonly url: URL;
  /** Resume: only with the strong ETag of the bytes that are there already (failure model: Foreign bytes). */
  readonly range?: { readonly from: number; readonly etag: string };
  readonly signal?: AbortSignal;
  /** @default 30000 */
  readonly headersTimeoutMs?: number;
  /** Longest silence inside the body, in milliseconds; the caller adds its own total deadline. @default 30000 */
  readonly bodyIdleTimeoutMs?: number;
}

/** Why a hop was not taken, wherever it leads: nothing was sent to that place. */
export type BlockedReason = 'scheme' | 'userinfo' | 'downgrade' | 'location' | 'too_many_redirects';

/** A hop that was not taken. `address`: the place at `origin` is not `service`, not public and not allowed. */
export type BlockedHop =
  | { readonly kind: 'blocked'; readonly reason: BlockedReason }
  | {
      readonly kind: 'blocked';
      readonly reason: 'address';
      readonly origin: string;
      readonly service: string;
    };

export type ContentFetchResult =
  | {
      readonly kind: 'body';
      /** 206 only when a range was asked for; the caller checks `contentRange` and `etag` before it appends. */
      readonly status: 200 | 206;
      readonly contentType: string | null;
      readonly contentLength: number | null;
      readonly contentRange: {
        readonly from: number;
        readonly to: number;
        readonly total: number | null;
      } | null;
      /** Strong ETags only. */
      readonly etag: string | null;
      /** Null for identity; anything else was not asked for and must be refused. */
      readonly contentEncoding: string | null;
      /** The caller reads it to its end or destroys it. */
      readonly body: Readable;
      /** `service` is the account's own origin. */
      readonly origin: 'service' | 'other';
      readonly hops: number;
    }
  | {
      readonly kind: 'refused';
      readonly status: number;
      /** Lower bound in milliseconds, never clamped (C8.7). */
      readonly retryAfterMs?: number;
      readonly error: TaskError;
      /** Who refused: a 401 of another host says nothing about our key. */
      readonly origin: 'service' | 'other';
    }
  | BlockedHop
  | {
      readonly kind: 'network';
      /** System or undici error code, `aborted` when the caller's signal ended it, or `unknown`. */
      readonly code: string;
      readonly retryable: boolean;
    };
