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
