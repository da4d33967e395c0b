import { type ResolvedCreatePolicy } from '../domain/create-policy';
import { type RejectReason } from '../domain/failure-table';
import { type PollErrorClass } from '../domain/poll-answers';
import { type ErrorKind } from '../domain/video-task';

/** A network error before a request was sent. `permanent` means that a later attempt cannot succeed either. */
export interface UnsentCause {
  readonly cause: string;
  readonly permanent: boolean;
  readonly message: string;
}

const CAUSES: readonly (readonly [RegExp, string, string])[] = [
  [/^ECONNREFUSED$/, 'connection_refused', 'The service refused the connection.'],
  [/^(?:ENOTFOUND|EAI_)/, 'host_not_found', "The service's host name could not be resolved."],
  [
    /^(?:UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/,
    'connect_timeout',
    'The service did not accept the connection in time.',
  ],
  [
    /^(?:EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL)$/,
    'host_unreachable',
    'The service is unreachable from this machine. Check the network, the VPN and the firewall.',
  ],
  [/^UND_ERR_PRX/, 'proxy_refused', 'The proxy did not open a tunnel to the service.'],
  [/^(?:ERR_SSL_|ERR_TLS_|EPROTO$)/, 'tls_failed', 'The TLS handshake with the service failed.'],
  [
    /^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/,
    'connection_reset',
    'The connection was closed before anything was sent.',
  ],
];

const CERTIFICATE =
  /^(?:CERT_|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|UNABLE_TO_|ERR_TLS_CERT_ALTNAME_INVALID$|HOSTNAME_MISMATCH$|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_EXCEEDED$)/;

/**
 * Returns the cause of a network error from before the send. Call it only if the send marker is unset, because codes
 * alone prove nothing (failure model: What a client can prove).
 */
export function unsentCause(error: unknown): UnsentCause {
  const code = networkCode(error);
  if (CERTIFICATE.test(code)) {
    const message =
      "The service's certificate is not trusted. To trust a private CA, set NODE_EXTRA_CA_CERTS to its file.";
    return { cause: 'certificate_not_trusted', permanent: true, message };
  }
  const isTunnelRefusal = error instanceof Error && /^Proxy response \(\d+\)/.test(error.message);
  const found = CAUSES.find(([pattern]) => pattern.test(isTunnelRefusal ? 'UND_ERR_PRX' : code));
  return {
    cause: found?.[1] ?? 'connection_failed',
    permanent: false,
    message: found?.[2] ?? 'The connection to the service failed.',
  };
}

/** A network error's code, or the code of its cause or first inner error. `unknown` if there is no code. */
export function networkCode(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'unknown';
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown };
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code)) return code;
  if (Array.isArray(errors) && errors.length > 0) return networkCode(errors[0]);
  return cause === undefined ? 'unknown' : networkCode(cause);
}

/**
 * Whether the signal is aborted. This is a function so that TypeScript does not assume that the value stays constant.
 */
export function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

interface ErrorSignals {
  /** Every code found, most specific first. Numbers are converted to text. */
  readonly codes: readonly string[];
  /** Generic class names such as `invalid_request_error`, which gateways add to every error. */
  readonly types: readonly string[];
  /** Free text, in which only whole signal words match. */
  readonly text: string;
  readonly httpStatus?: number | undefined;
}

export type KindSignal = { readonly kind: ErrorKind } & (
  | {
      /** Matched against codes and types. */
      readonly code: RegExp;
      /** A matching example, for this table's test. */
      readonly like: string;
    }
  | {
      /** Matched against free text. */
      readonly word: RegExp;
      readonly like: string;
    }
  | {
      /** Matched against types only. */
      readonly type: RegExp;
      readonly like: string;
    }
  | { readonly status: number }
);

/**
 * The only table of error signals (test/fixtures/wire). The first matching entry determines the kind. For a new code,
 * add one entry with an example here, next to the other entries of its kind.
 */
export const KIND_SIGNALS: readonly KindSignal[] = [
  // Moderation must match first, because services also report it in 500 and 503 replies.
  { kind: 'moderation', code: /moderat/i, like: 'moderation_blocked' },
  { kind: 'moderation', code: /sentinel_?block/i, like: 'sentinel_block' },
  { kind: 'moderation', code: /sensitive_?content/i, like: 'InputImageSensitiveContentDetected' },
  { kind: 'moderation', code: /data_?inspection_?failed/i, like: 'DataInspectionFailed' },
  { kind: 'moderation', code: /^safety(?:[._-]|$)/i, like: 'SAFETY.VIOLENCE' },
  { kind: 'moderation', code: /content_?filter/i, like: 'content_filter' },
  { kind: 'moderation', code: /nsfw/i, like: 'nsfw_detected' },
  // `policy` matches only in a code that does not concern rates or money.
  {
    kind: 'moderation',
    code: /^(?!.*(?:rate|quota|limit|billing)).*policy/i,
    like: 'content_policy_violation',
  },
  { kind: 'moderation', word: /\bmoderation_blocked\b/i, like: 'blocked: moderation_blocked by upstream' },
  {
    kind: 'moderation',
    word: /\b(?:image_)?content_policy_violation\b/i,
    like: 'upstream: image_content_policy_violation',
  },
  { kind: 'moderation', word: /\bsentinel_block\b/i, like: 'sentinel_block hit' },
  { kind: 'moderation', word: /\bguard-?rails?\b/i, like: 'Guardrail blocked the prompt' },
  {
    kind: 'moderation',
    word: /\b\w*SensitiveContentDetected\b/i,
    like: 'upstream said InputTextSensitiveContentDetected',
  },
  { kind: 'moderation', word: /\bDataInspectionFailed\b/i, like: 'got DataInspectionFailed' },
  { kind: 'moderation', word: /\bSAFETY\.\w+\b/i, like: 'stopped by SAFETY.INPUT' },
  // Must precede quota, which matches every other `insufficient` code.
  { kind: 'capacity', code: /insufficient_?(?:capacity|resource)/i, like: 'insufficient_capacity' },
  { kind: 'quota', code: /quota/i, like: 'QuotaExceeded' },
  {
    kind: 'quota',
    code: /insufficient(?!_?(?:permission|scope|privilege|access))/i,
    like: 'InsufficientBalance',
  },
  { kind: 'quota', code: /billing/i, like: 'billing_hard_limit_reached' },
  { kind: 'quota', code: /payment_?required/i, like: 'payment_required' },
  { kind: 'quota', code: /arrearage/i, like: 'Arrearage' },
  { kind: 'quota', code: /out_?of_?credits?/i, like: 'out_of_credits' },
  { kind: 'quota', code: /^402$/i, like: '402' },
  { kind: 'quota', word: /\b\w*QuotaExceeded\b/i, like: 'upstream QuotaExceeded' },
  { kind: 'quota', word: /\bquota_exceeded\b/i, like: 'quota_exceeded for this month' },
  {
    kind: 'quota',
    word: /\binsufficient_(?:quota|balance|credits?|funds|user_quota)\b/i,
    like: 'insufficient_balance: top up',
  },
  { kind: 'quota', word: /\bbilling_\w*limit\w*\b/i, like: 'billing_hard_limit_reached, sorry' },
  { kind: 'capacity', code: /overload/i, like: 'ServerOverloaded' },
  { kind: 'capacity', code: /model_?loading/i, like: 'ModelLoadingError' },
  { kind: 'capacity', code: /rate_?limit/i, like: 'RequestRateLimitExceeded' },
  { kind: 'capacity', code: /throttl/i, like: 'THROTTLED' },
  { kind: 'capacity', code: /unavailable/i, like: 'MODEL_UNAVAILABLE' },
  { kind: 'capacity', code: /capacity/i, like: 'no_capacity' },
  { kind: 'capacity', code: /too_?many_?requests/i, like: 'too_many_requests' },
  { kind: 'capacity', code: /server_?busy/i, like: 'server_busy' },
  { kind: 'capacity', code: /^429$/i, like: '429' },
  { kind: 'capacity', code: /^503$/i, like: '503' },
  { kind: 'capacity', word: /\bServerOverloaded\b/, like: 'upstream ServerOverloaded' },
  { kind: 'capacity', word: /\bModelLoadingError\b/, like: 'upstream ModelLoadingError' },
  { kind: 'capacity', word: /\b\w*RateLimitExceeded\b/, like: 'upstream RequestRateLimitExceeded' },
  { kind: 'capacity', word: /\brate_limit_exceeded\b/, like: 'rate_limit_exceeded, wait' },
  { kind: 'capacity', word: /\bTHROTTLED\b/, like: 'it was THROTTLED' },
  { kind: 'capacity', word: /\b[A-Z_]*UNAVAILABLE\b/, like: 'upstream MODEL_UNAVAILABLE' },
  {
    kind: 'invalid',
    code: /^(?!.*(?:api_?key|token|auth|credential|response|state)).*invalid(?!_request_error)/i,
    like: 'invalid_size',
  },
  { kind: 'invalid', code: /bad_?request/i, like: 'BadRequest' },
  { kind: 'invalid', code: /validation/i, like: 'validation_error' },
  { kind: 'invalid', code: /unsupported/i, like: 'unsupported_duration' },
  { kind: 'invalid', code: /not_?supported/i, like: 'not_supported' },
  { kind: 'invalid', code: /missing/i, like: 'missing_prompt' },
  { kind: 'invalid', code: /out_?of_?range/i, like: 'out_of_range' },
  { kind: 'invalid', code: /value_error/i, like: 'value_error' },
  { kind: 'invalid', code: /parameter/i, like: 'parameter_too_long' },
  { kind: 'invalid', code: /^400$/i, like: '400' },
  { kind: 'invalid', code: /^422$/i, like: '422' },
  // The body takes precedence over the status.
  { kind: 'quota', status: 402 },
  { kind: 'capacity', status: 425 },
  { kind: 'capacity', status: 429 },
  { kind: 'capacity', status: 503 },
  // Generic types rank below the statuses above, because gateways add them to every error. Some services send
  // `invalid_request_error` as their only code.
  { kind: 'invalid', code: /^invalid_request_error$/i, like: 'invalid_request_error' },
  { kind: 'invalid', type: /invalid_request_error/i, like: 'upstream_invalid_request_error' },
  { kind: 'invalid', status: 400 },
  { kind: 'invalid', status: 405 },
  { kind: 'invalid', status: 413 },
  { kind: 'invalid', status: 415 },
  { kind: 'invalid', status: 422 },
];

/** Determines an error's kind. An error without a known signal is `unknown`. */
export function errorKind(signals: ErrorSignals): ErrorKind {
  return KIND_SIGNALS.find((signal) => fits(signal, signals))?.kind ?? 'unknown';
}

function fits(signal: KindSignal, { codes, types, text, httpStatus }: ErrorSignals): boolean {
  if ('code' in signal) return [...codes, ...types].some((one) => signal.code.test(one));
  if ('word' in signal) return signal.word.test(text);
  if ('type' in signal) return types.some((one) => signal.type.test(one));
  return signal.status === httpStatus;
}

/** Maps a GET's HTTP status to its meaning (contract 7, failure model: Refusals that are sent again). */
export function meaningOfGet(status: number): PollErrorClass | 'record' {
  if (status >= 200 && status < 300) return 'record';
  switch (status) {
    case 401:
    case 402:
    case 403:
      return 'credentials';
    case 404:
    case 410:
      return 'not_found';
    case 429:
      return 'rate_limited';
    case 408:
    case 409:
    case 425:
      return 'unavailable';
    default:
      if (status >= 500) return 'unavailable';
      return status >= 400 ? 'bad_request' : 'unreadable';
  }
}

/**
 * What a reply to a paid call proves (failure model: Four classes and Every point of failure). With the default policy,
 * only `refused_for_now` is resent automatically. `unconfirmed` waits for proof (the task records or an honored
 * idempotency key) or for a person.
 */
export type ReplyClass =
  | 'accepted'
  | 'refused_for_now'
  | 'rejected_invalid'
  | 'rejected_credentials'
  | 'rejected_quota'
  | 'rejected_moderation'
  | 'rejected_capacity'
  | 'rejected_service_error'
  | 'unconfirmed';

export interface PaidReply {
  readonly status: number;
  readonly kind: ErrorKind;
  /** Whether the reply had a Retry-After header. Only its presence matters here; its value can be unreadable. */
  readonly hasRetryAfter: boolean;
  /** Whether a 2xx body could be read as the result of this call: a usable task id, or an image response. */
  readonly readable: boolean;
}

/** Refused permanently before any work was done (failure model: row 23). */
const REFUSED_FOR_GOOD: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 405, 413, 415, 422]);

function forKind(kind: ErrorKind): ReplyClass | undefined {
  if (kind === 'moderation') return 'rejected_moderation';
  if (kind === 'quota') return 'rejected_quota';
  if (kind === 'invalid') return 'rejected_invalid';
  return undefined;
}

/**
 * Maps the status, the body's error kind and the policy to a class. Every status has a class: without a rule, it is
 * `unconfirmed`. The error kind overrides the status only if the status alone already proves a refusal (architecture:
 * Create).
 */
export function classifyPaidReply(reply: PaidReply, policy: ResolvedCreatePolicy): ReplyClass {
  const { status, kind } = reply;
  if (status >= 200 && status < 300) return reply.readable ? 'accepted' : 'unconfirmed';
  if (REFUSED_FOR_GOOD.has(status)) {
    if (status === 401 || (status === 403 && kind !== 'moderation' && kind !== 'quota'))
      return 'rejected_credentials';
    if (status === 402) return kind === 'moderation' ? 'rejected_moderation' : 'rejected_quota';
    return forKind(kind) ?? (kind === 'capacity' ? 'rejected_capacity' : 'rejected_invalid');
  }
  if (status === 425 || status === 429)
    return forKind(kind) ?? (policy.on429 === 'resend' ? 'refused_for_now' : 'rejected_capacity');
  if (status === 503) return classify503(reply, policy);
  if (status === 502) return vouched(policy.on502);
  if (status === 504) return vouched(policy.on504);
  if (status === 500) return vouched(policy.on500);
  return 'unconfirmed';
}

function classify503(reply: PaidReply, policy: ResolvedCreatePolicy): ReplyClass {
  // Matches only known values, so that an unknown value never causes a resend.
  const refused = policy.on503 === 'resend' || (policy.on503 === 'header' && reply.hasRetryAfter);
  if (!refused) return 'unconfirmed';
  return forKind(reply.kind) ?? 'refused_for_now';
}

function vouched(knob: 'inspect' | 'resend' | 'fail'): ReplyClass {
  if (knob === 'resend') return 'refused_for_now';
  return knob === 'fail' ? 'rejected_service_error' : 'unconfirmed';
}

type PaidMeaning =
  | { readonly class: 'accepted' | 'refused_for_now' | 'unconfirmed' }
  | { readonly class: 'rejected'; readonly reason: RejectReason; readonly message: string };

const REJECTED: {
  readonly [replyClass in Extract<ReplyClass, `rejected_${string}`>]: readonly [RejectReason, string];
} = {
  rejected_invalid: [
    'invalid_request',
    'The service rejected the request, possibly before a task existed (parsing or capability validation). Check model, type, duration, resolution, aspect ratio, size, quality, count and references, then send a corrected request.',
  ],
  rejected_credentials: [
    'credentials',
    'The service did not accept the credentials, or they lack access. Check the key and its permissions.',
  ],
  rejected_quota: [
    'quota',
    'The account has no quota or balance left for this call. Top up or raise the quota.',
  ],
  rejected_moderation: [
    'moderation',
    'The service refused the content. The same request will be refused again. Change the prompt or the references.',
  ],
  rejected_capacity: ['capacity', 'The service has no capacity for this call right now. Try again later.'],
  rejected_service_error: [
    'service_error',
    "The service returned an error that the policy treats as a refusal. The error may have occurred before a task existed and is not necessarily the provider's fault.",
  ],
};

/** Maps a paid call's reply (status and body) to its meaning under the policy (failure model: rows 23 to 37). */
export function meaningOfPaid(reply: PaidReply, policy: ResolvedCreatePolicy): PaidMeaning {
  const replyClass = classifyPaidReply(reply, policy);
  if (replyClass === 'accepted' || replyClass === 'refused_for_now' || replyClass === 'unconfirmed')
    return { class: replyClass };
  const [reason, message] = REJECTED[replyClass];
  return { class: 'rejected', reason, message };
}
