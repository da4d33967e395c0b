import { type Readable } from 'node:stream';
import { type ResolvedCreatePolicy } from '../domain/create-policy';
import { type RejectReason } from '../domain/failure-table';
import { type JsonValue } from '../domain/json';
import { type PolledRecord, type PollErrorClass, type TaskPhase } from '../domain/poll-answers';
import { type TaskError } from '../domain/video-task';
import { type ConnectionFactory } from './connections';
import { type Redactor } from './redact';
import { type ContentHeaders } from './reply-headers';
import { type WireJsonBody, type WireMultipartBody } from './wire-body';

/** Says why the location of a result was not requested, and how to allow it. Of an address it shows only the origin. */
export function blockedLocation(hop: BlockedHop): string {
  if (hop.reason !== 'address')
    return `The worker may not request the location of the result (${hop.reason}).`;
  return `The result lies at ${hop.origin}, which is neither the service (${hop.service}) nor a public address: nothing was sent there. If you trust it, add that origin to MEDIA_ALLOWED_MEDIA_ORIGINS of the worker and restart it.`;
}

/** Limits of one call, in milliseconds. */
export interface ClientTimeouts {
  /** Total time of a paid call, from the call to the last byte of the reply. @default 60000 */
  readonly paidHttpMs: number;
  /** @default 10000 */
  readonly pollHeadersMs: number;
  /** Longest pause inside a record, and the time within which the whole record must arrive. @default 10000 */
  readonly pollBodyMs: number;
}

/** The address and the key of an account, and how its calls are sent. */
export interface MediaClientOptions {
  /** As the user gives it; the client normalises it with `normaliseBaseUrl`. */
  readonly baseUrl: string;
  /** Called before every call, so that a changed key needs no restart; the client never stores the key. */
  readonly apiKey: () => string | Promise<string>;
  /**
   * Keys of other accounts of this process, which are redacted too: a service may echo them. Returns the same object as
   * long as they are the same. @default none
   */
  readonly otherSecrets?: () => readonly string[];
  /** Limits in milliseconds. @default those of {@link ClientTimeouts} */
  readonly timeouts?: Partial<ClientTimeouts>;
  /** Exact origins outside the public address space, besides the service's own, from which results may be fetched. */
  readonly allowedMediaOrigins?: readonly string[];
  /** Header of every request to the service. @default 'temporal-media' */
  readonly userAgent?: string;
  /** Milliseconds since the Unix epoch; for Retry-After dates. */
  readonly now?: () => number;
  /** Largest number of sockets of the poll and the content pool. @default 64 and 32 */
  readonly connections?: { readonly poll?: number; readonly content?: number };
  /** How sockets are opened. @default direct, or through HTTPS_PROXY / HTTP_PROXY unless NO_PROXY says otherwise */
  readonly connectionFactory?: ConnectionFactory;
}

interface GetVideoOptions {
  readonly signal?: AbortSignal;
  /** The socket pool to use: a download never waits behind thousands of polls. @default 'poll' */
  readonly purpose?: 'poll' | 'content';
}

/** The five operations of the contract over HTTP. Independent of Temporal, without state and without retries. */
export interface MediaClient {
  /** Normalised; `accountName` is computed from it. */
  readonly baseUrl: string;
  /** POST /v1/videos, sent at most once. Never throws for a failure of the network or the service. */
  createVideo(body: WireJsonBody | WireMultipartBody, options: PaidSendOptions): Promise<VideoSendResult>;
  /** POST /v1/images/generations, sent at most once. */
  generateImage(body: WireJsonBody, options: PaidSendOptions): Promise<ImageSendResult>;
  /** POST /v1/images/edits, sent at most once; files are streamed from their location. */
  editImage(body: WireMultipartBody, options: PaidSendOptions): Promise<ImageSendResult>;
  /** GET /v1/videos/{task_id}: one try. A non-2xx reply with a full record is a record (test/fixtures/wire). */
  getVideo(taskId: string, options?: GetVideoOptions): Promise<GetVideoResult>;
  /** Address of GET /v1/videos/{task_id}/content. Throws for an id that cannot be part of a path. */
  contentUrl(taskId: string): URL;
  /** Removes keys, cookies and signed addresses from a body that is a page, so that it may be kept. */
  cleanPage(page: Buffer): Promise<Buffer>;
  /** Removes the key and the passwords of proxies from the description of a failure. */
  redactor(): Promise<Redactor>;
  /** One GET with its redirects; the key goes to the service's own origin only. */
  fetchContent(request: ContentFetchRequest): Promise<ContentFetchResult>;
  /** Ends every open GET. Paid calls are never aborted; they run to their end. */
  close(): Promise<void>;
}

// Exported because these types are part of the client's signature.

export { type WireFile, type WireJsonBody, type WireMultipartBody } from './wire-body';

export interface PaidSendOptions {
  readonly policy: ResolvedCreatePolicy;
  /** Sent in the header that the policy `idempotency` names; not sent when the policy is `off`. */
  readonly idempotencyKey?: string;
  /** Called once, just before the first byte may leave this machine; an error that it throws is ignored. */
  readonly onSend?: () => void;
  /** Total time in milliseconds, from the call to the last byte of the reply. @default the client's `paidHttpMs` */
  readonly deadlineMs?: number;
}

/** Allow-listed reply headers, such as a request id: cleaned and capped. */
export type ReplyHeaders = { readonly [name: string]: string };

/** All results of one paid send other than success (failure model: rows 20 to 37). Returned, never thrown. */
export type PaidFailure =
  | {
      /** Class N: provably no byte of the request left this machine (rows 20, 21). */
      readonly class: 'not_sent';
      /** Public cause such as `connection_refused`, `host_not_found`, `certificate_not_trusted`. */
      readonly cause: string;
      /** True when a later try cannot succeed either. */
      readonly permanent: boolean;
      readonly message: string;
    }
  | {
      /** Class R, temporary (rows 27, 28, 31). */
      readonly class: 'refused_for_now';
      readonly httpStatus: number;
      /** Lower bound in milliseconds, never clamped. */
      readonly retryAfterMs?: number;
      readonly error: TaskError;
    }
  | {
      /** Class R, permanent (rows 23, 24). */
      readonly class: 'rejected';
      readonly reason: RejectReason;
      readonly httpStatus: number;
      /** Lower bound in milliseconds, if the service sent one. */
      readonly retryAfterMs?: number;
      readonly error: TaskError;
      readonly message: string;
    }
  | {
      /** Class U: the request may have been accepted; it is never sent again automatically (C4.4c). */
      readonly class: 'unconfirmed';
      /** Public cause such as `connection_lost_after_send`, `timeout_after_send`, `http_502`, `reply_without_id`. */
      readonly cause: string;
      readonly httpStatus?: number;
      /** Lower bound in milliseconds, if the service sent one. */
      readonly retryAfterMs?: number;
      readonly headers: ReplyHeaders;
      readonly error?: TaskError;
      /** SHA-256 of a reply body that could not be read as a result of the call. */
      readonly replyHash?: string;
    };

/** The service returned a usable id: a task exists (class C), whatever its status is. */
export interface VideoAccepted {
  readonly class: 'accepted';
  readonly taskId: string;
  readonly httpStatus: number;
  /** The service's status value, lower case; empty when the reply has none. */
  readonly status: string;
  readonly phase: TaskPhase;
  readonly headers: ReplyHeaders;
}

export type VideoSendResult = VideoAccepted | PaidFailure;

/** One item of `data`, in order. */
export type ImageItem =
  /** Absolute, or a `data:` URL. */
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'b64'; readonly data: Buffer }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** The reply has a `data` array: the call is paid for. */
export interface ImagesAccepted {
  readonly class: 'accepted';
  readonly httpStatus: number;
  /** Unix time in seconds. */
  readonly created: number | null;
  readonly items: readonly ImageItem[];
  readonly usage?: JsonValue;
  readonly headers: ReplyHeaders;
}

type ImageSendResult = ImagesAccepted | PaidFailure;

/** A task record, read tolerantly (contract 2.2). */
export interface VideoReading {
  /** The record's id; used for comparison only, it never replaces the one of the create reply. */
  readonly id?: string | undefined;
  readonly record: PolledRecord;
  /** Result URLs, most likely first: absolute `http(s):` or `data:`. Never passed to workflow code. */
  readonly resultUrls: readonly string[];
}

/** Result of one GET of a task. Returned, never thrown. */
export type GetVideoResult =
  | ({
      readonly kind: 'record';
      readonly httpStatus: number;
      /** Differs when the record has changed; present where it is known without parsing the reply. */
      readonly digest?: string;
    } & VideoReading)
  | {
      readonly kind: 'error';
      /** `late` when the caller's signal ended the wait. */
      readonly error: PollErrorClass;
      readonly httpStatus?: number;
      /** Lower bound in milliseconds, never clamped. */
      readonly retryAfterMs?: number;
      readonly taskError?: TaskError;
    };

export interface ContentFetchRequest {
  readonly url: URL;
  /** Resumes a download: only with the strong ETag of the bytes that are present (failure model: Foreign bytes). */
  readonly range?: { readonly from: number; readonly etag: string };
  readonly signal?: AbortSignal;
  /** @default 30000 */
  readonly headersTimeoutMs?: number;
  /** Longest pause inside the body, in milliseconds; the caller adds its own total deadline. @default 30000 */
  readonly bodyIdleTimeoutMs?: number;
}

/** Why a hop was not followed, independently of its address: nothing was sent there. */
export type BlockedReason = 'scheme' | 'userinfo' | 'downgrade' | 'location' | 'too_many_redirects';

/** A hop that was not followed. `address`: `origin` is not `service`, not public and not allowed. */
type BlockedHop =
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
      /** 206 only when a range was requested; the caller checks `contentRange` and `etag` before it appends. */
      readonly status: 200 | 206;
      /** The caller reads it to its end or destroys it. */
      readonly body: Readable;
      /** `service` is the account's own origin. */
      readonly origin: 'service' | 'other';
      readonly hops: number;
    })
  | {
      readonly kind: 'refused';
      readonly status: number;
      /** Lower bound in milliseconds, never clamped. */
      readonly retryAfterMs?: number;
      readonly error: TaskError;
      /** Which host refused: a 401 of another host does not concern the service's key. */
      readonly origin: 'service' | 'other';
    }
  | BlockedHop
  | {
      readonly kind: 'network';
      /** System or undici error code, `aborted` when the caller's signal ended it, or `unknown`. */
      readonly code: string;
      readonly retryable: boolean;
    };
