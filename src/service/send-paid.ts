import { createHash } from 'node:crypto';
import { type JsonValue } from '../domain/json';
import { type TaskError } from '../domain/task-error';
import { apiHeaders, type ApiCaller, credentialsOf, type Credentials } from './api-caller';
import { apiUrl } from './base-url';
import { type BoundedBody, parseJsonBody } from './bounded-body';
import { decodedBody } from './decoded-body';
import { meaningOfPaid } from './errors';
import { toFormData } from './form-data';
import { exchangeOnce, type PaidExchange } from './paid-exchange';
import { replyHeaders } from './reply-headers';
import { asksToRetry, type HeaderValues, parseRetryAfter } from './retry-after';
import { type PaidFailure, type PaidSendOptions, type ReplyHeaders } from './send-result';
import { readTaskError } from './task-error';
import { type WireJsonBody, type WireMultipartBody } from './wire-body';

export interface PaidRoute<Accepted> {
  readonly segments: readonly string[];
  readonly maxReplyBytes: number;
  /** What a 2xx body must hold; undefined makes the call unconfirmed with `unreadable` as the cause. */
  readonly read: (json: JsonValue, reply: AcceptedReply) => Accepted | undefined;
  readonly unreadable: string;
  /** Said where a service that got JSON seems to want a form. */
  readonly wantsForm?: string;
}

export interface AcceptedReply {
  readonly httpStatus: number;
  readonly headers: ReplyHeaders;
  readonly redactor: Credentials['redactor'];
}

/** Header names that a policy may not take for its key. */
const TAKEN =
  /^(?:authorization|cookie|host|connection|content-.*|transfer-encoding|accept.*|user-agent|expect|te|trailer|upgrade|proxy-.*)$/i;

/** One paid call from body to result: sent at most once, never throws for the network or the service. */
export async function sendPaid<Accepted>(
  caller: ApiCaller,
  route: PaidRoute<Accepted>,
  body: WireJsonBody | WireMultipartBody,
  options: PaidSendOptions & { readonly deadlineMs: number },
): Promise<Accepted | PaidFailure> {
  const startedAt = performance.now();
  const credentials = await within(options.deadlineMs, credentialsOf(caller));
  if (credentials === undefined)
    return notSent('credential_unavailable', false, 'This worker has no usable key for the account.');
  const header = idempotencyHeader(options);
  if (header === 'unusable')
    return notSent('invalid_policy', true, 'The policy names an idempotency header that cannot be sent.');
  let content;
  try {
    content = body.kind === 'json' ? body.text : await toFormData(body);
  } catch {
    return notSent('file_unreadable', false, 'A file of the request can no longer be read.');
  }
  const exchange = await exchangeOnce({
    url: apiUrl(caller.baseUrl, ...route.segments),
    headers: {
      ...apiHeaders(caller, credentials),
      accept: 'application/json',
      ...(body.kind === 'json' ? { 'content-type': 'application/json' } : {}),
      ...header,
    },
    body: content,
    maxReplyBytes: route.maxReplyBytes,
    budgetMs: options.deadlineMs - (performance.now() - startedAt),
    connectionFactory: caller.connectionFactory,
    ...(options.onSend === undefined ? {} : { onSend: options.onSend }),
  });
  const result = conclude(exchange, caller, route, options, credentials);
  return body.kind === 'json' ? withFormHint(result, exchange, route) : result;
}

function conclude<Accepted>(
  exchange: PaidExchange,
  caller: ApiCaller,
  route: PaidRoute<Accepted>,
  options: PaidSendOptions,
  { redactor }: Credentials,
): Accepted | PaidFailure {
  if (exchange.kind === 'not_sent') return notSent(exchange.cause, exchange.permanent, exchange.message);
  if (exchange.kind === 'lost') return { class: 'unconfirmed', cause: exchange.cause, headers: {} };
  const { status, body } = exchange;
  const headers = replyHeaders(exchange.headers, redactor);
  const bytes = contentOf(exchange.headers, body, route.maxReplyBytes);
  const json = bytes === undefined || body.end !== 'complete' ? undefined : parseJsonBody(bytes);
  const retryAfterMs = parseRetryAfter(exchange.headers, caller.now());
  const accepted =
    json === undefined || status >= 300
      ? undefined
      : route.read(json, { httpStatus: status, headers, redactor });
  if (accepted !== undefined) return accepted;
  const error = readTaskError(json ?? textOf(bytes), redactor, status);
  const meaning = meaningOfPaid(
    { status, kind: error.kind, hasRetryAfter: asksToRetry(exchange.headers), readable: false },
    options.policy,
  );
  const notBefore = retryAfterMs === undefined ? {} : { retryAfterMs };
  switch (meaning.class) {
    case 'rejected':
      return { ...meaning, httpStatus: status, error, ...notBefore };
    case 'refused_for_now':
      return { class: 'refused_for_now', httpStatus: status, error, ...notBefore };
    default:
      return {
        class: 'unconfirmed',
        cause: status < 300 ? unreadableCause(body, json, route.unreadable) : `http_${status}`,
        httpStatus: status,
        ...notBefore,
        headers,
        ...(hasContent(error) ? { error } : {}),
        ...(status < 300 ? { replyHash: createHash('sha256').update(body.bytes).digest('hex') } : {}),
      };
  }
}

/**
 * A refusal of JSON as such: by its status, by its words, or because it misses what every create has. What the service
 * accepted in a form it has not seen here: nothing follows from this but a sentence.
 */
function withFormHint<Accepted>(
  result: Accepted | PaidFailure,
  exchange: PaidExchange,
  { wantsForm, maxReplyBytes }: PaidRoute<Accepted>,
): Accepted | PaidFailure {
  if (wantsForm === undefined || exchange.kind !== 'reply' || !isInvalid(result)) return result;
  const text = textOf(contentOf(exchange.headers, exchange.body, maxReplyBytes)) ?? '';
  const misses = /\b(?:required|missing)\b/i.test(text) && /\b(?:prompt|model)\b/i.test(text);
  if (exchange.status !== 415 && !misses && !/multipart|form[- ]?data/i.test(text)) return result;
  return { ...result, message: `${result.message} ${wantsForm}` };
}

function isInvalid(result: unknown): result is Extract<PaidFailure, { class: 'rejected' }> {
  const { class: of, reason } = result as Partial<Extract<PaidFailure, { class: 'rejected' }>>;
  return of === 'rejected' && reason === 'invalid_request';
}

function unreadableCause(body: BoundedBody, json: JsonValue | undefined, unreadable: string): string {
  if (body.end === 'too_late') return 'timeout_after_send';
  if (body.end === 'too_large') return 'reply_too_large';
  if (body.end === 'broken') return 'reply_truncated';
  return json === undefined ? 'reply_unreadable' : unreadable;
}

function contentOf(headers: HeaderValues, { bytes }: BoundedBody, maxBytes: number): Buffer | undefined {
  const encoding = headers['content-encoding'];
  return decodedBody(bytes, typeof encoding === 'string' ? encoding : (encoding?.join(',') ?? ''), maxBytes);
}

function textOf(bytes: Buffer | undefined): string | undefined {
  return bytes?.subarray(0, 16_384).toString('utf8');
}

function hasContent({ code, message, kind }: TaskError): boolean {
  return code !== null || message !== null || kind !== 'unknown';
}

function notSent(cause: string, permanent: boolean, message: string): PaidFailure {
  return { class: 'not_sent', cause, permanent, message };
}

function idempotencyHeader({ policy, idempotencyKey }: PaidSendOptions): Record<string, string> | 'unusable' {
  if (policy.idempotency === 'off' || idempotencyKey === undefined) return {};
  const name = policy.idempotency.header;
  const usable =
    /^[A-Za-z0-9_-]{1,64}$/.test(name) && !TAKEN.test(name) && /^[\x21-\x7e]{1,255}$/.test(idempotencyKey);
  return usable ? { [name.toLowerCase()]: idempotencyKey } : 'unusable';
}

/** A key source that hangs must not hold a create for ever: nothing was sent yet. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
