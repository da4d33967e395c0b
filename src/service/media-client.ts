import { type ConnectionFactory } from './connections';
import { type ContentFetchRequest, type ContentFetchResult } from './content-fetch-result';
import { type GetVideoResult } from './get-video-result';
import { type ImageSendResult, type PaidSendOptions, type VideoSendResult } from './send-result';
import { type Redactor } from './redact';
import { type WireJsonBody, type WireMultipartBody } from './wire-body';

/** Limits of one call, in milliseconds. */
export interface ClientTimeouts {
  /** Total time of a paid call, from the call to the last byte of the reply. @default 60000 */
  readonly paidHttpMs: number;
  /** @default 10000 */
  readonly pollHeadersMs: number;
  /** Longest silence inside a record, and the time within which the whole record must be there. @default 10000 */
  readonly pollBodyMs: number;
}

export interface MediaClientOptions {
  /** As given by the user; normalised by `normaliseBaseUrl`. */
  readonly baseUrl: string;
  /** Asked before every call, so that a changed key needs no restart; it is never kept. */
  readonly apiKey: () => string | Promise<string>;
  readonly timeouts?: Partial<ClientTimeouts>;
  /** Exact origins outside the public address space from which results may be fetched besides the service's own. */
  readonly allowedMediaOrigins?: readonly string[];
  readonly userAgent?: string;
  /** Milliseconds since the epoch; for Retry-After dates. */
  readonly now?: () => number;
  /** Largest number of sockets of the poll and the content pool. @default 64 and 32 */
  readonly connections?: { readonly poll?: number; readonly content?: number };
  /** How sockets are opened. @default direct, or through HTTPS_PROXY / HTTP_PROXY unless NO_PROXY says otherwise */
  readonly connectionFactory?: ConnectionFactory;
}

export interface GetVideoOptions {
  readonly signal?: AbortSignal;
  /** Whose sockets are used: a download never waits behind thousands of polls. @default 'poll' */
  readonly purpose?: 'poll' | 'content';
}

/** The five operations of the contract (C0.1) over HTTP. Knows no Temporal, keeps nothing, repeats nothing. */
export interface MediaClient {
  /** Normalised; what `accountName` was computed from. */
  readonly baseUrl: string;
  /** POST /v1/videos, sent at most once. Never throws for anything the network or the service does. */
  createVideo(body: WireJsonBody | WireMultipartBody, options: PaidSendOptions): Promise<VideoSendResult>;
  /** POST /v1/images/generations, sent at most once. */
  generateImage(body: WireJsonBody, options: PaidSendOptions): Promise<ImageSendResult>;
  /** POST /v1/images/edits, sent at most once; files are streamed from where they are. */
  editImage(body: WireMultipartBody, options: PaidSendOptions): Promise<ImageSendResult>;
  /** GET /v1/videos/{task_id}: one try. A non-2xx with a full record in its body is a record (test/fixtures/wire). */
  getVideo(taskId: string, options?: GetVideoOptions): Promise<GetVideoResult>;
  /** Address of GET /v1/videos/{task_id}/content. Throws a TypeError for an id that can be in no path. */
  contentUrl(taskId: string): URL;
  /** What may be kept of a body that is a page: without keys, cookies and signed addresses (C5.4a, C5.4b). */
  cleanPage(page: Buffer): Promise<Buffer>;
  /** Knows the key and the passwords of proxies: for what is told of a failure (C5.4a). */
  redactor(): Promise<Redactor>;
  /** One GET with its redirects; the key goes to the service's own origin only (C5.3). */
  fetchContent(request: ContentFetchRequest): Promise<ContentFetchResult>;
  /** Ends every GET that is open. Paid calls are never cut: they end by themselves. */
  close(): Promise<void>;
}

// The client's results belong to its signature: whoever holds a client can name them.
export { type BlockedHop, type ContentFetchRequest, type ContentFetchResult } from './content-fetch-result';
export { type GetVideoResult, type VideoReading } from './get-video-result';
export {
  type ImageItem,
  type ImageSendResult,
  type PaidFailure,
  type PaidSendOptions,
  type VideoSendResult,
} from './send-result';
export { type WireFile, type WireJsonBody, type WireMultipartBody } from './wire-body';
