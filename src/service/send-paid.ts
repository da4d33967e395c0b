import { createHash } from 'node:crypto';
import { throwBug } from '../domain/bug';
import { given, type JsonValue } from '../domain/json';
import { type ActualRule } from '../domain/model-config';
import { type Money, readActual } from '../domain/money';
import { type TaskError } from '../domain/video-task';
import { meaningOfPaid } from './classify-reply';
import { type ApiCaller, apiHeaders, apiUrl, type Credentials, credentialsOf } from './endpoint';
import { type PaidFailure, type PaidSendOptions } from './media-client';
import { exchangeOnce, type PaidExchange } from './paid-exchange';
import { type AcceptedReply, replyHeaders } from './read-replies';
import { type BoundedBody, decodedBody, parseJsonBody } from './reply-body';
import { asksToRetry, type HeaderValues, parseRetryAfter } from './reply-headers';
import { readTaskError } from './task-error';
import { atMostFor, countdown } from './time-left';
import { toFormData, type WireJsonBody, type WireMultipartBody } from './wire-body';

export interface PaidRoute<Accepted> {
  readonly segments: readonly string[];
  readonly maxReplyBytes: number;
  /** Reads a 2xx body; `json` is undefined if it is not JSON. Without a result, the call is unconfirmed. */
  readonly read: (json: JsonValue | undefined, reply: AcceptedReply) => Accepted | undefined;
  /** The cause if `read` returns no result. */
  readonly unreadable: string;
  /** Added to the message if the service seems to require a form instead of JSON. */
  readonly wantsForm?: string | undefined;
}

/** Header names that a policy must not use for the idempotency key. */
const TAKEN =
  /^(?:authorization|cookie|host|connection|content-.*|transfer-encoding|accept.*|user-agent|expect|te|trailer|upgrade|proxy-.*)$/i;

/** Makes one paid call. Sends it at most once and never throws for a network or service failure. */
export async function sendPaid<Accepted>(
  caller: ApiCaller,
  route: PaidRoute<Accepted>,
  body: WireJsonBody | WireMultipartBody,
  options: PaidSendOptions & { readonly deadlineMs: number },
): Promise<Accepted | PaidFailure> {
  const left = countdown(options.deadlineMs);
  // A key source that hangs must not block a create indefinitely. Nothing has been sent yet.
  const credentials = await atMostFor(credentialsOf(caller), options.deadlineMs);
  if (credentials === undefined)
    return notSent('credential_unavailable', false, 'This worker has no usable key for the account.');
  const header = idempotencyHeader(options);
  if (header === 'unusable')
    return notSent('invalid_policy', true, "The policy's idempotency header or key cannot be sent.");
  let content;
  try {
    content = body.kind === 'json' ? body.text : await toFormData(body);
  } catch (error) {
    throwBug(error);
    return notSent('file_unreadable', false, "One of the request's files can no longer be read.");
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
    budgetMs: left(),
    connectionFactory: caller.connectionFactory,
    ...given({ onSend: options.onSend }),
  });
  const hint = body.kind === 'json' ? route.wantsForm : undefined;
  return conclude(exchange, caller, { ...route, wantsForm: hint }, options, credentials);
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
  const encoding = String(exchange.headers['content-encoding'] ?? '');
  const bytes = decodedBody(body.bytes, encoding, route.maxReplyBytes);
  const text = bytes?.toString('utf8', 0, 16_384) ?? '';
  const json = bytes === undefined || body.end !== 'complete' ? undefined : parseJsonBody(bytes);
  const retryAfterMs = parseRetryAfter(exchange.headers, caller.now());
  const { actual } = options;
  const billed = amountIn(exchange.headers, actual);
  const reply: AcceptedReply = { httpStatus: status, headers, redactor, actual, billed };
  const accepted = status >= 300 ? undefined : route.read(json, reply);
  if (accepted !== undefined) return accepted;
  const error = readTaskError(json ?? text, redactor, status);
  const meaning = meaningOfPaid(
    { status, kind: error.kind, hasRetryAfter: asksToRetry(exchange.headers), readable: false },
    options.policy,
  );
  const notBefore = retryAfterMs === undefined ? {} : { retryAfterMs };
  switch (meaning.class) {
    case 'rejected': {
      const hinted =
        route.wantsForm !== undefined && meaning.reason === 'invalid_request' && asksForForm(status, text)
          ? { message: `${meaning.message} ${route.wantsForm}` }
          : {};
      return { ...meaning, ...hinted, httpStatus: status, error, ...notBefore };
    }
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

/** Reads what a call cost from a header. A repeated header is ambiguous, and so its amount is unknown. */
function amountIn(headers: HeaderValues, rule: ActualRule | undefined): Money | undefined {
  const value = rule?.header === undefined ? undefined : headers[rule.header.toLowerCase()];
  return rule === undefined || typeof value !== 'string' ? undefined : readActual(rule, value);
}

/**
 * Whether the service seems to refuse JSON: its status or text says so, or it reports that fields are missing, although
 * every create contains them.
 */
function asksForForm(status: number, text: string): boolean {
  const misses = /\b(?:required|missing)\b/i.test(text) && /\b(?:prompt|model)\b/i.test(text);
  return status === 415 || misses || /multipart|form[- ]?data/i.test(text);
}

function unreadableCause(body: BoundedBody, json: JsonValue | undefined, unreadable: string): string {
  if (body.end === 'too_late') return 'timeout_after_send';
  if (body.end === 'too_large') return 'reply_too_large';
  if (body.end === 'broken') return 'reply_truncated';
  return json === undefined ? 'reply_unreadable' : unreadable;
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
