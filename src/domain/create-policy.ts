import { type KeysOf } from './known-keys';

/**
 * What an operator may vouch for about the service's replies to a paid call (architecture: Create, failure model: Refusals that are sent again).
 * Evaluated in the activity. The first value of each is the default and the strict one.
 */
export interface CreatePolicy {
  /** A 429 is an admission decision: nothing was accepted. `fail` ends with `rejected` instead of sending again. */
  readonly on429?: 'resend' | 'fail';
  /** `header`: refused only with a Retry-After, be its time readable or not; otherwise unconfirmed. */
  readonly on503?: 'header' | 'resend' | 'inspect';
  readonly on502?: 'inspect' | 'resend' | 'fail';
  readonly on504?: 'inspect' | 'resend' | 'fail';
  readonly on500?: 'inspect' | 'resend' | 'fail';
  /**
   * What two looks into the service's task records that found nothing prove. `resend`: nothing was accepted, and the
   * create is sent once more. Only where the worker has `taskRecords`.
   */
  readonly onAbsent?: 'unconfirmed' | 'resend';
  /** Whether a paid call carries a key by which the service can tell a repetition, and what somebody vouches for it. */
  readonly idempotency?: IdempotencyPolicy;
}

/**
 * `header` alone sends the key. With `honoured` somebody vouches that calls with one key are one purchase for
 * `windowSeconds`: a call of unknown fate is then sent again under the same key, and adopts what it answers.
 */
export type IdempotencyPolicy =
  | 'off'
  | { readonly header: string }
  | { readonly header: string; readonly honoured: true; readonly windowSeconds: number };

export type ResolvedCreatePolicy = Required<CreatePolicy>;

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
  // A knob that is undefined is not given: it must not undo a layer below.
  const given = layers.flatMap((layer) =>
    Object.entries(layer ?? {}).filter(([, value]) => value !== undefined),
  );
  return { ...DEFAULT_CREATE_POLICY, ...(Object.fromEntries(given) as CreatePolicy) };
}

export const CREATE_POLICY_KEYS = {
  on429: true,
  on503: true,
  on502: true,
  on504: true,
  on500: true,
  onAbsent: true,
  idempotency: { header: true, honoured: true, windowSeconds: true } satisfies KeysOf<
    Exclude<IdempotencyPolicy, string>
  >,
} satisfies KeysOf<CreatePolicy>;
