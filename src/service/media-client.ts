import { type Readable } from 'node:stream';
import { type ResolvedCreatePolicy } from '../domain/create-policy';
import { type RejectReason } from '../domain/failure-table';
import { type JsonValue } from '../domain/json';
import { type ActualRule } from '../domain/model-config';
import { type Money } from '../domain/money';
import { type PolledRecord, type PollErrorClass, type TaskPhase } from '../domain/poll-answers';
import { type TaskError } from '../domain/video-task';
import { type ConnectionFactory } from './connections';
import { type Redactor } from './redact';
import { type ContentHeaders } from './reply-headers';
import { type WireJsonBody, type WireMultipartBody } from './wire-body';

/** Time limits for one call, in milliseconds. */
export interface ClientTimeouts {
  /** Total time for a paid call, up to the last byte of the reply. @default 60000 */
  readonly paidHttpMs: number;
  /** Longest wait for a poll's headers. @default 10000 */
  readonly pollHeadersMs: number;
  /** Time for a whole record to arrive, and the longest pause inside it. @default 10000 */
  readonly pollBodyMs: number;
}

/** An account's address and key, and the settings for its calls. */
export interface MediaClientOptions {
  /** Need not be normalized: the client does that with `normaliseBaseUrl`. */
  readonly baseUrl: string;
  /** Invoked before every call, so a changed key needs no restart. The client never stores the key. */
  readonly apiKey: () => string | Promise<string>;
  /**
   * Keys of this process's other accounts, which a service may echo. They are redacted too. Returns the same array
   * until a key changes. @default none
   */
  readonly otherSecrets?: () => readonly string[];
  /** Time limits in milliseconds. @default see {@link ClientTimeouts} */
  readonly timeouts?: Partial<ClientTimeouts>;
  /** Exact non-public origins from which results may be fetched. The service's own origin is always allowed. */
  readonly allowedMediaOrigins?: readonly string[];
  /** The User-Agent of every request to the service. @default 'temporal-media' */
  readonly userAgent?: string;
  /** Returns milliseconds since the Unix epoch, for Retry-After dates. */
  readonly now?: () => number;
  /** Maximum number of sockets in the poll pool and the content pool. @default 64 and 32 */
  readonly connections?: { readonly poll?: number; readonly content?: number };
  /** Opens sockets. @default direct, or through HTTPS_PROXY / HTTP_PROXY unless NO_PROXY excludes the host */
  readonly connectionFactory?: ConnectionFactory;
}

export interface GetVideoOptions {
  readonly signal?: AbortSignal;
  /** The socket pool to use. With separate pools, a download never waits behind thousands of polls. @default 'poll' */
  readonly purpose?: 'poll' | 'content';
  /** Where a final record says what the task cost. @default nowhere */
  readonly actual?: ActualRule | undefined;
}

/** The contract's five operations over HTTP. Stateless, without retries, and independent of Temporal. */
export interface MediaClient {
  /** The normalized base address, from which `accountName` is computed. */
  readonly baseUrl: string;
  /** POST /v1/videos, sent at most once. Never throws for a network or service failure. */
  createVideo(body: WireJsonBody | WireMultipartBody, options: PaidSendOptions): Promise<VideoSendResult>;
  /** POST /v1/images/generations, sent at most once. */
  generateImage(body: WireJsonBody, options: PaidSendOptions): Promise<ImageSendResult>;
  /** POST /v1/images/edits, sent at most once. Files are streamed from where they are stored. */
  editImage(body: WireMultipartBody, options: PaidSendOptions): Promise<ImageSendResult>;
  /** One GET /v1/videos/{task_id}. A non-2xx reply with a full record counts as a record (test/fixtures/wire). */
  getVideo(taskId: string, options?: GetVideoOptions): Promise<GetVideoResult>;
  /** The URL of GET /v1/videos/{task_id}/content. Throws for an ID that cannot be part of a path. */
  contentUrl(taskId: string): URL;
  /** Removes keys, cookies and signed URLs from an HTML page so that it can be stored. */
  cleanPage(page: Buffer): Promise<Buffer>;
  /** Returns a redactor that removes the key and proxy passwords from failure descriptions. */
  redactor(): Promise<Redactor>;
  /** Sends one GET and follows its redirects. The key goes only to the service's own origin. */
  fetchContent(request: ContentFetchRequest): Promise<ContentFetchResult>;
  /** Aborts every open GET. Paid calls are never aborted. */
  close(): Promise<void>;
}

export interface PaidSendOptions {
  readonly policy: ResolvedCreatePolicy;
  /** Sent in the header that the policy's `idempotency` names. Not sent when that is `off`. */
  readonly idempotencyKey?: string;
  /** Called once, just before the first byte can leave this machine. Errors that it throws are ignored. */
  readonly onSend?: () => void;
  /** Total time in milliseconds, up to the last byte of the reply. @default the client's `paidHttpMs` */
  readonly deadlineMs?: number;
  /** Where the reply says what the call cost. @default nowhere */
  readonly actual?: ActualRule | undefined;
}

/** Allow-listed reply headers such as a request ID, redacted and truncated. */
export type ReplyHeaders = { readonly [name: string]: string };

/** How a paid send can fail (failure model: rows 20 to 37). Returned, never thrown. */
export type PaidFailure =
  | {
      /** Class N: no byte of the request can have left this machine (rows 20, 21). */
      readonly class: 'not_sent';
      /** A public cause such as `connection_refused`, `host_not_found` or `certificate_not_trusted`. */
      readonly cause: string;
      /** True if a later attempt cannot succeed either. */
      readonly permanent: boolean;
      readonly message: string;
    }
  | {
      /** Class R, temporary (rows 27, 28, 31). */
      readonly class: 'refused_for_now';
      readonly httpStatus: number;
      /** The minimum wait in milliseconds, never reduced. */
      readonly retryAfterMs?: number;
      readonly error: TaskError;
    }
  | {
      /** Class R, permanent (rows 23, 24). */
      readonly class: 'rejected';
      readonly reason: RejectReason;
      readonly httpStatus: number;
      /** The minimum wait in milliseconds, if the service sent one. */
      readonly retryAfterMs?: number;
      readonly error: TaskError;
      readonly message: string;
    }
  | {
      /** Class U: the service may have accepted the request, so it is never sent again automatically (C4.4c). */
      readonly class: 'unconfirmed';
      /** A public cause such as `connection_lost_after_send`, `http_502` or `reply_without_id`. */
      readonly cause: string;
      readonly httpStatus?: number;
      /** The minimum wait in milliseconds, if the service sent one. */
      readonly retryAfterMs?: number;
      readonly headers: ReplyHeaders;
      readonly error?: TaskError;
      /** SHA-256 of a 2xx body that could not be read as a result. */
      readonly replyHash?: string;
    };

/** The service returned a usable ID, so a task exists (class C), whatever its status is. */
export interface VideoAccepted {
  readonly class: 'accepted';
  readonly taskId: string;
  readonly httpStatus: number;
  /** The service's status value in lower case; empty if the reply has none. */
  readonly status: string;
  readonly phase: TaskPhase;
  /** Only from a header: a create's body describes a task that has not cost anything yet. */
  readonly actual?: Money;
  readonly headers: ReplyHeaders;
}

export type VideoSendResult = VideoAccepted | PaidFailure;

/** One item of the reply's `data` array. */
export type ImageItem =
  /** Absolute, or a `data:` URL. */
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'b64'; readonly data: Buffer }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** The reply has a `data` array, so the call was charged. */
export interface ImagesAccepted {
  readonly class: 'accepted';
  readonly httpStatus: number;
  /** Unix time in seconds. */
  readonly created: number | null;
  readonly items: readonly ImageItem[];
  readonly usage?: JsonValue;
  readonly actual?: Money;
  readonly headers: ReplyHeaders;
}

type ImageSendResult = ImagesAccepted | PaidFailure;

/** A parsed task record of any shape (contract 2.2). */
export interface VideoReading {
  /** The record's ID, for comparison only. It never replaces the ID from the create reply. */
  readonly id?: string | undefined;
  readonly record: PolledRecord;
  /** Absolute `http(s):` or `data:` URLs of the result, most likely first. Never passed to workflow code. */
  readonly resultUrls: readonly string[];
}

/** The result of one GET for a task. Returned, never thrown. */
export type GetVideoResult =
  | ({
      readonly kind: 'record';
      readonly httpStatus: number;
      /** Changes when the record changes. Set where it is known without parsing the reply. */
      readonly digest?: string;
    } & VideoReading)
  | {
      readonly kind: 'error';
      /** `late` when the caller's signal ended the wait. */
      readonly error: PollErrorClass;
      readonly httpStatus?: number;
      /** The minimum wait in milliseconds, never reduced. */
      readonly retryAfterMs?: number;
      readonly taskError?: TaskError;
    };

export interface ContentFetchRequest {
  readonly url: URL;
  /** Resumes a download. Requires the strong ETag of the bytes on disk (failure model: Foreign bytes). */
  readonly range?: { readonly from: number; readonly etag: string };
  readonly signal?: AbortSignal;
  /** Longest wait for headers, in milliseconds. @default 30000 */
  readonly headersTimeoutMs?: number;
  /** Longest pause inside the body, in milliseconds. The caller enforces the total deadline. @default 30000 */
  readonly bodyIdleTimeoutMs?: number;
}

/** Reasons, other than its address, why a hop was not followed. Nothing was sent to it. */
export type BlockedReason = 'scheme' | 'userinfo' | 'downgrade' | 'location' | 'too_many_redirects';

/** A hop that was not followed. `address` means that `origin` is neither the service, nor public, nor allowed. */
export type BlockedHop =
  | { readonly kind: 'blocked'; readonly reason: BlockedReason }
  | {
      readonly kind: 'blocked';
      readonly reason: 'address';
      readonly origin: string;
      readonly service: string;
    };

export type ContentFetchResult =
  | (ContentHeaders & {
      readonly kind: 'body';
      /** 206 only if a range was requested. The caller checks `contentRange` and `etag` before it appends. */
      readonly status: 200 | 206;
      /** The caller must read it to the end or destroy it. */
      readonly body: Readable;
      /** `service` is the account's own origin. */
      readonly origin: 'service' | 'other';
      readonly hops: number;
    })
  | {
      readonly kind: 'refused';
      readonly status: number;
      /** The minimum wait in milliseconds, never reduced. */
      readonly retryAfterMs?: number;
      readonly error: TaskError;
      /** Which host refused. A 401 from another host says nothing about the service's key. */
      readonly origin: 'service' | 'other';
    }
  | BlockedHop
  | {
      readonly kind: 'network';
      /** A system or undici error code, `aborted` when the caller's signal ended the request, or `unknown`. */
      readonly code: string;
      readonly retryable: boolean;
    };
