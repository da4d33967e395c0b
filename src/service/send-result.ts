import { type ResolvedCreatePolicy } from '../domain/create-policy';
import { type JsonValue } from '../domain/json';
import { type RejectReason } from '../domain/paid-call';
import { type TaskPhase } from '../domain/poll-answers';
import { type TaskError } from '../domain/task-error';

export interface PaidSendOptions {
  readonly policy: ResolvedCreatePolicy;
  /** Sent under the header that the policy `idempotency` names; not sent when it says `off`. */
  readonly idempotencyKey?: string;
  /** Called once, just before the first byte may leave this machine; what it throws is ignored. */
  readonly onSend?: () => void;
  /** Total time in milliseconds, from the call to the last byte of the reply. @default the client's `paidHttpMs` */
  readonly deadlineMs?: number;
}

/** Allow-listed reply headers, such as a request id: cleaned and capped. */
export type ReplyHeaders = { readonly [name: string]: string };

/** Everything that one paid send can come to besides success (failure model: rows 20 to 37). Always a value. */
export type PaidFailure =
  | {
      /** Class N: provably no byte of the request left (rows 20, 21). */
      readonly class: 'not_sent';
      /** Public word such as `connection_refused`, `host_not_found`, `certificate_not_trusted`. */
      readonly cause: string;
      /** True when waiting cannot help. */
      readonly permanent: boolean;
      readonly message: string;
    }
  | {
      /** Class R, temporary (rows 27, 28, 31). */
      readonly class: 'refused_for_now';
      readonly httpStatus: number;
      /** Lower bound in milliseconds, never clamped (C8.7). */
      readonly retryAfterMs?: number;
      readonly error: TaskError;
    }
  | {
      /** Class R, permanent (rows 23, 24). */
      readonly class: 'rejected';
      readonly reason: RejectReason;
      readonly httpStatus: number;
      /** Lower bound in milliseconds when the service named one all the same. */
      readonly retryAfterMs?: number;
      readonly error: TaskError;
      readonly message: string;
    }
  | {
      /** Class U: the request may have been accepted and is never sent again by itself (C4.4c). */
      readonly class: 'unconfirmed';
      /** Public word such as `connection_lost_after_send`, `timeout_after_send`, `http_502`, `reply_without_id`. */
      readonly cause: string;
      readonly httpStatus?: number;
      /** Lower bound in milliseconds when the service named one all the same. */
      readonly retryAfterMs?: number;
      readonly headers: ReplyHeaders;
      readonly error?: TaskError;
      /** SHA-256 of a reply body that could not be read as what the call returns. */
      readonly replyHash?: string;
    };

/** The service gave a usable id: a task exists (class C), whatever its status already is (C3.8). */
export interface VideoAccepted {
  readonly class: 'accepted';
  readonly taskId: string;
  readonly httpStatus: number;
  /** The service's own word, lower case; empty when the reply has none. */
  readonly status: string;
  readonly phase: TaskPhase;
  readonly headers: ReplyHeaders;
}

export type VideoSendResult = VideoAccepted | PaidFailure;

/** One item of `data`, in order (C2.5.2). */
export type ImageItem =
  /** Absolute, or a `data:` URL. */
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'b64'; readonly data: Buffer }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** The reply holds a `data` array: the call is paid for. */
export interface ImagesAccepted {
  readonly class: 'accepted';
  readonly httpStatus: number;
  /** Unix time in seconds (C2.5.1). */
  readonly created: number | null;
  readonly items: readonly ImageItem[];
  readonly usage?: JsonValue;
  readonly headers: ReplyHeaders;
}

export type ImageSendResult = ImagesAccepted | PaidFailure;
