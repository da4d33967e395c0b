import {
  type Check,
  exactly,
  isObject,
  must,
  objectOf,
  oneOf,
  optional,
  shapeIssue,
  type ShapeOf,
  whole,
} from './shape';
import { type ErrorKind } from './video-task';

/**
 * The operator's guarantees about the service's replies to a paid call (architecture: Create, failure model: Refusals
 * that are sent again). The activity evaluates them. Each field's first value is the default and the strictest.
 */
export interface CreatePolicy {
  /**
   * A 429 or 425 is an admission decision: nothing was accepted. `fail` ends with `rejected` instead of sending again.
   */
  readonly on429?: 'resend' | 'fail';
  /** `header`: refused if the reply has a Retry-After header, readable or not; unconfirmed if it has none. */
  readonly on503?: 'header' | 'resend' | 'inspect';
  /** `inspect`: `unconfirmed`, and the task records are queried if the worker has access to them. */
  readonly on502?: 'inspect' | 'resend' | 'fail';
  /** Same as `on502`. */
  readonly on504?: 'inspect' | 'resend' | 'fail';
  /** Same as `on502`. */
  readonly on500?: 'inspect' | 'resend' | 'fail';
  /**
   * What to do if two queries of the service's task records find no match. `resend`: nothing was accepted, so the
   * create is sent again. Requires a worker with `taskRecords`.
   */
  readonly onAbsent?: 'unconfirmed' | 'resend';
  /** Whether a paid call sends an idempotency key, and what the operator guarantees about it. */
  readonly idempotency?: IdempotencyPolicy;
}

/**
 * With `header` alone, the key is sent. With `honoured`, the operator guarantees that, for `windowSeconds`, calls with
 * the same key are one purchase. A call with an unknown outcome is then resent under the same key, and the answer is
 * adopted.
 */
export type IdempotencyPolicy =
  | 'off'
  | { readonly header: string }
  | { readonly header: string; readonly honoured: true; readonly windowSeconds: number };

/** A policy with every field set. */
export type ResolvedCreatePolicy = Required<CreatePolicy>;

/** The policy if the operator guarantees nothing: the first value of each field of {@link CreatePolicy}. */
export const DEFAULT_CREATE_POLICY: ResolvedCreatePolicy = {
  on429: 'resend',
  on503: 'header',
  on502: 'inspect',
  on504: 'inspect',
  on500: 'inspect',
  onAbsent: 'unconfirmed',
  idempotency: 'off',
};

export function resolveCreatePolicy(...layers: readonly (CreatePolicy | undefined)[]): ResolvedCreatePolicy {
  // An undefined field must not override an earlier layer.
  const given = layers.flatMap((layer) =>
    Object.entries(layer ?? {}).filter(([, value]) => value !== undefined),
  );
  return { ...DEFAULT_CREATE_POLICY, ...(Object.fromEntries(given) as CreatePolicy) };
}

/** Allowed values, for fields that have a fixed set. */
export const POLICY_VALUES = {
  on429: ['resend', 'fail'],
  on503: ['header', 'resend', 'inspect'],
  on502: ['inspect', 'resend', 'fail'],
  on504: ['inspect', 'resend', 'fail'],
  on500: ['inspect', 'resend', 'fail'],
  onAbsent: ['unconfirmed', 'resend'],
} as const satisfies { readonly [field in Exclude<keyof CreatePolicy, 'idempotency'>]: readonly string[] };

/** Allowed names of an idempotency header. */
export const KEY_HEADER = /^[A-Za-z0-9_-]{1,64}$/;
/**
 * Limits of the key's window, in seconds. A create can be in flight for a minute, so a shorter window would leave no
 * time to send it again.
 */
export const KEY_WINDOW = { least: 120, most: 31_536_000 } as const;

const idempotencyCheck: Check<IdempotencyPolicy> = (value, field) => {
  if (value === 'off') return undefined;
  // Each requires the other, because the guarantee must expire at some point.
  const isPromised =
    isObject(value) && (value['honoured'] !== undefined || value['windowSeconds'] !== undefined);
  return shapeIssue(value, isPromised ? PROMISED_KEY : SENT_KEY, field);
};

const SENT_KEY = {
  header: must('a header name', (value) => typeof value === 'string' && KEY_HEADER.test(value)),
} satisfies ShapeOf<{ readonly header: string }>;

const PROMISED_KEY = {
  ...SENT_KEY,
  honoured: exactly(true),
  windowSeconds: whole(KEY_WINDOW.least, KEY_WINDOW.most),
} satisfies ShapeOf<Exclude<IdempotencyPolicy, string>>;

export const createPolicyCheck: Check<CreatePolicy> = objectOf({
  on429: optional(oneOf(...POLICY_VALUES.on429)),
  on503: optional(oneOf(...POLICY_VALUES.on503)),
  on502: optional(oneOf(...POLICY_VALUES.on502)),
  on504: optional(oneOf(...POLICY_VALUES.on504)),
  on500: optional(oneOf(...POLICY_VALUES.on500)),
  onAbsent: optional(oneOf(...POLICY_VALUES.onAbsent)),
  idempotency: optional(idempotencyCheck),
});

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
