import ipaddr from 'ipaddr.js';
import { type Dispatcher } from 'undici';
import { throwBug } from '../domain/bug';
import { given } from '../domain/json';
import { ADDRESS_BLOCKED, type AddressFilter } from './address-filter';
import { isAborted, networkCode } from './classify-reply';
import { REDIRECTS } from './connections';
import {
  type ApiCaller,
  apiHeaders,
  type Credentials,
  credentialsOf,
  receivesKey,
  redactorFor,
} from './endpoint';
import { type BlockedReason, type ContentFetchRequest, type ContentFetchResult } from './media-client';
import { MAX_REPLY_BYTES, parseJsonBody, readBoundedBody } from './reply-body';
import { type ContentHeaders, contentHeaders, parseRetryAfter } from './reply-headers';
import { readTaskError } from './task-error';

/** The connection for one hop. `release` closes the sockets that were opened for it. */
export interface HopConnection {
  readonly dispatcher: Dispatcher;
  readonly viaProxy: boolean;
  readonly release: () => void;
}

interface ContentFetcher {
  readonly caller: ApiCaller;
  readonly filter: AddressFilter;
  readonly connect: (url: URL, ownOrigin: boolean) => HopConnection;
}

const MAX_HOPS = 5;
const DEFAULT_TIMEOUT_MS = 30_000;
const ERROR_BODY = { maxBytes: MAX_REPLY_BYTES.downloadError, withinMs: 10_000 };

/**
 * Sends a GET and follows redirects hop by hop. Checks every hop, sends the key only to the service's own origin, never
 * sends a cookie, and never follows a redirect from https to http. Never throws.
 */
export async function fetchContent(
  fetcher: ContentFetcher,
  request: ContentFetchRequest,
): Promise<ContentFetchResult> {
  const own = new URL(fetcher.caller.baseUrl);
  let { url } = request;
  for (let hops = 0; ; hops += 1) {
    const hop = await takeHop(fetcher, request, underOwnName(url, own), hops);
    if (hop.kind !== 'redirect') return hop;
    const next = nextUrl(hop.location, url);
    if (typeof next === 'string') return { kind: 'blocked', reason: next };
    if (hops + 1 > MAX_HOPS) return { kind: 'blocked', reason: 'too_many_redirects' };
    url = next;
  }
}

type Hop = ContentFetchResult | { readonly kind: 'redirect'; readonly location: string };

async function takeHop(
  fetcher: ContentFetcher,
  request: ContentFetchRequest,
  url: URL,
  hops: number,
): Promise<Hop> {
  const { caller, filter } = fetcher;
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { kind: 'blocked', reason: 'scheme' };
  if (url.username !== '' || url.password !== '') return { kind: 'blocked', reason: 'userinfo' };
  const service = new URL(caller.baseUrl).origin;
  const own = receivesKey(caller, url);
  const origin = redactorFor(caller).url(url.href);
  const elsewhere = { kind: 'blocked', reason: 'address', origin, service } as const;
  if (!own && !filter.allowsLiteral(url)) return elsewhere;
  const credentials = own ? await credentialsOf(caller) : undefined;
  if (own && credentials === undefined)
    return { kind: 'network', code: 'credential_unavailable', retryable: false };
  if (isAborted(request.signal)) return { kind: 'network', code: 'aborted', retryable: false };
  let connection: HopConnection | undefined;
  try {
    connection = fetcher.connect(url, own);
    if (connection.viaProxy && !own && !(await filter.allowsHost(url))) {
      connection.release();
      return elsewhere;
    }
    const reply = await connection.dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: 'GET',
      headers: requestHeaders(caller, request, credentials),
      headersTimeout: request.headersTimeoutMs ?? DEFAULT_TIMEOUT_MS,
      bodyTimeout: request.bodyIdleTimeoutMs ?? DEFAULT_TIMEOUT_MS,
      ...given({ signal: request.signal }),
    });
    // Prevents an unhandled error if the caller drops the body early. A reader still gets every error.
    reply.body.once('close', connection.release).on('error', () => undefined);
    return await readHop(caller, credentials, reply, { hops, ranged: request.range !== undefined });
  } catch (error) {
    connection?.release();
    const code = networkCode(error);
    if (code === ADDRESS_BLOCKED) return elsewhere;
    if (isAborted(request.signal)) return { kind: 'network', code: 'aborted', retryable: false };
    return { kind: 'network', code, retryable: !/CERT|UNABLE_TO_|^ERR_TLS_/.test(code) };
  }
}

async function readHop(
  caller: ApiCaller,
  credentials: Credentials | undefined,
  reply: Dispatcher.ResponseData,
  { hops, ranged }: { readonly hops: number; readonly ranged: boolean },
): Promise<Hop> {
  const redactor = credentials?.redactor ?? redactorFor(caller);
  const status = reply.statusCode;
  const { location } = reply.headers;
  if (REDIRECTS.has(status) && typeof location === 'string') {
    reply.body.destroy();
    return { kind: 'redirect', location };
  }
  const origin = credentials === undefined ? 'other' : 'service';
  const headers = contentHeaders(reply.headers);
  if (status === 206 && !ranged && !isWhole(headers)) {
    reply.body.destroy();
    const message = partialMessage(headers);
    return { kind: 'refused', status, error: { kind: 'unknown', code: null, message }, origin };
  }
  if (status === 200 || status === 206) {
    // Heartbeats record the ETag unchanged, so it must not contain a secret.
    const etag = headers.etag !== null && redactor.holdsSecret(headers.etag) ? null : headers.etag;
    return { kind: 'body', status: ranged ? status : 200, ...headers, etag, body: reply.body, origin, hops };
  }
  const body = await readBoundedBody(reply.body, ERROR_BODY);
  const retryAfterMs = parseRetryAfter(reply.headers, caller.now());
  const json = body.end === 'complete' ? parseJsonBody(body.bytes) : undefined;
  return {
    kind: 'refused',
    status,
    ...given({ retryAfterMs }),
    error: readTaskError(json ?? body.bytes.subarray(0, 16_384).toString('utf8'), redactor, status),
    origin,
  };
}

/** Whether a 206 contains the whole file: some servers answer every request with a 206. */
function isWhole({ contentRange }: ContentHeaders): boolean {
  if (contentRange?.from !== 0) return false;
  return contentRange.total === null || contentRange.to + 1 === contentRange.total;
}

function partialMessage({ contentRange }: ContentHeaders): string {
  const part =
    contentRange === null
      ? 'part of the file'
      : `bytes ${contentRange.from} to ${contentRange.to} of ${contentRange.total ?? 'an unknown number'}`;
  return `The service sent only ${part}, although the whole file was requested.`;
}

function requestHeaders(
  caller: ApiCaller,
  { range }: ContentFetchRequest,
  credentials: Credentials | undefined,
): Record<string, string> {
  const headers: Record<string, string> =
    credentials === undefined
      ? { 'accept-encoding': 'identity', 'user-agent': caller.userAgent }
      : apiHeaders(caller, credentials);
  // Without a strong ETag, the remaining bytes may belong to another file (failure model: Foreign bytes).
  if (range !== undefined && /^"[^"]*"$/.test(range.etag))
    Object.assign(headers, { range: `bytes=${range.from}-`, 'if-range': range.etag });
  return headers;
}

function nextUrl(location: string, from: URL): URL | BlockedReason {
  let url: URL;
  try {
    url = new URL(location, from);
  } catch (error) {
    throwBug(error);
    return 'location';
  }
  url.hash = '';
  return from.protocol === 'https:' && url.protocol === 'http:' ? 'downgrade' : url;
}

/**
 * Rewrites a loopback link with the service's port to the configured host name, and returns other URLs unchanged. A
 * service in a container or behind a tunnel may call itself `127.0.0.1` although it is configured as `localhost`. The
 * rewritten link has the origin that receives the key anyway, so the key never goes to another service on this machine
 * (C5.3).
 */
export function underOwnName(url: URL, own: URL): URL {
  const same = url.protocol === own.protocol && url.port === own.port;
  if (!same || url.host === own.host || !isLoopback(url.hostname) || !isLoopback(own.hostname)) return url;
  const named = new URL(url);
  named.hostname = own.hostname;
  return named;
}

function isLoopback(hostname: string): boolean {
  if (/^localhost\.?$/i.test(hostname)) return true;
  const address = hostname.replace(/[[\]]/g, '');
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
