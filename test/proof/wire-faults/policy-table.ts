import { type CreatePolicy } from '../../../src/domain/create-policy';

/**
 * What every knob of the create policy does to the status that it is for (architecture: Create, failure model: Refusals that are sent again): without a
 * Retry-After, and with one, be it understood or not. After a `*` the kind that the body names decides instead, when it
 * is one of KINDS: only there does the status, or who vouches for it, prove a refusal.
 */
export const POLICY_TABLE: readonly (readonly [CreatePolicy, number, string, string])[] = [
  [{}, 429, 'R for now *', 'R for now *'],
  [{ on429: 'resend' }, 429, 'R for now *', 'R for now *'],
  [{ on429: 'fail' }, 429, 'R capacity *', 'R capacity *'],
  [{ on429: 'fail' }, 425, 'R capacity *', 'R capacity *'],
  [{}, 503, 'U http_503', 'R for now *'],
  [{ on503: 'header' }, 503, 'U http_503', 'R for now *'],
  [{ on503: 'resend' }, 503, 'R for now *', 'R for now *'],
  [{ on503: 'inspect' }, 503, 'U http_503', 'U http_503'],
  [{}, 502, 'U http_502', 'U http_502'],
  [{ on502: 'inspect' }, 502, 'U http_502', 'U http_502'],
  [{ on502: 'resend' }, 502, 'R for now', 'R for now'],
  [{ on502: 'fail' }, 502, 'R service_error', 'R service_error'],
  [{}, 504, 'U http_504', 'U http_504'],
  [{ on504: 'inspect' }, 504, 'U http_504', 'U http_504'],
  [{ on504: 'resend' }, 504, 'R for now', 'R for now'],
  [{ on504: 'fail' }, 504, 'R service_error', 'R service_error'],
  [{}, 500, 'U http_500', 'U http_500'],
  [{ on500: 'inspect' }, 500, 'U http_500', 'U http_500'],
  [{ on500: 'resend' }, 500, 'R for now', 'R for now'],
  [{ on500: 'fail' }, 500, 'R service_error', 'R service_error'],
  // Words of an untyped caller that are no values of the knob: never a reason to send again.
  [{ on429: 'always' as never }, 429, 'R capacity *', 'R capacity *'],
  [{ on503: 'always' as never }, 503, 'U http_503', 'U http_503'],
  [{ on502: 'retry' as never }, 502, 'U http_502', 'U http_502'],
  [{ on504: 'retry' as never }, 504, 'U http_504', 'U http_504'],
  [{ on500: 'retry' as never }, 500, 'U http_500', 'U http_500'],
];

/** Code in the body, and what it makes of a cell with `*`. */
export const KINDS: readonly (readonly [string | null, string | null])[] = [
  [null, null],
  ['moderation_blocked', 'R moderation'],
  ['insufficient_quota', 'R quota'],
  ['invalid_size', 'R invalid_request'],
  ['ServerOverloaded', null],
  ['something_else', null],
];

/** Values of Retry-After, and whether they name a time before which nothing may be sent. */
export const RETRY_AFTERS: readonly (readonly [string | null, boolean])[] = [
  [null, false],
  ['soon', false],
  ['-1', false],
  ['Sat, 21 Nov 2026 25:00:00 GMT', false],
  ['120', true],
];

/** Everything that an operator can allow at once: it must change no status but those of its knobs. */
export const LOOSEST: CreatePolicy = {
  on429: 'resend',
  on503: 'resend',
  on502: 'resend',
  on504: 'resend',
  on500: 'fail',
};

/** Name in the policy, and whether the header can be sent; what cannot sends nothing at all. */
export const IDEMPOTENCY_HEADERS: readonly (readonly [string, 'absent' | 'sent' | 'unusable'])[] = [
  ['off', 'absent'],
  ['Idempotency-Key', 'sent'],
  ['x-request-token', 'sent'],
  ['', 'unusable'],
  ['two words', 'unusable'],
  ['new\r\nline: x', 'unusable'],
  ['schlüssel', 'unusable'],
  ['x'.repeat(65), 'unusable'],
  ['authorization', 'unusable'],
  ['Cookie', 'unusable'],
  ['host', 'unusable'],
  ['Content-Length', 'unusable'],
  ['transfer-encoding', 'unusable'],
  ['expect', 'unusable'],
];
